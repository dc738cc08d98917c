package plan_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/reuse"
	"dither/privacy"
)

// distinctOver puts in how far the measures over a grouping move that are no sums of the cells of all keys.
func distinctOver(q *plan.Plan, g plan.Grouping, l1, l2squared []*big.Int, distances func(*bounded.Statement, plan.Grouping) ([]*big.Int, []*big.Int)) {
	look := q.SetLook(g)
	if look == nil {
		return
	}
	own := plan.Grouping{}
	for k := range look.Keys {
		own.Keys = append(own.Keys, k)
	}
	x, y := distances(look, own)
	k := 0
	for j, m := range q.Measures {
		if !m.Additive() {
			l1[j], l2squared[j] = x[k], y[k]
			k++
		}
	}
}

// Units and distinct values over grouping sets: a person is in as many groups of a set as it has, at most, and in one total; each set's vector has
// the sensitivity of its own, beside sums, which have that of the table of all keys.
func TestDistinctOverSets(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT COUNT(DISTINCT person) FROM visits GROUP BY ROLLUP (department, days > 5)", "units 3/3 units 3/3 units 1/1"},
		{"SELECT COUNT(DISTINCT person), COUNT(*) FROM visits GROUP BY ROLLUP (department, days > 5)", "rows 12/144 units 3/3 rows 12/144 units 3/3 rows 12/144 units 1/1"},
		{"SELECT COUNT(DISTINCT person) FROM visits GROUP BY CUBE (department, days > 5)", "units 3/3 units 3/3 units 2/2 units 1/1"},
		{"SELECT COUNT(DISTINCT days) FROM visits GROUP BY ROLLUP (department)", "distinct 12/144 distinct 12/144"},
		{"SELECT COUNT(DISTINCT age) FROM people GROUP BY ROLLUP (race)", "distinct 1/1 distinct 1/1"},
	} {
		for _, relation := range []string{"add-remove", "change-one"} {
			q := build(t, relation, c.sql)
			var got []string
			for _, g := range q.Sets {
				for _, m := range g.Measures {
					l1, l2 := new(big.Int).Set(m.L1), new(big.Int).Set(m.L2Squared)
					if relation == "change-one" && len(g.Keys) > 0 { // two contributions of one sign
						l1.Rsh(l1, 1)
						l2.Rsh(l2, 1)
					}
					got = append(got, fmt.Sprintf("%s %s/%s", m.Kind, l1, l2))
				}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("%s under %s: %s, want %s", c.sql, relation, text, c.want)
			}
			paid := privacy.Loss{}
			for _, m := range q.Vectors() {
				paid = paid.Plus(m.Loss)
			}
			if !paid.Within(q.Price) || !q.Price.Within(paid) {
				t.Errorf("%s costs %s of %s", c.sql, paid, q.Price)
			}
			for _, m := range q.Measures {
				for _, g := range q.Sets {
					if _, follows := reuse.NewReader(q).Follow(m, g, q); follows && !m.Additive() {
						t.Errorf("%s: %s is followed", c.sql, m)
					}
				}
			}
			if n := len(q.Looks()); n != len(q.Sets) { // the one of all keys, and one of each other
				t.Errorf("%s: %d looks for %d sets", c.sql, n, len(q.Sets))
			}
		}
	}
	if q := build(t, "add-remove", "SELECT COUNT(*), AVG(cost) FROM visits GROUP BY ROLLUP (department)"); len(q.Looks()) != 1 {
		t.Errorf("sums take %d looks", len(q.Looks()))
	}
}

// What each set is looked at for is what a question for that grouping alone is, of the rows that are in a group of all keys.
func TestSetLooksAreTheirGroupings(t *testing.T) {
	q := build(t, "add-remove", "SELECT COUNT(DISTINCT person) FROM visits WHERE cost > 2 GROUP BY ROLLUP (department, days)")
	for _, g := range q.Sets[1:] {
		sql := "SELECT COUNT(DISTINCT person) FROM visits WHERE cost > 2 AND NOT (days IS NULL) GROUP BY department"
		if len(g.Keys) == 0 {
			sql = "SELECT COUNT(DISTINCT person) FROM visits WHERE cost > 2 AND NOT (days IS NULL) AND NOT (department IS NULL)"
		}
		alone := build(t, "add-remove", sql)
		look := q.SetLook(g)
		if x, y := conjunctsOf(look.Where), conjunctsOf(alone.Where); x != y || look.Caps != alone.Caps || len(look.Keys) != len(alone.Keys) {
			t.Errorf("%v: %s, %v; alone %s, %v", g.Keys, x, look.Caps, y, alone.Caps)
		}
	}
}

// conjunctsOf are the parts of a condition, sorted.
func conjunctsOf(e *bounded.Expr) string {
	if e.Op != bounded.OpAnd {
		return e.String()
	}
	var all []string
	for _, a := range e.Args {
		all = append(all, strings.Split(conjunctsOf(a), " & ")...)
	}
	slices.Sort(all)
	return strings.Join(all, " & ")
}
