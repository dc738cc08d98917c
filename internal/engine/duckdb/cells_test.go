package duckdb

import (
	"maps"
	"math/big"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/value"
)

// What a unit adds to a cell is clamped to bounds of its own also where each unit is known to have one row, and no cap
// is needed.
func TestCellBoundsOfOneRowEach(t *testing.T) {
	for name, b := range benches(t) {
		var rows []enginetest.Row
		for p := range 40 {
			rows = append(rows, enginetest.Row{
				"person": value.OfInt(int64(p)), "i": value.OfInt(int64(p%14 - 4)),
				"s": value.OfText([]string{"a", "B"}[p%2]), "x": value.OfReal(float64(p) / 4),
			})
		}
		file := b.write(t, "p", rows)
		rows, known, err := b.sealedRows("p", file)
		if err != nil {
			t.Fatal(err)
		}
		if b.records[file] = known; !known.OneRowEach {
			t.Fatal("each has one row")
		}
		for _, sql := range []string{
			"SELECT SUM(i, contribution_bounds_per_group => (-1, 3)) FROM p",
			"SELECT s, SUM(i, contribution_bounds_per_group => (2, 3)), COUNT(*) FROM p GROUP BY s",
			"SELECT SUM(x, contribution_bounds_per_group => (0, 2.5)), COUNT(*, contribution_bounds_per_group => (0, 1)) FROM p",
		} {
			p, err := plan.Build(b.policy, plan.Request{SQL: sql})
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.sums(p, file)
			if err != nil {
				t.Fatal(err)
			}
			reference := map[string]*big.Int{}
			enginetest.Sum(&p.Statement, rows, gather(reference))
			if want := nonZero(reference); !maps.Equal(got, want) {
				t.Errorf("%s: %s: got %v, want %v", name, sql, got, want)
			}
			for _, m := range p.Measures {
				m.Cells = nil
			}
			without := map[string]*big.Int{}
			enginetest.Sum(&p.Statement, rows, gather(without))
			if maps.Equal(got, nonZero(without)) {
				t.Errorf("%s: %s: the bounds cut nothing off: the test shows nothing", name, sql)
			}
		}
	}
}
