package sensitivity

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/mechanism/linear"
	"dither/privacy"
)

// OfStrategy returns how far the answers of a strategy can move. The strategy's matrix A is applied to the vector of a
// measure's cells (groups). At most `rows` rows of one unit count. The measure must be Additive.
//
// Claim: the answers move by at most L1 in L1 norm, and by at most the square root of L2Squared in L2 norm. Under
// add/remove, both are attained if all rows of a unit may lie in one cell and have the largest magnitude.
//
// Proof. Let a_j be the columns of A. A unit's own rows alone decide which of its rows count, and at most r of them do.
// Row k adds an integer v_k in [Lo, Hi] to one cell j_k. So the unit contributes u = Σ v_k e_{j_k} to the cells and Au
// = Σ v_k a_{j_k} to the answers. Let M = max(|Lo|, |Hi|), and let N be the largest norm of a column. By the triangle
// inequality, ‖Au‖ ≤ Σ |v_k|·‖a_{j_k}‖ ≤ rMN, in L1 and in L2 norm.
//
// Under add/remove, the answers differ by Au. Under change-one, they differ by Au − Au′. So they differ by at most 2rMN
// in norm. For squared L2 norms, ‖Au − Au′‖² = ‖Au‖² + ‖Au′‖² − 2(Au)·(Au′) ≤ 4(rMN)². It is at most 2(rMN)² if no
// entry of A is negative and all v_k have one sign, because then (Au)·(Au′) ≥ 0.
//
// Change-one has a second bound. Let both units have r rows, some of which may be missing, and let a missing row have
// the value 0. Pair the rows of the two units. Then Au − Au′ is a sum of r differences v·a_i − v′·a_j, where v and v′
// are in [min(Lo, 0), max(Hi, 0)]. So ‖Au − Au′‖ ≤ r·D for the largest norm D of such a difference
// (linear.Strategy.Apart). The result is the smaller bound, and at least 1. ∎
func OfStrategy(s linear.Strategy, m *bounded.Measure, n privacy.Neighbours, rows int64) Bound {
	lo, hi := big.NewInt(min(m.Lo, 0)), big.NewInt(max(m.Hi, 0))
	most := exact.Larger(new(big.Int).Neg(lo), hi)
	square := func(x *big.Int) *big.Int { return new(big.Int).Mul(x, x) }
	l1, l2squared := s.Norms()
	l1.Mul(l1, most)
	l2squared.Mul(l2squared, square(most))
	if n == privacy.ChangeOne {
		signed := lo.Sign() < 0 && hi.Sign() > 0
		l1.Lsh(l1, 1)
		l2squared.Lsh(l2squared, 1)
		if signed || !s.Signless() {
			l2squared.Lsh(l2squared, 1)
		}
		apart1, apart2 := s.Apart(lo, hi)
		if apart1 != nil {
			l1 = exact.Smaller(l1, apart1)
		}
		if apart2 != nil {
			l2squared = exact.Smaller(l2squared, apart2)
		}
	}
	r, one := big.NewInt(rows), big.NewInt(1)
	return Bound{
		L1:        exact.Larger(new(big.Int).Mul(l1, r), one),
		L2Squared: exact.Larger(new(big.Int).Mul(l2squared, square(r)), one),
	}
}
