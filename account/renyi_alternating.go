package account

import (
	"math/big"

	"dither/internal/exact"
)

// alternating returns S = Σ_k (−1)^k·a_k, where a_k = ∫x^k dm for some measure m ≥ 0 on [0, 1]. It uses about 2/5
// as many terms as bits, by an acceleration of the series [Cohen, Rodriguez Villegas & Zagier 2000, Algorithm 1].
//
// Proof. S = ∫1/(1+x) dm. Let T_n be Chebyshev's polynomial and P(x) = T_n(1−2x). Then (P(−1) − P(x))/(1+x) is a
// polynomial. Its integral divided by P(−1) is S_n, a combination of the first n of the a_k. Since |P| ≤ 1 on [0,
// 1], |S − S_n| ≤ S/P(−1) ≤ a₀/P(−1). P(−1) = T_n(3) is about (3+√8)ⁿ/2. ∎
//
// The a_k of a sampled Gaussian have this form. Let α be the order, and C(α,i) a binomial coefficient. For i > α,
// |C(α,i)| is a constant times the Beta function B(i−α, α+1) = ∫t^(i−α−1)(1−t)^α dt, a moment of order i. The
// normal integrals are moments of order i of the ratio of two parts of a mixture, restricted to where the ratio is
// at most 1. A product of two moments of one order is a moment of the product of independent variables.
func alternating(bits uint, a func(k int64) exact.Interval) exact.Interval {
	n := int64(bits)*2/5 + 2 // log₂(3+√8) > 5/2
	last, d := big.NewInt(1), big.NewInt(3)
	for range n - 1 { // the recurrence T_{k+1}(3) = 6·T_k(3) − T_{k−1}(3)
		next := new(big.Int).Mul(big.NewInt(6), d)
		last, d = d, next.Sub(next, last)
	}
	b, c := big.NewInt(-1), new(big.Int).Neg(d)
	number := func(n *big.Int) exact.Interval { return exact.IntervalOf(new(big.Rat).SetInt(n), bits) }
	sum, doubt := whole(0, bits), whole(0, bits)
	for k := range n {
		c.Sub(b, c)
		term := a(k)
		if k == 0 {
			doubt = exact.Hull(whole(0, bits).Sub(term), term).Quo(number(d))
		}
		sum = sum.Add(number(c).Mul(term))
		b.Mul(b, big.NewInt(2*(k+n)*(k-n)))
		b.Quo(b, big.NewInt((2*k+1)*(k+1))) // exact: these are the coefficients of T_n(1−2x)
	}
	return sum.Quo(number(d)).Add(doubt)
}
