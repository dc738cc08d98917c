package sensitivity_test

import (
	"math/big"
	"testing"

	"dither/internal/bounded"
	"dither/internal/sensitivity"
	"dither/privacy"
)

// Of all databases of up to so many units, and of all their neighbours under change-one, some spreads differ by the computed
// sensitivity, and none by more. A unit may have no value.
func TestSpreadOfAllNeighbours(t *testing.T) {
	const missing = 99
	for _, c := range []struct{ units, lo, hi int64 }{
		{2, -1, 1}, {2, -3, 4}, {3, -2, 2}, {3, 0, 3}, {3, -3, 0}, {4, -2, 1}, {5, -1, 1}, {4, 0, 0}, {4, 1, 3},
	} {
		m := &bounded.Measure{Kind: bounded.Spread, X: &bounded.Expr{}, Lo: c.lo, Hi: c.hi, Size: c.units}
		by := sensitivity.OfMeasure(m, privacy.ChangeOne, bounded.Caps{Rows: 1}, false)
		values := []int64{missing}
		for v := c.lo; v <= c.hi; v++ {
			values = append(values, v)
		}
		most := int64(1) // a sensitivity is at least 1
		var all func(rows []int64)
		all = func(rows []int64) {
			if int64(len(rows)) < c.units {
				for _, v := range values {
					all(append(rows, v))
				}
				return
			}
			sum, squares := int64(0), int64(0)
			for _, d := range rows[1:] {
				if d != missing {
					sum, squares = sum+d, squares+d*d
				}
			}
			spread := func(d int64) int64 {
				if d == missing {
					return c.units*squares - sum*sum
				}
				return c.units*(squares+d*d) - (sum+d)*(sum+d)
			}
			for _, d := range values {
				most = max(most, spread(d)-spread(rows[0]))
			}
		}
		all(nil)
		lo, hi := min(c.lo, 0), max(c.hi, 0)
		if want := max((c.units-1)*(hi-lo)*(hi-lo), 1); !by.L1.IsInt64() || by.L1.Int64() != want || by.L1.Int64() < most {
			t.Errorf("%+v: sensitivity %s, want %d; some spreads differ by %d", c, by.L1, want, most)
		}
		if c.lo <= 0 && c.hi >= 0 && by.L1.Int64() != most {
			t.Errorf("%+v: sensitivity %s, and no spreads differ by more than %d", c, by.L1, most)
		}
		if by.L2Squared.Cmp(new(big.Int).Mul(by.L1, by.L1)) != 0 {
			t.Errorf("%+v: one number moves by %s, and by √%s in L2", c, by.L1, by.L2Squared)
		}
	}
}
