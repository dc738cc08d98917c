package answer_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/answer"
)

// ask answers a question without a price.
func ask(t *testing.T, s *curator.Session, sql string) *curator.Release {
	t.Helper()
	return must[*curator.Release](t)(s.Answer(t.Context(), curator.Question{SQL: sql, Confidence: "0.9"}))
}

// Ordinary questions that follow from a measured strategy are answered from it, at no cost, with the errors of the
// estimate. Questions about other rows are paid for.
func TestLaterQuestionsAreFree(t *testing.T) {
	for budget, r := range map[string]curator.Request{
		"rho: 1000, delta: 1e-6": {Rho: "0.5"}, "epsilon: 1000": {Epsilon: "1"},
	} {
		s := home(t, budget)
		r.SQL = "SELECT COUNT(*) FROM visits WHERE cost = 2 GROUP BY hour"
		column := must[*answer.Column](t)(answer.Open(t.Context(), s, r))
		e := must[*answer.Estimate](t)(column.Measure(t.Context(), chosen(t, must[strategy.Workload](t)(strategy.Prefixes(16)), column.Unit)))
		for sql, q := range map[string]strategy.Query{
			"SELECT COUNT(*) FROM visits WHERE hour BETWEEN 2 AND 8 AND cost = 2":   {Low: 2, High: 9},
			"SELECT COUNT(*) FROM visits WHERE cost = 2 AND hour * 2 < 7":           {Low: 0, High: 4},
			"SELECT COUNT(*) FROM visits WHERE cost = 2 AND hour = 3 GROUP BY hour": {Low: 3, High: 4},
		} {
			a := ask(t, s, sql)
			want := must[answer.Answer](t)(e.Answer(q.Coefficients(16), 0.9))
			got := a.Rows[0][len(a.Columns)-1].Estimate
			if !a.Replayed || len(a.From) != 1 || a.From[0] != e.ID {
				t.Errorf("%s: answered from %v", sql, a.From)
			}
			if math.Abs(got.Value.Real-want.Value) > 1e-6 || math.Abs(*got.StdDev-want.Deviation) > 1e-6 ||
				math.Abs(got.High.Real-want.High) > 0.1*want.Deviation {
				t.Errorf("%s: %+v, and the estimate is %+v", sql, got, want)
			}
		}
		for _, sql := range []string{
			"SELECT COUNT(*) FROM visits WHERE hour < 3", "SELECT COUNT(*) FROM visits WHERE cost = 2 AND hour < 3 AND day = 1",
			"SELECT SUM(cost) FROM visits WHERE cost = 2 AND hour < 3", "SELECT day, COUNT(*) FROM visits WHERE cost = 2 GROUP BY day",
		} {
			if x := must[*curator.Explanation](t)(s.Explain(t.Context(), curator.Question{SQL: sql})); x.Reuse != nil && x.Reuse.Taken {
				t.Errorf("%s: %+v", sql, x.Reuse)
			}
		}
	}
}

// The intervals of later questions cover the exact count: 150 releases. Intervals of 90 % miss more than 36 of 150 with
// a probability below 1e-6.
func TestLaterIntervalsCover(t *testing.T) {
	s := home(t, "epsilon: 1000")
	missed := 0
	for i := range 150 {
		where := fmt.Sprintf("WHERE cost * 2 < %d", 100+i) // all rows, and another release each time
		r := curator.Request{SQL: "SELECT COUNT(*) FROM visits " + where + " GROUP BY hour", Epsilon: "1"}
		column := must[*answer.Column](t)(answer.Open(t.Context(), s, r))
		e := must[*answer.Estimate](t)(column.Measure(t.Context(), chosen(t, must[strategy.Workload](t)(strategy.Ranges(16)), column.Unit)))
		a := ask(t, s, "SELECT COUNT(*) FROM visits "+where+" AND hour BETWEEN 2 AND 5")
		if len(a.From) != 1 || a.From[0] != e.ID {
			t.Fatalf("answered from %v, not from %s", a.From, e.ID)
		}
		if n := a.Rows[0][0].Estimate; n.Low.Real > 540 || n.High.Real < 540 {
			missed++
		}
	}
	if missed > 36 {
		t.Errorf("%d intervals of 150 miss", missed)
	}
}

const persons = `
version: 1
population: {name: visitors}
budget: {epsilon: 1000}
price: {default: 20}
tables:
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 3
    columns:
      person: {type: integer}
      hour: {type: integer, bounds: [0, 3]}
      kind: {type: text, values: [a, b]}
`

