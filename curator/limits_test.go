package curator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const limitsPolicy = `
version: 1
population: {name: test, neighbours: add-remove}
budget: {epsilon: 1, delta: 1e-6, selection_delta: 1e-7}
price: {default: 0.01, maximum: 0.05}
tables:
  people:
    source: {csv: people.csv}
    unit: person
    rows_per_unit: 1
    columns:
      person: {type: integer}
      age: {type: integer, bounds: [0, 115]}
      region: {type: text, values: [north, south], nullable: true}
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 20
    max_groups: 2
    max_rows_per_group: 3
    stored_rows_per_unit: 50
    columns:
      person: {type: integer}
      day: {type: date, bounds: [2025-01-01, 2025-12-31]}
      cost: {type: real, bounds: [0, 99.5]}
      ward: {type: text}
      kind: {type: text, values: [a, b, c]}
  drugs:
    source: {csv: drugs.csv}
    public: true
    rows_per_value: {kind: 4}
    columns:
      kind: {type: text}
      dose: {type: integer, bounds: [0, 9]}
  rows:
    source: {csv: rows.csv}
    unit: row
    columns:
      kind: {type: text}
      x: {type: integer, bounds: [-5, 5]}
`

func limitsHome(t testing.TB) *Owner {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := t.TempDir() + "/home"
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", limitsPolicy)
	for name, text := range map[string]string{
		"people": "person,age,region\n1,40,north\n", "visits": "person,day,cost,ward,kind\n1,2025-02-03,7,x,a\n",
		"drugs": "kind,dose\na,3\n", "rows": "kind,x\na,3\n",
	} {
		write(t, home, name+".csv", text)
	}
	c := openHome(t, home)
	for _, table := range []string{"people", "visits", "drugs", "rows"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// An answer states every bound by which rows or amounts are left out of it, and no other.
func TestAnswersStateTheirBounds(t *testing.T) {
	c := limitsHome(t)
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM rows": "none, every row counts",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=2) kind, AVG(cost, contribution_bounds_per_group => (0, 9)) AS m FROM visits GROUP BY kind": "at most 2 rows of one person count (the subquery has one row for each person, kind); " +
			"values in m are clamped to 0 … 9; cost is clamped to 0 … 99.5",
		"SELECT COUNT(*) FROM rows WHERE x > 2":                                      "x is clamped to -5 … 5",
		"SELECT COUNT(*) FROM visits":                                                "one person adds at most as much as 3 rows can; sealing keeps at most 50 rows of one person",
		"SELECT AVG(cost) FROM visits":                                               "at most 20 rows of one person count; cost is clamped to 0 … 99.5",
		"SELECT AVG(cost) FROM visits WHERE day > '2025-03-01'":                      "at most 20 rows of one person count; day is clamped to 2025-01-01 … 2025-12-31, cost to 0 … 99.5",
		"SELECT kind, COUNT(*) FROM visits GROUP BY kind":                            "one person counts in at most 2 groups, and adds to each at most as much as 3 rows can; sealing keeps at most 50 rows of one person",
		"SELECT COUNT(DISTINCT person) FROM visits":                                  "none, every row counts",
		"SELECT COUNT(DISTINCT person) FROM visits WHERE kind = 'a'":                 "sealing keeps at most 50 rows of one person",
		"SELECT kind, COUNT(DISTINCT person) FROM visits GROUP BY kind":              "one person counts in at most 2 groups; sealing keeps at most 50 rows of one person",
		"SELECT ward, AVG(cost) FROM visits GROUP BY ward":                           "at most 20 rows of one person count, in at most 2 groups; cost is clamped to 0 … 99.5",
		"SELECT AVG(age) FROM people":                                                "at most 1 row of one person counts; age is clamped to 0 … 115",
		"SELECT AVG(cost, bounds => (0, 10)) AS a FROM visits":                       "at most 20 rows of one person count; values in a are clamped to 0 … 10; cost is clamped to 0 … 99.5",
		"SELECT SUM(cost, contribution_bounds_per_group => (0, 9)) AS s FROM visits": "one person adds at most as much as 3 rows can; sealing keeps at most 50 rows of one person; in s, one unit adds 0 … 9 to one group; cost is clamped to 0 … 99.5",
		"SELECT MEDIAN(cost) FROM visits":                                            "one person adds at most as much as 3 rows can; sealing keeps at most 50 rows of one person; cost is clamped to 0 … 99.5",
		"SELECT COUNT(*), SUM(dose) FROM visits JOIN drugs USING (kind)":             "one person adds at most as much as 12 rows can; sealing keeps at most 50 rows of one person; at most 4 rows of drugs join for each value of kind",
		"SELECT AVG(age) FROM people JOIN visits USING (person)":                     "at most 20 rows of one person count; age is clamped to 0 … 115",
		"SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) p": "sealing keeps at most 50 rows of one person; " +
			"sums and counts over the rows of one unit are clamped to what 20 rows can add up to",

		"SELECT COUNT(*) FROM (SELECT person FROM visits WHERE kind = 'a' AND cost > 3 GROUP BY person) p": "sealing keeps at most 50 rows of one person; cost is clamped to 0 … 99.5",
		"SELECT COUNT(*) FROM (SELECT person, cost, day FROM visits) p WHERE cost > 3":                     "one person adds at most as much as 3 rows can; sealing keeps at most 50 rows of one person; cost is clamped to 0 … 99.5",
		"SELECT SUM(v.cost) FROM people p LEFT JOIN visits v USING (person)":                               "at most 20 rows of one person count; cost is clamped to 0 … 99.5",
		"SELECT COUNT(DISTINCT p.person) FROM people p LEFT JOIN visits v USING (person) WHERE v.cost > 3": "sealing keeps of one person at most 1000 rows in people, and 50 rows in visits; cost is clamped to 0 … 99.5",
	} {
		r, err := c.Answer(t.Context(), Question{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if r.Limits == nil || r.Limits.Text != want {
			t.Errorf("%s:\n%s, want\n%s", sql, r.Limits.Text, want)
		}
		again, err := c.Answer(t.Context(), Question{SQL: sql})
		if err != nil || cmp.Diff(r.Limits, again.Limits, cmp.AllowUnexported(Clamp{})) != "" {
			t.Errorf("%s: a replay has other bounds: %v", sql, err)
		}
	}
}

// Programs read the same bounds as people.
func TestBoundsJSON(t *testing.T) {
	c := limitsHome(t)
	r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT AVG(cost) AS a FROM visits WHERE day > '2025-03-01'"}))
	text, err := json.Marshal(r)
	want := `"bounds":{"text":"at most 20 rows of one person count; day is clamped to 2025-01-01 … 2025-12-31, cost to 0 … 99.5",` +
		`"unit":"person","max_rows":20,"max_groups":null,"max_rows_per_group":null,"stored_rows":50,"clamps":[` +
		`{"table":"visits","column":"day","low":"2025-01-01","high":"2025-12-31"},{"table":"visits","column":"cost","low":0,"high":99.5}]}`
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	tables := must[[]Table](t)(c.Tables())
	for i, want := range map[int]string{
		0: "at most 1 row of one person counts; values are clamped to the bounds of their columns",
		1: "at most 20 rows of one person count; where groups bound a unit, it counts in at most 2 groups, and adds to each at most as much as 3 rows can; " +
			"values are clamped to the bounds of their columns",
	} {
		if l := tables[i].Limits; l == nil || l.Text != want || len(l.Clamps) == 0 {
			t.Errorf("%s: %+v", tables[i].Name, l)
		}
	}
	if tables[2].Limits != nil {
		t.Error("a public table has bounds")
	}
}

// A column that has no value whatever the rows are is refused before anything is spent; one that may have a value is
// answered.
func TestNeverAValue(t *testing.T) {
	for sql, refused := range map[string]bool{
		"SELECT COUNT(*) / 0 AS x FROM rows":                              true,
		"SELECT SUM(1 + x) / (COUNT(*) - COUNT(*)) AS x FROM rows":        true,
		"SELECT 1 + AVG(x) / AVG(0 * x) AS x FROM rows":                   true,
		"SELECT SQRT(-1 - ABS(COUNT(*))) AS x FROM rows":                  true,
		"SELECT SUM(x) / COUNT(*) AS x FROM rows":                         false,
		"SELECT SQRT(COUNT(*) - 100) AS x FROM rows":                      false,
		"SELECT COUNT(*) / AVG(x) AS x FROM rows":                         false,
		"SELECT COUNT(*) AS x FROM rows HAVING COUNT(*) / 0 > 1 OR 1 = 1": false,
	} {
		c := limitsHome(t) // in which nothing is released: a question with a release is replayed
		_, explained := c.Explain(t.Context(), Question{SQL: sql})
		_, answered := c.Answer(t.Context(), Question{SQL: sql})
		for _, err := range []error{explained, answered} {
			if got := err != nil && strings.Contains(err.Error(), "column x would have no value"); got != refused || !refused && err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
}

// An interval is vacuous if it is the whole range that the bounds allow, and not if it excludes something. Nobody is
// counted, so an interval of the mean is vacuous unless the noise of the count leaves its own interval: with a chance
// of 1e-9.
func TestVacuousIntervals(t *testing.T) {
	c := limitsHome(t)
	for sql, want := range map[string]bool{
		"SELECT MEDIAN(x) AS v FROM rows WHERE kind = 'nobody'":  true,
		"SELECT AVG(x) AS v FROM rows WHERE kind = 'nobody'":     true,
		"SELECT 2 * AVG(x) AS v FROM rows WHERE kind = 'nobody'": true,
		"SELECT COUNT(*) AS v FROM rows WHERE kind = 'nobody'":   false,
		"SELECT SUM(x) AS v FROM rows WHERE kind = 'nobody'":     false,
	} {
		r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql, Confidence: "0.999999999"}))
		if got := r.Rows[0][0].Estimate; got.Vacuous != want {
			t.Errorf("%s: %v: %+v", sql, got.Vacuous, got)
		}
	}
}
