package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// A scan in pages of any size gives each tally once, in the order of values and of cells, and those of unknown keys not
// at all; it ends when it is told to, and with the page's error.
func TestScanCells(t *testing.T) {
	b := &bounded.Statement{Keys: []bounded.Key{
		{Values: []value.Value{value.OfInt(1), value.OfInt(2)}},
		{Values: []value.Value{value.OfText("a"), value.OfText("b"), value.NullOf(value.Text)}},
	}}
	texts := []value.Value{value.OfText("a"), value.OfText("b"), value.NullOf(value.Text), value.OfText("unknown")}
	r := rand.New(rand.NewPCG(61, 62))
	for range 300 {
		var all []engine.Tally
		want := map[string]int64{}
		for range r.IntN(40) {
			x := engine.Tally{
				Keys: []value.Value{value.OfInt(r.Int64N(3)), texts[r.IntN(4)]}, Value: r.Int64N(9) - 4,
				Count: 1 + r.Int64N(3),
			}
			if r.IntN(20) == 0 {
				x.Value = []int64{math.MinInt64, math.MaxInt64}[r.IntN(2)]
			}
			all = append(all, x)
			if cell := engine.CellOf(b, x.Keys); cell >= 0 {
				want[fmt.Sprint(cell, " ", x.Value)] += x.Count
			}
		}
		slices.SortStableFunc(all, func(x, y engine.Tally) int {
			if x.Value < y.Value {
				return -1
			}
			return map[bool]int{true: 1}[x.Value > y.Value]
		})
		pages := 0
		page := func(from int64, most int, each func(engine.Tally) error) error {
			pages++
			for _, x := range all {
				if x.Value < from {
					continue
				}
				if most--; most < 0 {
					break
				}
				if err := each(x); err != nil {
					return err
				}
			}
			return nil
		}
		got, last, before := map[string]int64{}, int64(math.MinInt64), 0
		err := engine.ScanCells(b, 1+r.IntN(12), page)(func(cell int, v, n int64) bool {
			if v < last || v == last && cell < before {
				t.Fatalf("%d of cell %d after %d of cell %d", v, cell, last, before)
			}
			last, before = v, cell
			got[fmt.Sprint(cell, " ", v)] += n
			return true
		})
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("%v in %d pages: %v, want %v, %v", all, pages, got, want, err)
		}
		steps := 0
		if err := engine.ScanCells(b, 3, page)(func(int, int64, int64) bool { steps++; return false }); err != nil ||
			steps != min(1, len(want)) {
			t.Fatalf("a pass that ends early took %d steps, %v", steps, err)
		}
	}
	broken := errors.New("broken")
	if err := engine.ScanCells(b, 3,
		func(int64, int, func(engine.Tally) error) error { return broken })(nil); !errors.Is(err, broken) {
		t.Error(err)
	}
}
