package sensitivity

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/privacy"
)

// WithFew returns a bound for a count of distinct values that is no larger than b, if the number of values is known,
// and for a sum of distinct values (withDistinct has its proof). For any other measure it returns b. The parameter
// cells is the number of cells (groups) of the vector, or 0 if that number is unknown.
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
	if m.Kind == bounded.SumDistinct && caps.Rows > 0 {
		return b.withDistinct(m, n, caps.Rows, cells)
	}
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

// withDistinct returns a bound for a sum of distinct values that is no larger than b. The parameter rows is the cap on
// rows, and cells is the number of cells (groups) of the vector, or 0 if that number is unknown.
//
// Claim: the vector moves by at most L1 in L1 norm, and by at most the square root of L2Squared in L2 norm.
//
// Proof. Each counting row has an integer in [Lo, Hi], to which the engine clamps before it looks for repeated values.
// So, as in the proof at OfMeasure, the unit's own rows determine a set P of at most R pairs of a cell and such an
// integer, where R is the cap on rows. The sum of a cell is the sum of its integers in the union of all units' sets.
// Let c have, for each cell, the sum of the integers whose pairs are in P and in no other unit's set. The integers of
// one cell are distinct. So each cᵢ lies in [−N, A], where A is the sum of the R largest positive integers in [Lo, Hi],
// or of all if they are fewer, and N is the same for the negative ones. Let M := max(|Lo|, |Hi|) and B := max(A, N).
// The pairs are at most R, so ‖c‖₁ ≤ S := R·M, and with C cells also ‖c‖₁ ≤ C·B. And ‖c‖₂² ≤ maxᵢ|cᵢ|·‖c‖₁ ≤ B·S.
//
// Under add/remove, the sums differ by c. Under change-one, they differ by d = c − c′, where both are relative to the
// same union of the other units' sets. So ‖d‖₁ ≤ 2S and ‖d‖₂² ≤ 4·B·S. If all integers have one sign, c·c′ ≥ 0, so
// ‖d‖₂² ≤ 2·B·S. With one cell, c and c′ both lie in [−N, A], so |d| ≤ A + N. ∎
//
// Each number is at least 1, as b's are. Grouping sets have a vector each. If each row is a unit, R = 1.
func (b Bound) withDistinct(m *bounded.Measure, n privacy.Neighbours, rows int64, cells int) Bound {
	a, neg := largest(max(m.Lo, 1), m.Hi, rows), largest(max(-m.Hi, 1), -m.Lo, rows)
	most := exact.Larger(a, neg)
	l1 := new(big.Int).Mul(big.NewInt(rows), big.NewInt(max(-m.Lo, m.Hi, 0)))
	if cells > 0 {
		l1 = exact.Smaller(l1, new(big.Int).Mul(most, big.NewInt(int64(cells))))
	}
	squares := new(big.Int).Mul(l1, most)
	if n == privacy.ChangeOne {
		l1, squares = new(big.Int).Lsh(l1, 1), squares.Lsh(squares, 1)
		if a.Sign() > 0 && neg.Sign() > 0 {
			squares.Lsh(squares, 1)
		}
		if cells == 1 {
			l1 = exact.Smaller(l1, new(big.Int).Add(a, neg))
			squares = exact.Smaller(squares, new(big.Int).Mul(l1, l1))
		}
	}
	one := big.NewInt(1)
	return Bound{
		L1:        exact.Smaller(b.L1, exact.Larger(l1, one)),
		L2Squared: exact.Smaller(b.L2Squared, exact.Larger(squares, one)),
	}
}

// largest returns the sum of the n largest integers from lo to hi, or of all of them if they are fewer. lo is positive.
func largest(lo, hi, n int64) *big.Int {
	if hi < lo {
		return new(big.Int)
	}
	n = min(n, hi-lo+1)
	out := new(big.Int).Mul(big.NewInt(n), big.NewInt(hi))
	fewer := new(big.Int).Mul(big.NewInt(n), big.NewInt(n-1))
	return out.Sub(out, fewer.Rsh(fewer, 1))
}
