package plan_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/policy"
)

// What is planned for a sum of distinct integers is compared with all contributions that there can be: the sums, by cell,
// of at most R pairs of a cell and an integer.
func TestDistinctSumsExhaustively(t *testing.T) {
	ranges := [][2]int{{0, 3}, {1, 3}, {-2, 1}, {-1, 2}, {-3, -1}, {0, 0}, {4, 4}, {-2, 2}}
	for _, relation := range []string{"add-remove", "change-one"} {
		attained, cases := 0, 0
		for rows := 1; rows <= 3; rows++ {
			for cells := 1; cells <= 3; cells++ {
				for _, of := range ranges {
					m := distinctSumPlan(t, relation, rows, cells, of)
					l1, l2 := farthest(distinctSums(rows, cells, of), relation == "change-one")
					if m.L1.Cmp(big.NewInt(l1)) < 0 || m.L2Squared.Cmp(big.NewInt(l2)) < 0 {
						t.Errorf("%s, %d rows, %v, %d cells: planned %s and %s, which %d and %d exceed",
							relation, rows, of, cells, m.L1, m.L2Squared, l1, l2)
					}
					if cases++; m.L1.Int64() == max(l1, 1) {
						attained++
					}
				}
			}
		}
		t.Logf("%s: the L1 norm is attained in %d of %d cases", relation, attained, cases)
		// In the rest the bound is not the least: two units cannot both fill few cells with their largest integers.
		if attained < 45 {
			t.Errorf("%s: only %d of %d are attained", relation, attained, cases)
		}
	}
}

func distinctSumPlan(t *testing.T, relation string, rows, cells int, of [2]int) *plan.Measure {
	t.Helper()
	p, err := policy.Decode(fmt.Appendf(nil, `
version: 1
population: {name: few, neighbours: %s}
budget: {epsilon: 10}
tables: {t: {source: {csv: t.csv}, unit: id, rows_per_unit: %d, columns: {id: {type: integer}, x: {type: integer, bounds: [%d, %d], nullable: true}, g: {type: integer, bounds: [1, %d]}}}}
`, relation, rows, of[0], of[1], cells), ".")
	if err != nil {
		t.Fatal(err)
	}
	sql := "SELECT SUM(DISTINCT x) FROM t"
	if cells > 1 {
		sql += " GROUP BY g"
	}
	q, err := plan.Build(p, plan.Request{SQL: sql})
	if err != nil {
		t.Fatal(err)
	}
	if q.Measures[0].Kind != bounded.SumDistinct || q.Caps.Rows != int64(rows) {
		t.Fatalf("%s: %s under %+v", sql, q.Measures[0], q.Caps)
	}
	return q.Measures[0]
}

// distinctSums returns every contribution to some cells: the sums of at most so many rows, each of which is another pair of
// a cell and an integer.
func distinctSums(rows, cells int, of [2]int) (all [][]int) {
	width := of[1] - of[0] + 1
	seen := map[string]bool{}
	var fill func(c []int, from, left int)
	fill = func(c []int, from, left int) {
		if name := fmt.Sprint(c); !seen[name] {
			seen[name] = true
			all = append(all, slices.Clone(c))
		}
		for at := from; left > 0 && at < cells*width; at++ {
			c[at/width] += of[0] + at%width
			fill(c, at+1, left-1)
			c[at/width] -= of[0] + at%width
		}
	}
	fill(make([]int, cells), 0, rows)
	return all
}

// Only sums of integers with bounds take DISTINCT, and COUNT, AVG and their product measure two numbers.
func TestDistinctSumsAndSharedParts(t *testing.T) {
	q := build(t, "add-remove", "SELECT COUNT(cost), AVG(cost), AVG(cost) * COUNT(cost) FROM visits")
	if len(q.Measures) != 2 {
		t.Errorf("%d numbers are measured", len(q.Measures))
	}
	a := build(t, "add-remove", "SELECT SUM(DISTINCT days) FROM visits")
	b := build(t, "add-remove", "SELECT SUM(days) FROM visits")
	if a.Measures[0].L1.Cmp(b.Measures[0].L1) > 0 || a.Canonical(1) == b.Canonical(1) {
		t.Errorf("%s moves by %s, and %s by %s", a.Measures[0], a.Measures[0].L1, b.Measures[0], b.Measures[0].L1)
	}
}
