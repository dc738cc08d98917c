package sensitivity

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/privacy"
)

// WithFew returns a bound for a count of distinct values that is no larger than b, if the number of values is known.
// For any other measure it returns b. The parameter cells is the number of cells (groups) of the vector, or 0 if that
// number is unknown.
//
// Claim: the vector moves by at most L1 in L1 norm, and by at most the square root of L2Squared in L2 norm.
//
// Proof. Let c and c′ be as in the proof at OfMeasure. Let K be the number of Values, R the cap on rows, and C
// the number of cells. A cell counts distinct values, of which there are K, so 0 ≤ cᵢ ≤ K. Also Σcᵢ ≤ R. So ‖c‖₁ ≤
// S := min(R, K·C). ‖c‖₂² is convex, so it is largest at a corner of the allowed set: as many cells as possible are
// K, and one cell has the rest. For x = qK + r with 0 ≤ r < K, let Q(x) := qK² + r². Then ‖c‖₂² ≤ Q(S).
//
// Under add/remove, the counts differ by c. Under change-one, they differ by d = c − c′. Now ‖d‖₁ ≤ ‖c‖₁ + ‖c′‖₁ ≤
// 2S, and each |dᵢ| ≤ max(cᵢ, c′ᵢ) ≤ K. So ‖d‖₁ ≤ T := min(2S, K·C), and as before ‖d‖₂² ≤ Q(T). Also ‖d‖₂² ≤ ‖c‖₂²
// + ‖c′‖₂² ≤ 2Q(S), because c·c′ ≥ 0. With one cell, |d| ≤ max(c, c′) ≤ S. ∎
//
// The proof uses the size of P and its number of values only. So it holds for any grouping, and for any rows that a
// cap or a key drops. Grouping sets have a vector each. If each row is a unit, R = 1.
func (b Bound) WithFew(m *bounded.Measure, n privacy.Neighbours, caps bounded.Caps, cells int) Bound {
	if m.Kind != bounded.CountDistinct || m.Values == 0 || caps.Rows == 0 {
		return b
	}
	k := m.Values
	most := caps.Rows
	if cells > 0 {
		most = min(most, k*int64(cells))
	}
	l1, squares := most, corner(most, k)
	if n == privacy.ChangeOne && cells != 1 {
		l1 = 2 * most
		if cells > 0 {
			l1 = min(l1, k*int64(cells))
		}
		squares = min(2*squares, corner(l1, k))
	}
	return Bound{
		L1:        exact.Smaller(b.L1, big.NewInt(max(l1, 1))),
		L2Squared: exact.Smaller(b.L2Squared, big.NewInt(max(squares, 1))),
	}
}

// corner returns the largest sum of squares of numbers from 0 to k whose sum is at most x.
func corner(x, k int64) int64 { return x/k*k*k + x%k*(x%k) }
