package interpret

import (
	"math/big"

	"dither/account"
	"dither/internal/exact"
	"dither/privacy"
)

// Bounds that single theorems give for a promise between two hypotheses. The promise is for the step that joins them: a
// promise of ε for one person more or less joins two values of one person in two steps, and is a promise of 2ε for
// those (account.Approximate.Group).

// MostGuessed is the most that any attacker achieves on average, rounded up, at guessing which of two equally probable
// hypotheses holds, as whether a secret bit is 0 or 1, from an answer that keeps the promise between them, whatever
// else the attacker knows: (1 + advantage)/2, which is e^ε/(1+e^ε) where δ is 0. For to guess 1 with probability p
// where it is, and with q where it is not, is to be right with probability (p + 1−q)/2 [Kairouz, Oh & Viswanath
// 2015]. Several bits that are independent are guessed no better each on average, as knowing the others is among what
// the attacker may know.
func MostGuessed(p account.Approximate) float64 {
	return exact.AddUp(1, stretchOf(p.Epsilon).advantage(p.Delta)) / 2
}

// MostFound is the highest rate of true positives, rounded up, of any test between two hypotheses that the promise
// joins, whose rate of false positives is at most alpha: the lesser of e^ε·α + δ and 1 − e^−ε(1 − α − δ)
// [Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015]. It is 1 if alpha is no rate.
func MostFound(p account.Approximate, alpha *big.Rat) float64 {
	if alpha == nil || alpha.Sign() < 0 {
		return 1
	}
	return stretchOf(p.Epsilon).power(alpha, p.Delta)
}

// Shamed is the probability that name-and-shame with this δ publishes somebody among n people: 1 − (1−δ)ⁿ; see
// Named.
func Shamed(d privacy.Delta, people int64) Between {
	switch {
	case people < 1:
		return Between{}
	case d.Rat().Cmp(big.NewRat(1, 1)) >= 0:
		return Between{1, 1}
	}
	return named(d, people).Probability
}
