package strategy

import (
	"math"
	"math/big"
	"os"
	"testing"
)

// For 1,095 running totals the largest error is within 2 % of 2.982, the lower bound; the square root of the matrix of
// running totals has 3.294.
func TestMinimax(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64, 1095} {
		if n > 100 && os.Getenv("DITHER_LONG") != "1" {
			continue
		}
		m := must[*Minimax](t)(MinimaxPrefixes(n))
		if !(m.Maximum >= m.Bound && m.Maximum <= m.Bound*1.001) {
			t.Errorf("for %d totals the maximum is %g, and the bound %g", n, m.Maximum, m.Bound)
		}
		if n == 1095 {
			near(t, "the bound for 1,095 totals", m.Bound, 2.982, 5e-4)
		}
		for i, r := range m.Matrix.Rows {
			if r.First != 0 || len(r.Entries) != i+1 || r.Entries[i] <= 0 {
				t.Fatalf("row %d of %d is not lower triangular", i, n)
			}
		}
		_, squared := m.Matrix.Norms()
		f, _ := new(big.Float).SetInt(squared).Float64()
		near(t, "the largest norm", math.Sqrt(f)/(1<<entryBits), 1, 1e-6)
	}
	if second(MinimaxPrefixes(0)) == nil || second(MinimaxPrefixes(MaxOptimised+1)) == nil {
		t.Error("sizes outside the limits are not refused")
	}
}
