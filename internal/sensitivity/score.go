package sensitivity

import (
	"math/big"

	"dither/internal/bounded"
	"dither/privacy"
)

// OfScore returns the largest change of any one cell (group) of a measure, in grid units: the L∞ sensitivity of scores.
// It also reports whether the scores are monotonic.
//
// Claim: between neighbours, each score moves by at most the first result. If the scores are monotonic, no two of
// them move in opposite directions.
//
// Proof. Let c be the contribution of one unit to one cell. Contributions of other units do not depend on it. A row
// that counts adds an integer in [Lo, Hi], and any other row adds 0. Let k be the cap that bounds the unit, Rows or
// RowsPerGroup, or 1 for counts of units. Then k·min(Lo, 0) ≤ c ≤ k·max(Hi, 0). Under add/remove, the cell moves by c.
// Under change-one, it moves by c − c′, where both are in that range. If min(Lo, 0) or max(Hi, 0) is 0, then under
// add/remove all cells move up or all move down. The first result is at least 1, which is sound for a score that is
// always 0. ∎
func OfScore(m *bounded.Measure, n privacy.Neighbours, caps bounded.Caps) (most *big.Int, monotonic bool) {
	k := caps.Rows
	if k == 0 {
		k = caps.RowsPerGroup
	}
	if m.OfUnits() {
		k = 1
	}
	lo, hi := big.NewInt(min(m.Lo, 0)), big.NewInt(max(m.Hi, 0))
	most = new(big.Int).Sub(hi, lo)
	if n == privacy.AddRemove {
		monotonic = lo.Sign() == 0 || hi.Sign() == 0
		most = hi
		if lo.CmpAbs(hi) > 0 {
			most = lo.Neg(lo)
		}
	}
	most.Mul(most, big.NewInt(k))
	if most.Sign() == 0 {
		most.SetInt64(1)
	}
	return most, monotonic
}
