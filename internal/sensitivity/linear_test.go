package sensitivity

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/internal/bounded"
	"dither/mechanism/linear"
	"dither/privacy"
)

// contributions are all vectors over so many cells that at most so many rows make, each of a value in [lo, hi] in one
// cell.
func contributions(cells int, rows, lo, hi int64) (out [][]int64) {
	seen := map[[3]int64]bool{}
	var add func(c [3]int64, left int64)
	add = func(c [3]int64, left int64) {
		if !seen[c] {
			seen[c] = true
			out = append(out, append([]int64(nil), c[:cells]...))
		}
		if left == 0 {
			return
		}
		for i := range cells {
			for v := lo; v <= hi; v++ {
				next := c
				next[i] += v
				add(next, left-1)
			}
		}
	}
	add([3]int64{}, rows)
	return out
}

// No two neighbours on up to three cells have answers further apart than the sensitivity, whatever the cap on rows, the
// bounds of a row and the relation; under add/remove, and in L2 for counts under change-one, some are as far.
func TestStrategiesMoveAtMostAsPlanned(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	tried := 0
	for range 800 {
		cells, rows := 1+r.IntN(3), 1+r.Int64N(3)
		lo, hi := -r.Int64N(2), r.Int64N(3)
		m := bounded.Measure{Kind: bounded.Sum, Lo: lo, Hi: hi}
		if r.IntN(2) == 0 {
			lo, hi = 1, 1
			m = bounded.Measure{Kind: bounded.CountRows, Hi: 1}
		}
		entries := make([][]int64, 1+r.IntN(4))
		for i := range entries {
			for range cells {
				entries[i] = append(entries[i], r.Int64N(7)-3+3*r.Int64N(2))
			}
		}
		matrix, err := linear.Dense(entries)
		if err != nil {
			t.Fatal(err)
		}
		s, err := linear.NewStrategy(linear.Product{matrix})
		if err != nil {
			t.Fatal(err)
		}
		of := contributions(cells, rows, lo, hi)
		for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne} {
			others := [][]int64{make([]int64, cells)}
			if n == privacy.ChangeOne {
				others = of
			}
			most1, most2 := int64(0), int64(0)
			for _, u := range of {
				for _, w := range others {
					l1, l2 := int64(0), int64(0)
					for _, row := range entries {
						d := int64(0)
						for j, a := range row {
							d += a * (u[j] - w[j])
						}
						l1, l2 = l1+max(d, -d), l2+d*d
					}
					most1, most2, tried = max(most1, l1), max(most2, l2), tried+1
				}
			}
			got := OfStrategy(s, &m, n, rows)
			if got.L1.Cmp(big.NewInt(most1)) < 0 || got.L2Squared.Cmp(big.NewInt(most2)) < 0 {
				t.Fatalf("%v, %s, %d rows, %v: moves by %d, squared L2 %d; planned %s, %s", entries,
					&m, rows, n, most1, most2, got.L1, got.L2Squared)
			}
			exact := n == privacy.AddRemove || m.Kind == bounded.CountRows
			loose := got.L2Squared.Cmp(big.NewInt(most2)) != 0 || n == privacy.AddRemove && got.L1.Cmp(big.NewInt(most1)) != 0
			if most2 > 0 && exact && loose {
				t.Errorf("%v, %s, %d rows, %v: planned %s, %s, and it moves by %d, squared L2 %d at most", entries,
					&m, rows, n, got.L1, got.L2Squared, most1, most2)
			}
		}
	}
	if tried < 100_000 {
		t.Errorf("only %d pairs", tried)
	}
}
