package answer_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/answer"
)

const policy = `
version: 1
population: {name: visitors, neighbours: add-remove}
budget: {%s}
tables:
  visits:
    source: {csv: visits.csv}
    unit: row
    expected_rows: 1000
    columns:
      hour: {type: integer, bounds: [0, 15]}
      day: {type: integer, bounds: [1, 4], nullable: true}
      cost: {type: integer, bounds: [0, 10]}
`

// home makes a home of 900 visits: 100 + 10·h in hour h < 6, and none later. The day is NULL for every seventh row.
func home(tb testing.TB, budget string) *curator.Session {
	tb.Helper()
	var rows strings.Builder
	rows.WriteString("hour,day,cost\n")
	i := 0
	for hour := range 6 {
		for range 100 + 10*hour {
			day := fmt.Sprint(i%4 + 1)
			if i%7 == 0 {
				day = ""
			}
			fmt.Fprintf(&rows, "%d,%s,2\n", hour, day)
			i++
		}
	}
	c, _ := testhome.Sealed(tb, fmt.Sprintf(policy, budget), "visits", map[string]string{"visits.csv": rows.String()})
	return c
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func chosen(t testing.TB, w strategy.Workload, unit strategy.Unit) *strategy.Strategy {
	t.Helper()
	return must[*strategy.Choice](t)(strategy.Choose(w, unit)).Chosen
}

// With almost no noise, the answers are those of the rows: for counts, for sums, and beside a cell of NULL.
func TestAnswersAreThoseOfTheRows(t *testing.T) {
	for _, budget := range []struct {
		text  string
		unit  strategy.Unit
		price curator.Request
	}{
		{"rho: 1e6, delta: 1e-6", strategy.Rho, curator.Request{Rho: "1e5"}},
		{"epsilon: 1000", strategy.Epsilon, curator.Request{Epsilon: "300"}},
	} {
		s := home(t, budget.text)
		for _, c := range []struct {
			sql   string
			cells []float64
		}{
			{"SELECT COUNT(*) FROM visits GROUP BY hour", []float64{
				100, 110, 120, 130, 140, 150, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			}},
			{"SELECT SUM(cost) FROM visits WHERE hour < 3 GROUP BY hour", []float64{
				200, 220, 240, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			}},
			{"SELECT COUNT(*) FROM visits GROUP BY day", days()},
		} {
			r := budget.price
			r.SQL = c.sql
			column := must[*answer.Column](t)(answer.Open(t.Context(), s, r))
			if len(column.Values) != len(c.cells) || column.Unit != budget.unit {
				t.Fatalf("%s: %v in unit %v", c.sql, column.Values, column.Unit)
			}
			w := must[strategy.Workload](t)(strategy.Ranges(len(c.cells)))
			e := must[*answer.Estimate](t)(column.Measure(t.Context(), chosen(t, w, column.Unit)))
			got, want := must[[]answer.Answer](t)(e.Answers(0.95)), must[[]float64](t)(w.Answers(c.cells))
			for i, a := range got {
				if math.Abs(a.Value-want[i]) > 1 || !(a.Low <= a.Value && a.Value <= a.High) {
					t.Errorf("%s: answer %d is %+v, not %g", c.sql, i, a, want[i])
				}
			}
			again := must[*answer.Estimate](t)(column.Measure(t.Context(), chosen(t, w, column.Unit)))
			if !again.Replayed || again.ID != e.ID {
				t.Errorf("%s: the same measurement is not a replay", c.sql)
			}
		}
	}
}

// days returns the rows of home by day, without those of which the day is NULL.
func days() []float64 {
	out := make([]float64, 4)
	for i := range 750 {
		if i%7 != 0 {
			out[i%4]++
		}
	}
	return out
}

// The noise of answers has the stated deviations, and the intervals cover: 120 releases of a strategy for each unit.
// The mean of 120 squares of standardised errors is outside 1 ± 0.7 with a probability below 1e-6 for Gaussian errors,
// and of about 1e-4 for errors as heavy-tailed as one Laplace noise. Intervals of 90 % miss more than 30 of 120 with a
// probability below 1e-5.
func TestAnswersHaveTheStatedErrors(t *testing.T) {
	for budget, r := range map[string]curator.Request{
		"rho: 1000, delta: 1e-6": {Rho: "0.5"}, "epsilon: 1000": {Epsilon: "1"},
	} {
		r.SQL, r.Fresh = "SELECT COUNT(*) FROM visits GROUP BY hour", true
		column := must[*answer.Column](t)(answer.Open(t.Context(), home(t, budget), r))
		s := chosen(t, must[strategy.Workload](t)(strategy.Ranges(16)), column.Unit)
		query := strategy.Query{Low: 1, High: 5}.Coefficients(16)
		unit := 1.0 // the deviation of one count
		if column.Unit == strategy.Epsilon {
			unit = math.Sqrt2
		}
		expected := must[float64](t)(s.Deviation(query)) * unit
		total, missed := 0.0, 0
		for range 120 {
			e := must[*answer.Estimate](t)(column.Measure(t.Context(), s))
			a := must[answer.Answer](t)(e.Answer(query, 0.9))
			z := (a.Value - 500) / a.Deviation
			total += z * z / 120
			if a.Low > 500 || a.High < 500 {
				missed++
			}
			// discrete noise on small integers varies less than the continuous noise of the expected errors
			if a.Deviation > expected*1.001 || a.Deviation < expected*0.9 {
				t.Fatalf("%s: the deviation is %g, and was expected to be %g", budget, a.Deviation, expected)
			}
		}
		if math.Abs(total-1) > 0.7 || missed > 30 {
			t.Errorf("%s: the mean square is %g, and %d intervals of 120 miss", budget, total, missed)
		}
	}
}

// A column with two keys, a strategy of another size, and one for another unit are refused, and nothing is spent.
func TestRefusesOtherColumns(t *testing.T) {
	s := home(t, "epsilon: 10")
	before := must[*curator.Budget](t)(s.Budget()).Remaining
	r := curator.Request{SQL: "SELECT COUNT(*) FROM visits GROUP BY hour, day", Epsilon: "1"}
	if _, err := answer.Open(t.Context(), s, r); !errors.Is(err, answer.ErrColumn) {
		t.Errorf("two keys: %v", err)
	}
	r.SQL = "SELECT COUNT(*) FROM visits GROUP BY hour"
	column := must[*answer.Column](t)(answer.Open(t.Context(), s, r))
	short := chosen(t, must[strategy.Workload](t)(strategy.Prefixes(15)), strategy.Epsilon)
	other := chosen(t, must[strategy.Workload](t)(strategy.Prefixes(16)), strategy.Rho)
	for name, st := range map[string]*strategy.Strategy{"another size": short, "another unit": other} {
		if _, err := column.Measure(t.Context(), st); !errors.Is(err, answer.ErrColumn) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := column.Explain(t.Context(), st); !errors.Is(err, answer.ErrColumn) {
			t.Errorf("%s, explained: %v", name, err)
		}
	}
	if after := must[*curator.Budget](t)(s.Budget()).Remaining; after != before {
		t.Errorf("refusals cost: %v, then %v", before, after)
	}
}

// A choice that is recorded in the home replays on a processor that rounds differently. Without the record, the same
// questions would be measured again.
func TestRecordedChoicesReplay(t *testing.T) {
	s := home(t, "rho: 10, delta: 1e-6")
	w := must[strategy.Workload](t)(strategy.Ranges(16))
	measure := func(keep bool) *answer.Estimate {
		column := must[*answer.Column](t)(answer.Open(t.Context(), s, curator.Request{
			SQL: "SELECT COUNT(*) FROM visits GROUP BY hour", Rho: "1",
		}))
		c := must[*strategy.Choice](t)(column.Choose(w))
		if keep {
			return must[*answer.Estimate](t)(column.MeasureChoice(t.Context(), c))
		}
		return must[*answer.Estimate](t)(column.Measure(t.Context(), c.Chosen))
	}
	first := measure(true)
	answer.Otherwise(t)
	if again := measure(true); !again.Replayed || again.ID != first.ID {
		t.Errorf("the second measurement is %s, replayed %v", again.ID, again.Replayed)
	}
	w = must[strategy.Workload](t)(strategy.Prefixes(16))
	before := measure(false)
	answer.Otherwise(t)
	if again := measure(false); again.Replayed || again.ID == before.ID {
		t.Error("another rounding without a record replays, so this test shows nothing")
	}
}

// An arranged column has the answers of the rows in its order. An order that is none is refused.
func TestArrangedColumns(t *testing.T) {
	s := home(t, "rho: 1e6, delta: 1e-6")
	column := must[*answer.Column](t)(answer.Open(t.Context(), s, curator.Request{
		SQL: "SELECT COUNT(*) FROM visits GROUP BY day", Rho: "1e5",
	}))
	order := []int{2, 0, 3, 1}
	arranged := must[*answer.Column](t)(column.Arrange(order))
	w := must[strategy.Workload](t)(strategy.Prefixes(4))
	e := must[*answer.Estimate](t)(arranged.Measure(t.Context(), chosen(t, w, strategy.Rho)))
	sum := 0.0
	for j, a := range must[[]answer.Answer](t)(e.Answers(0.9)) {
		if sum += days()[order[j]]; math.Abs(a.Value-sum) > 1 || arranged.Values[j] != column.Values[order[j]] {
			t.Errorf("the running total up to %v is %v, not %v", arranged.Values[j], a.Value, sum)
		}
	}
	for _, wrong := range [][]int{nil, {0, 1, 2}, {0, 1, 2, 2}, {0, 1, 2, 4}, {-1, 0, 1, 2}, {0, 1, 2, 3, 0}} {
		if _, err := column.Arrange(wrong); !errors.Is(err, answer.ErrColumn) {
			t.Errorf("the order %v: %v", wrong, err)
		}
	}
}
