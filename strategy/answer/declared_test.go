package answer_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/stattest"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/answer"
)

const declared = `
    totals: {"*": 750, hour: {0: 100, 15: 0}, day: {1: 161}}
    expected_rows`

// open opens a column of the visits, whose totals the policy declares.
func open(t *testing.T, budget string, r curator.Request) *answer.Column {
	t.Helper()
	rows := "hour,day,cost\n"
	for hour := range 6 {
		for i := range 100 + 10*hour {
			rows += []string{"0", "1", "2", "3", "4", "5"}[hour] + "," + []string{"1", "2", "3", "4", ""}[i%5] + ",2\n"
		}
	}
	text := strings.Replace(strings.Replace(policy, "\n    expected_rows", declared, 1), "%s", budget, 1)
	s, _ := testhome.Sealed(t, text, "visits", map[string]string{"visits.csv": rows})
	return must[*answer.Column](t)(answer.Open(t.Context(), s, r))
}

// Declared totals have no error, also in sums of whole numbers, and other answers have less. The total of all rows is not
// that of the days, because some rows have none. Totals are about all rows, and about counts.
func TestDeclaredTotalsHaveNoError(t *testing.T) {
	for budget, r := range map[string]curator.Request{
		"rho: 1000, delta: 1e-6": {Rho: "0.1"}, "epsilon: 1000": {Epsilon: "0.5"},
	} {
		r.SQL = "SELECT COUNT(*) FROM visits GROUP BY hour"
		c := open(t, budget, r)
		s := chosen(t, must[strategy.Workload](t)(strategy.Prefixes(16)), c.Unit)
		e := must[*answer.Estimate](t)(c.Measure(t.Context(), s))
		whole := must[*answer.Whole](t)(e.Whole())
		check := func(name string, q strategy.Query, want float64) {
			t.Helper()
			a := must[answer.Answer](t)(e.Answer(q.Coefficients(16), 0.95))
			w := must[answer.Answer](t)(whole.Answer(q.Coefficients(16), 0.95))
			if math.Abs(a.Value-want) > 1e-9 || a.Deviation != 0 || a.High-a.Low > 1e-9 || w.Value != want {
				t.Errorf("%s, %s: %+v and %+v", budget, name, a, w)
			}
		}
		check("all", strategy.Query{Low: 0, High: 16}, 750)
		check("hour 0", strategy.Query{Low: 0, High: 1}, 100)
		check("hours 1 to 15", strategy.Query{Low: 1, High: 16}, 650)
		check("hours 1 to 14", strategy.Query{Low: 1, High: 15}, 650)
		for j, v := range whole.Cells {
			if v < 0 || v != math.Trunc(v) {
				t.Errorf("hour %d has %g", j, v)
			}
		}
		// The error of a running total is that of the conditional distribution, which is smaller.
		q := strategy.Query{Low: 0, High: 8}.Coefficients(16)
		a := must[answer.Answer](t)(e.Answer(q, 0.95))
		unit := e.Price
		without := must[float64](t)(s.Deviation(q))
		v := must[float64](t)(e.Covariance(q, q))
		if !(a.Deviation > 0) || math.Abs(math.Sqrt(v)/a.Deviation-1) > 1e-9 || a.Deviation > 0.99*without*deviation(t, c, s) {
			t.Errorf("%s (%v): a running total has the deviation %g, and %g without totals", budget, unit, a.Deviation, without*deviation(t, c, s))
		}
		const sums = "SELECT SUM(cost) FROM visits GROUP BY hour"
		for sql, kept := range map[string]int{
			"SELECT COUNT(*) FROM visits GROUP BY day":                      1,
			"SELECT COUNT(*) FROM visits WHERE cost = 2 GROUP BY hour":      0,
			"SELECT SUM(cost) FROM visits GROUP BY hour":                    0,
			"SELECT COUNT(*) FROM visits GROUP BY cost":                     0,
			"SELECT COUNT(*) FROM visits GROUP BY hour + 1 * (hour - hour)": 0,
		} {
			r.SQL = sql
			c, err := answer.Open(t.Context(), answer.Session(c), r)
			if err != nil {
				continue // the question has no column
			}
			s := chosen(t, must[strategy.Workload](t)(strategy.Prefixes(len(c.Values))), c.Unit)
			e := must[*answer.Estimate](t)(c.Measure(t.Context(), s))
			n := 0
			for j := range c.Values {
				q := strategy.Query{Low: j, High: j + 1}
				if must[answer.Answer](t)(e.Answer(q.Coefficients(len(c.Values)), 0.9)).Deviation == 0 {
					n++
				}
			}
			all := must[answer.Answer](t)(e.Answer(strategy.Query{Low: 0, High: len(c.Values)}.Coefficients(len(c.Values)), 0.9))
			if n != kept || (all.Deviation == 0) != (sql != sums && strings.Contains(sql, "visits GROUP BY") && !strings.HasSuffix(sql, "BY day")) {
				t.Errorf("%s: %d cells have no error; all: %+v", sql, n, all)
			}
		}
	}
}

// deviation returns the standard deviation of the noise of one count.
func deviation(t *testing.T, c *answer.Column, s *strategy.Strategy) float64 {
	t.Helper()
	return must[*curator.StrategyExplanation](t)(c.Explain(t.Context(), s)).Parts[0].Noise.StdDev() / s.Scale()
}

// Intervals with declared totals hold at least at their confidence. The false-alarm rate is 10⁻⁶ for each check.
func TestDeclaredTotalsCover(t *testing.T) {
	times := 40
	if os.Getenv("DITHER_LONG") != "" {
		times = 1000
	}
	for budget, r := range map[string]curator.Request{
		"rho: 1000, delta: 1e-6": {Rho: "0.1"}, "epsilon: 1000": {Epsilon: "0.3"},
	} {
		r.SQL, r.Fresh = "SELECT COUNT(*) FROM visits GROUP BY hour", true
		c := open(t, budget, r)
		s := chosen(t, must[strategy.Workload](t)(strategy.Ranges(16)), c.Unit)
		queries := map[[2]int]float64{{0, 3}: 330, {2, 3}: 120, {5, 12}: 150}
		beyond := map[[2]int]int{}
		for range times {
			e := must[*answer.Estimate](t)(c.Measure(t.Context(), s))
			for q, truth := range queries {
				if a := must[answer.Answer](t)(e.Answer(strategy.Query{Low: q[0], High: q[1]}.Coefficients(16), 0.8)); truth < a.Low || truth > a.High {
					beyond[q]++
				}
			}
		}
		for q := range queries {
			if (stattest.Binomial{Trials: times, Probability: 0.2}).AtLeast(beyond[q]) < 1e-6 ||
				(stattest.Binomial{Trials: times, Probability: 0.1}).AtMost(beyond[q]) < 1e-6 {
				t.Errorf("%s: %v was outside its interval in %d of %d releases", budget, q, beyond[q], times)
			}
		}
	}
}