// Questions whose bounded rows differ from those that were measured are not answered from the measurement: a unit's
// further conditions, and other caps. Damaged integers are not used, and neither are those of another strategy.
func TestOtherRowsAreNotReused(t *testing.T) {
	o, dir := testhome.Opened(t, testhome.Files(persons, map[string]string{
		"visits.csv": "person,hour,kind\n1,0,a\n1,1,b\n1,2,a\n1,3,a\n2,1,b\n3,2,z\n",
	}), "visits")
	s := o.Session()
	column := must[*answer.Column](t)(answer.Open(t.Context(), s, curator.Request{SQL: "SELECT COUNT(*) FROM visits GROUP BY hour", Epsilon: "20"}))
	e := must[*answer.Estimate](t)(column.Measure(t.Context(), chosen(t, must[strategy.Workload](t)(strategy.Ranges(4)), column.Unit)))
	taken := func(q curator.Question) bool {
		x := must[*curator.Explanation](t)(s.Explain(t.Context(), q))
		return x.Reuse != nil && x.Reuse.Taken
	}
	same := curator.Question{SQL: "SELECT hour, COUNT(*) FROM visits GROUP BY hour", MaxRows: "3"}
	if !taken(same) {
		t.Error("the measured histogram is not reused")
	}
	for _, q := range []curator.Question{
		{SQL: "SELECT COUNT(*) FROM visits WHERE hour > 1", MaxRows: "3"},
		{SQL: "SELECT hour, COUNT(*) FROM visits GROUP BY hour", MaxRows: "2"},
		{SQL: "SELECT kind, COUNT(*) FROM visits GROUP BY kind", MaxRows: "3"},
	} {
		if taken(q) {
			t.Errorf("%+v is answered from %s", q, e.ID)
		}
	}
	kept, err := filepath.Glob(filepath.Join(dir, "choices", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	text, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	header, data, _ := bytes.Cut(text, []byte("\n"))
	for _, changed := range [][]byte{
		bytes.Replace(data, []byte(`"rows":[[[0,`), []byte(`"rows":[[[1,`), 1), // other integers, with their digest
		bytes.Replace(data, []byte(`"columns":4`), []byte(`"columns":-4`), 1), []byte("[]"), []byte(`[{"products":[[{"rows":[[[-9,99,1]]]}]]}]`),
		[]byte("{"), data[:len(data)-1],
	} {
		if bytes.Equal(changed, data) {
			t.Fatal("nothing is changed")
		}
		sum := sha256.Sum256(changed)
		if err := os.WriteFile(kept[0], fmt.Appendf(nil, "dither choice 1 %x\n%s", sum, changed), 0o600); err != nil {
			t.Fatal(err)
		}
		again := must[*curator.Owner](t)(curator.Open(dir))
		s = again.Session()
		if taken(same) {
			t.Errorf("other integers are used: %s", changed)
		}
		_ = again.Close()
	}
	text = append(append(header, '\n'), data...)
	if err := os.WriteFile(kept[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	again := must[*curator.Owner](t)(curator.Open(dir))
	t.Cleanup(func() { _ = again.Close() })
	if s = again.Session(); !taken(same) {
		t.Error("the integers themselves are not used")
	}
}

// Other workloads over a measured column are answered from its release, free and with exact errors for them, but at no
// other price, order of values or question.
func TestOtherWorkloadsAreFree(t *testing.T) {
	s := home(t, "rho: 1000, delta: 1e-6")
	open := func(sql, rho string) *answer.Column {
		return must[*answer.Column](t)(answer.Open(t.Context(), s, curator.Request{SQL: sql, Rho: rho}))
	}
	const sql = "SELECT COUNT(*) FROM visits GROUP BY hour"
	column := open(sql, "0.5")
	first := must[*strategy.Choice](t)(column.Choose(must[strategy.Workload](t)(strategy.Prefixes(16))))
	other := must[*strategy.Choice](t)(column.Choose(must[strategy.Workload](t)(strategy.Windows(16, 3))))
	if c := must[*strategy.Choice](t)(column.Measured(t.Context(), other)); c != nil {
		t.Fatalf("nothing is measured, and %s is", c.Chosen.Name)
	}
	paid := must[*answer.Estimate](t)(column.MeasureChoice(t.Context(), first))
	if c := must[*strategy.Choice](t)(column.Measured(t.Context(), first)); c != nil {
		t.Errorf("the chosen strategy was measured itself, and %s is taken", c.Chosen.Name)
	}
	before := must[*strategy.Choice](t)(column.Measured(t.Context(), other))
	if before == nil || before.Chosen.RMSE <= other.Chosen.RMSE || before.Bound != other.Bound {
		t.Fatalf("%+v", before)
	}
	e := must[*answer.Estimate](t)(column.Measure(t.Context(), before.Chosen))
	if !e.Replayed || e.ID != paid.ID {
		t.Errorf("release %s is not %s", e.ID, paid.ID)
	}
	answers, i, squares := must[[]answer.Answer](t)(e.Answers(0.9)), 0, 0.0
	for q := range other.Chosen.Workload().All() {
		want := must[answer.Answer](t)(paid.Answer(q.Coefficients(16), 0.9))
		if answers[i] != want {
			t.Errorf("answer %d is %+v, and %+v in the release", i, answers[i], want)
		}
		squares += want.Deviation * want.Deviation
		i++
	}
	if got, want := math.Sqrt(squares/float64(i)), before.Chosen.RMSE; math.Abs(got-want) > 1e-6 {
		t.Errorf("the answers have a root mean squared error of %v, and %v is stated", got, want)
	}
	reversed := make([]int, 16)
	for i := range reversed {
		reversed[i] = 15 - i
	}
	for name, c := range map[string]*answer.Column{
		"another price": open(sql, "0.25"), "other rows": open("SELECT COUNT(*) FROM visits WHERE cost = 2 GROUP BY hour", "0.5"),
		"another order": must[*answer.Column](t)(column.Arrange(reversed)),
	} {
		if got := must[*strategy.Choice](t)(c.Measured(t.Context(), other)); got != nil {
			t.Errorf("%s: %s is taken", name, got.Chosen.Name)
		}
	}
}

const wards = `
version: 1
population: {name: visitors}
budget: {epsilon: 1000}
price: {default: 20}
tables:
  visits:
    source: {csv: visits.csv}
    unit: row
    columns:
      hour: {type: integer, bounds: [0, 3]}
      ward: {type: text, values: [a, b, c]}
  persons:
    source: {csv: persons.csv}
    unit: person
    rows_per_unit: 3
    columns:
      person: {type: integer}
      hour: {type: integer, bounds: [0, 3]}
      ward: {type: text, values: [a, b, c]}
  wards:
    source: {csv: wards.csv}
    public: true
    rows_per_value: {name: 2}
    columns:
      name: {type: text, values: [a, b, c]}
      zone: {type: integer, values: [1, 2]}
`

// Ordinary questions over a join follow from a strategy that was measured on the same join, where each row is a unit.
// They have the sums of its estimate, and a measurement of their own has the same exact count. Other joins have other
// rows, and for persons the keys choose the rows that count.
func TestLaterQuestionsOverJoins(t *testing.T) {
	o, _ := testhome.Opened(t, testhome.Files(wards, map[string]string{
		"visits.csv":  "hour,ward\n0,a\n0,a\n1,b\n2,c\n3,a\n3,b\n",
		"persons.csv": "person,hour,ward\n1,0,a\n1,1,b\n1,2,c\n1,3,a\n2,1,b\n",
		"wards.csv":   "name,zone\na,1\na,2\nb,2\n", // a visit to a has two rows, and one to c none
	}), "visits", "persons", "wards")
	s := o.Session()
	measure := func(sql string) *answer.Estimate {
		column := must[*answer.Column](t)(answer.Open(t.Context(), s, curator.Request{SQL: sql, Epsilon: "20"}))
		ranges := must[strategy.Workload](t)(strategy.Ranges(4))
		return must[*answer.Estimate](t)(column.Measure(t.Context(), chosen(t, ranges, column.Unit)))
	}
	const join = "FROM visits v JOIN wards w ON v.ward = w.name"
	e := measure("SELECT COUNT(*) " + join + " GROUP BY v.hour")
	for sql, want := range map[string]struct {
		q     strategy.Query
		exact float64
	}{
		"SELECT COUNT(*) " + join + " WHERE v.hour >= 0":            {strategy.Query{Low: 0, High: 4}, 8},
		"SELECT COUNT(*) " + join + " WHERE v.hour BETWEEN 1 AND 2": {strategy.Query{Low: 1, High: 3}, 1},
		"SELECT COUNT(*) " + join + " WHERE v.hour * 2 > 5":         {strategy.Query{Low: 3, High: 4}, 3},
	} {
		a := ask(t, s, sql)
		estimate := must[answer.Answer](t)(e.Answer(want.q.Coefficients(4), 0.9))
		got := a.Rows[0][0].Estimate
		if !a.Replayed || len(a.From) != 1 || a.From[0] != e.ID || math.Abs(got.Value.Real-estimate.Value) > 1e-6 {
			t.Errorf("%s: %v from %v, and the estimate is %v of %s", sql, got.Value, a.From, estimate.Value, e.ID)
		}
		// the noise of the strategy is below 4 with a probability above 1 − 1e-9
		paid := must[*curator.Release](t)(s.Answer(t.Context(), curator.Question{SQL: sql, Epsilon: "20", Fresh: true}))
		if n := paid.Rows[0][0].Estimate.Value.Real; math.Abs(n-want.exact) > 4 || math.Abs(got.Value.Real-want.exact) > 4 {
			t.Errorf("%s: %v, and %v measured by itself; the exact count is %v", sql, got.Value, n, want.exact)
		}
	}
	measure("SELECT COUNT(*) FROM persons v JOIN wards w ON v.ward = w.name GROUP BY v.hour")
	for _, sql := range []string{
		"SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits v LEFT JOIN wards w ON v.ward = w.name",
		"SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.name AND w.zone = 1",
		"SELECT w.zone, COUNT(*) " + join + " GROUP BY w.zone",
		"SELECT COUNT(*) FROM persons v JOIN wards w ON v.ward = w.name",
		"SELECT v.hour, COUNT(*) FROM persons v JOIN wards w ON v.ward = w.name GROUP BY v.hour",
	} {
		x := must[*curator.Explanation](t)(s.Explain(t.Context(), curator.Question{SQL: sql}))
		if x.Reuse != nil && x.Reuse.Taken {
			t.Errorf("%s: %+v", sql, x.Reuse)
		}
	}
}
