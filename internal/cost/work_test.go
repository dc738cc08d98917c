package cost_test

import (
	"math/big"
	"strings"
	"testing"

	"dither/internal/cost"
	"dither/internal/plan"
	"dither/internal/policy"
)

// The work of a statement grows with its tables' rows and its expressions, and with the public rows that a join meets; it is never less than what one
// unit can cost. Prices and names play no part.
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
		return cost.Work(p, rows, q.AllLooks()...)
	}
	unit := func(sql string) *big.Int {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return big.NewInt(cost.Of(p, q.AllLooks()...).Steps)
	}
	rising := []string{
		"SELECT COUNT(*) FROM people",
		"SELECT COUNT(*) FROM people WHERE age > 5",
		"SELECT COUNT(*) FROM people WHERE age > 5 AND EXP(LEAST(age, 2)) > 3",
		"SELECT SUM(age) FROM people JOIN towns ON people.town = towns.id WHERE age > 5 AND EXP(LEAST(age, 2)) > 3",
	}
	// Rows that are grouped by the unit are as many as the units, not one. So what follows the grouping costs for each.
	const from = " AS h FROM (SELECT id, MAX(age) AS c FROM people GROUP BY id) s) x JOIN (SELECT id FROM people GROUP BY id) y ON x.a = y.id"
	more := func(rows func(string) int64) *big.Int {
		heavy := "SELECT COUNT(h) FROM (SELECT id AS a, CASE WHEN EXP(LEAST(c, 2)) > 3 OR EXP(LEAST(c, 3)) > 3 THEN 1 END" + from
		return new(big.Int).Sub(work(heavy, rows), work("SELECT COUNT(h) FROM (SELECT id AS a, c"+from, rows))
	}
	if one, all := more(func(string) int64 { return 1 }), more(rows); all.Cmp(new(big.Int).Mul(one, big.NewInt(400))) < 0 {
		t.Errorf("two exponentials are %v steps for one person, and %v for a thousand", one, all) // half of it is for one more unit
	}
	last := new(big.Int)
	for _, sql := range rising {
		w := work(sql, rows)
		if w.Cmp(last) <= 0 || w.Cmp(big.NewInt(1000)) < 0 {
			t.Errorf("%s: %v after %v", sql, w, last)
		}
		last = w
		// Rows are put in order, so ten times the rows cost a little more than ten times as much.
		least, of := new(big.Int).Sub(w, unit(sql)), new(big.Int).Sub(work(sql, func(of string) int64 { return 10 * rows(of) }), unit(sql))
		if least.Mul(least, big.NewInt(10)); of.Cmp(least) < 0 || of.Cmp(least.Mul(least, big.NewInt(2))) > 0 {
			t.Errorf("%s: %v, of ten times the rows %v", sql, w, of)
		}
		if none := work(sql, func(string) int64 { return 0 }); none.Cmp(unit(sql)) < 0 {
			t.Errorf("%s: %v where nobody is expected, less than one unit can cost: %v", sql, none, unit(sql))
		}
		if public := work(sql, func(of string) int64 { return map[string]int64{"people": 1000, "towns": 10_000_000}[of] }); strings.Contains(sql, "towns") != (public.Cmp(w) > 0) {
			t.Errorf("%s: %v, of many public rows %v", sql, w, public)
		}

	}
	if a, b := work("SELECT COUNT(*) FROM people WHERE age > 5", rows), work("SELECT COUNT(*) AS n FROM people AS x WHERE (x.age > 5)", rows); a.Cmp(b) != 0 {
		t.Errorf("%v, %v", a, b)
	}
}

// Each unit has a copy of a row that several units refer to, and its name is compared in every step: both are work.
func TestWorkOfSharedRowsAndTextUnits(t *testing.T) {
	text := `version: 1
population: {name: p}
budget: {epsilon: 10}
tables:
  members: {source: {csv: a.csv}, unit: id, rows_per_unit: 1, columns: {id: {type: integer}, home: {type: integer}}}
  bills:
    source: {csv: b.csv}
    through: home
    references: {home: members.home}
    rows_per_unit: 5
    columns: {home: {type: integer}, paid: {type: integer, bounds: [0, 9]}}
`
	const sql = "SELECT SUM(paid) FROM bills WHERE EXP(LEAST(paid, 2)) > 3"
	work := func(text string, members, bills int64) *big.Int {
		p := costPolicy(t, text)
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		return cost.Work(p, func(table string) int64 { return map[string]int64{"members": members, "bills": bills}[table] }, q.AllLooks()...)
	}
	// A thousand members of ten homes have a bill each: a thousand rows are computed with, though ten are stored.
	shared, own := work(text, 1000, 10), work(text, 1000, 1000)
	if shared.Cmp(new(big.Int).Quo(own, big.NewInt(2))) < 0 {
		t.Errorf("%v steps of shared rows, %v of as many rows of one unit each", shared, own)
	}
	long := work(strings.Replace(text, "{id: {type: integer}", "{id: {type: text}", 1), 1000, 1000)
	if long.Cmp(new(big.Int).Mul(own, big.NewInt(2))) < 0 {
		t.Errorf("%v steps of units whose names are texts, %v of integers", long, own)
	}
}
