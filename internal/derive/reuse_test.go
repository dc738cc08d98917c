package derive_test

import (
	"fmt"
	"strings"
	"testing"

	"dither/internal/derive"
)

// Who names a price is given nothing that is less exact than it in any kind of row: the cells of a plain table may be
// as exact as those of a ROLLUP, and their sums are not.
func TestAsExactInEveryGrouping(t *testing.T) {
	rows := people(50)
	told := func(earlier, price, asked string) bool {
		q := planOf(t, earlier, price)
		answer, err := derive.New(planOf(t, asked, "1"))
		if err != nil {
			t.Fatal(err)
		}
		_, ok := answer.From([]*derive.Earlier{{Plan: q, Numbers: noisySets(t, q, exactSets(q, rows))}}, false, true)
		return ok
	}
	const key = "CASE WHEN x > 20 THEN 1 WHEN x > 15 THEN 2 WHEN x > 10 THEN 3 WHEN x > 5 THEN 4 ELSE 5 END"
	const plain, rollup = "SELECT COUNT(*) FROM t GROUP BY " + key, "SELECT COUNT(*) FROM t GROUP BY ROLLUP (" + key + ")"
	for _, c := range []struct {
		earlier, price, asked string
		want                  bool
	}{
		{plain, "1", plain, true},
		{plain, "0.99", plain, false},
		{plain, "1", rollup, false}, // its cells are more exact than those of a ROLLUP, and its total is not
		{plain, "2", rollup, true},
		{rollup, "1", rollup, true},
		{rollup, "0.99", rollup, false},
	} {
		if got := told(c.earlier, c.price, c.asked); got != c.want {
			t.Errorf("%s at 1 from %s at %s: %t", c.asked, c.earlier, c.price, got)
		}
	}
}

// A table of many keys is added up as quickly as one of few.
func TestManyKeysAreAddedUp(t *testing.T) {
	var keys []string
	for i := range 60 { // of one value each
		keys = append(keys, fmt.Sprintf("CASE WHEN x > 0 THEN %d ELSE %[1]d END", i))
	}
	for i := range 14 {
		keys = append(keys, fmt.Sprintf("COALESCE(x > %d, FALSE)", i))
	}
	q := planOf(t, "SELECT COUNT(*) FROM t GROUP BY "+strings.Join(keys, ", "), "1")
	answer, err := derive.New(planOf(t, "SELECT COUNT(*) FROM t GROUP BY "+keys[73], "1"))
	if err != nil {
		t.Fatal(err)
	}
	numbers := exactSets(q, people(300))
	used, ok := answer.From([]*derive.Earlier{{Plan: q, Numbers: numbers}}, false, false)
	if !ok || len(used) != 1 {
		t.Fatal("it does not follow")
	}
	total := 0.0
	for _, row := range answer.Rows(nil, 0.05) {
		total += row[0].Estimate.Value
	}
	if total != 300 {
		t.Errorf("%g rows of 300", total)
	}
}
