package interpret

import (
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// Named is what a δ allows among n people: the mechanism that publishes, for each of them independently, the whole
// record with probability δ and otherwise nothing. It is (0, δ)-differentially private, and so keeps every promise
// with that δ: a person's record changes the output's law only if it is published, which has probability δ. A promise
// permits this mechanism, but a mechanism with that δ need not behave like it: Gaussian noise publishes nobody.
type Named struct {
	People      int64
	Probability Between // the probability that it publishes somebody, 1 − (1−δ)ⁿ
	Expected    float64 // the mean number of people published, δn, rounded up
	Warned      bool    // δ > 1/(100n)
}

// warnedAt is the n·δ above which a promise is warned of: a rule of thumb, and this program's own. By the union bound
// Probability ≤ n·δ, and it is nearly that while it is small: up to here such a mechanism names somebody in one
// release of a hundred at most. That δ must be far below 1/n is the advice everywhere [Dwork & Roth 2014, Section
// 2.3].
var warnedAt = big.NewRat(1, 100)

// named computes a Named for so many people. Its probability is 1 − (1−δ)ⁿ = 1 − e^−y with y = n·ln(1 + δ/(1−δ)).
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
		if y.Lo().Cmp(big.NewFloat(mostStretch)) < 0 { // a width of nothing around mostStretch
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
