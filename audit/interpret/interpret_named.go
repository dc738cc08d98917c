package interpret

import (
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// Named describes name-and-shame, the worst mechanism that a δ permits for n people. For each person independently,
// it publishes the whole record with probability δ, and otherwise nothing. It is (0, δ)-differentially private: a
// person's record affects the output only if it is published, which has probability δ. So it keeps every promise
// with that δ. Other mechanisms with the same δ need not behave like it: Gaussian noise publishes nobody's record.
type Named struct {
	People      int64
	Probability Between // the probability that it publishes somebody, 1 − (1−δ)ⁿ
	Expected    float64 // the mean number of people published, δn, rounded up
	Warned      bool    // whether δ > 1/(100n)
}

// warnedAt is the largest n·δ without a warning. By the union bound, Probability is at most n·δ, and it is close to
// n·δ while that is small. So up to this limit, the mechanism names somebody in at most one of a hundred releases.
// The number is this project's own rule of thumb. The general advice is that δ must be far below 1/n [Dwork & Roth
// 2014, Section 2.3].
var warnedAt = big.NewRat(1, 100)

// named returns the Named for a δ and a number n of people. It computes the probability 1 − (1−δ)ⁿ as 1 − e^−y with
// y = n·ln(1 + δ/(1−δ)).
func named(d privacy.Delta, people int64) Named {
	n := new(big.Rat).SetInt64(people)
	many := new(big.Rat).Mul(n, d.Rat())
	told := Named{People: people, Expected: exact.FloatUp(many), Warned: many.Cmp(warnedAt) > 0}
	if d.IsZero() {
		return told
	}
	bits := uint(192)
	rest := new(big.Rat).Sub(big.NewRat(1, 1), d.Rat())
	y := exact.IntervalOf(rest.Quo(d.Rat(), rest), bits).Log1p().Mul(exact.IntervalOf(n, bits))
	if y.Hi().Cmp(big.NewFloat(mostStretch)) > 0 {
		if y.Lo().Cmp(big.NewFloat(mostStretch)) < 0 { // y is too close to mostStretch to compare
			told.Probability = Between{0, 1}
			return told
		}
		told.Probability = Between{exact.SubDown(1, 0x1p-1000), 1}
		return told
	}
	lower, upper := y.Expm1().Quo(y.Exp()).Floats()
	told.Probability = Between{max(lower, 0), min(upper, 1)}
	return told
}
