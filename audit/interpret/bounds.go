package interpret

import (
	"math/big"

	"dither/account"
	"dither/internal/exact"
	"dither/privacy"
)

// The functions below give bounds from single theorems, for a promise between two hypotheses. The promise must be
// for the step that joins the hypotheses. For example, a promise of ε for adding or removing one person joins two
// values of one person in two steps. So it is a promise of 2ε for these values, which account.Approximate.Group
// computes.

// MostGuessed returns the largest probability, rounded up, with which any attacker guesses which of two equally
// probable hypotheses holds. The attacker sees an answer that keeps the promise between the hypotheses, and may
// know anything else. An example is a secret bit that is 0 or 1. The probability is (1 + advantage)/2, which is
// e^ε/(1+e^ε) if δ is 0.
//
// Proof: suppose that the attacker guesses 1 with probability p if the bit is 1, and with probability q if it is 0.
// Then the guess is right with probability (p + 1−q)/2, and p − q is at most the advantage [Kairouz, Oh & Viswanath
// 2015]. ∎ For several independent bits, the same bound holds for the average bit, because the attacker may know
// the other bits.
func MostGuessed(p account.Approximate) float64 {
	return exact.AddUp(1, stretchOf(p.Epsilon).advantage(p.Delta)) / 2
}

// MostFound returns the largest true positive rate, rounded up, of any test between two hypotheses with a false
// positive rate of at most alpha, if the promise holds between the hypotheses. It is the smaller of e^ε·α + δ and 1
// − e^−ε(1 − α − δ) [Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015]. It is 1 if alpha is nil or negative.
func MostFound(p account.Approximate, alpha *big.Rat) float64 {
	if alpha == nil || alpha.Sign() < 0 {
		return 1
	}
	return stretchOf(p.Epsilon).power(alpha, p.Delta)
}

// Shamed returns the probability that name-and-shame with this δ publishes somebody among the given number n of
// people: 1 − (1−δ)ⁿ. [Named] describes this mechanism.
func Shamed(d privacy.Delta, people int64) Between {
	switch {
	case people < 1:
		return Between{}
	case d.Rat().Cmp(big.NewRat(1, 1)) >= 0:
		return Between{1, 1}
	}
	return named(d, people).Probability
}
