package plan_test

import (
	"math/big"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
)

// The work of a statement grows with its tables' rows and its expressions, and with the public rows that a join meets; prices and names play no part.
func TestWork(t *testing.T) {
	p, err := policy.Decode([]byte(`version: 1
population: {name: p}
budget: {epsilon: 10}
tables:
  people:
    source: {csv: a.csv}
    unit: id
    rows_per_unit: 5
    columns: {id: {type: integer}, age: {type: integer, bounds: [0, 100]}, town: {type: integer}}
  towns:
    public: true
    source: {csv: b.csv}
    rows_per_value: {id: 3}
    columns: {id: {type: integer}, size: {type: integer, bounds: [0, 9]}}
`), ".")
	if err != nil {
		t.Fatal(err)
	}
	rows := func(table string) int64 { return map[string]int64{"people": 1000, "towns": 10}[table] }
	work := func(sql string, rows func(string) int64) *big.Int {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return q.Work(rows)
	}
	rising := []string{
		"SELECT COUNT(*) FROM people",
		"SELECT COUNT(*) FROM people WHERE age > 5",
		"SELECT COUNT(*) FROM people WHERE age > 5 AND EXP(LEAST(age, 2)) > 3",
		"SELECT SUM(age) FROM people JOIN towns ON people.town = towns.id WHERE age > 5 AND EXP(LEAST(age, 2)) > 3",
	}
	last := new(big.Int)
	for _, sql := range rising {
		w := work(sql, rows)
		if w.Cmp(last) <= 0 || w.Cmp(big.NewInt(1000)) < 0 {
			t.Errorf("%s: %v after %v", sql, w, last)
		}
		last = w
		if more := work(sql, func(of string) int64 { return 10 * rows(of) }); more.Cmp(new(big.Int).Mul(w, big.NewInt(10))) != 0 {
			t.Errorf("%s: %v, of ten times the rows %v", sql, w, more)
		}
	}
	if a, b := work("SELECT COUNT(*) FROM people WHERE age > 5", rows), work("SELECT COUNT(*) AS n FROM people AS x WHERE (x.age > 5)", rows); a.Cmp(b) != 0 {
		t.Errorf("%v, %v", a, b)
	}
}
