package account

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// certainty is the precision, in bits, of interval evaluations that are rounded to a float64 at the end.
const certainty = 256

// steepest bounds an ε whose exponential is computed: far beyond any promise, and far within exact.Interval.Exp.
const steepest = 100_000

// Advanced is advanced composition [Dwork, Rothblum & Vadhan 2010, Theorem III.3], with unequal parts: mechanisms of
// promises (εᵢ, δᵢ), kᵢ of each, are together (epsilon, delta)-differentially private with
//
//	epsilon = √(2·ln(1/slack)·Σkᵢεᵢ²) + Σkᵢεᵢ(e^εᵢ − 1),  delta = Σkᵢδᵢ + slack.
//
// epsilon is rounded up, and may be +Inf; delta is exact, and at most 1. It is the textbook's figure, for comparison: a
// privacy loss distribution is never above it.
//
// Proof. As at Basic, everything is pure except with probability Σkᵢδᵢ. Given the answers before it, the loss
// Zᵢ of a pure mechanism lies in [−εᵢ, εᵢ] and has a mean of at most εᵢ(e^εᵢ−1) [ibid., Lemma III.2],
// so that by Azuma's inequality ΣZᵢ exceeds its mean by more than t with probability at most
// exp(−t²/(2Σεᵢ²)), which is slack at t = √(2·ln(1/slack)·Σεᵢ²). ∎
//
// A slack of 0 or 1, and a negative count, is ErrParameter.
func Advanced(parts []Repeated, slack privacy.Delta) (epsilon float64, delta privacy.Delta, err error) {
	if slack.IsZero() || slack.Rat().Cmp(one) >= 0 {
		return 0, privacy.Delta{},
			fmt.Errorf("%w: the slack of advanced composition must be above 0 and below 1", ErrParameter)
	}
	for _, p := range parts {
		if p.Count < 0 {
			return 0, privacy.Delta{}, fmt.Errorf("%w: a count of %d", ErrParameter, p.Count)
		}
		if p.Epsilon.Rat().Cmp(big.NewRat(steepest, 1)) > 0 {
			return 0, privacy.Delta{}, fmt.Errorf("%w: an ε beyond %d", ErrParameter, steepest)
		}
	}
	mean, squares := advancedMoments(parts)
	spread := number(2).Mul(surprise(slack)).Mul(squares).Hi()
	total := new(big.Float).SetPrec(certainty).SetMode(big.ToPositiveInf).Add(rootAbove(spread), mean.Hi())
	return floatAbove(total), Basic(parts...).Delta.Plus(slack), nil
}

// advancedMoments are Σkᵢεᵢ(e^εᵢ − 1) and Σkᵢεᵢ².
func advancedMoments(parts []Repeated) (mean, squares exact.Interval) {
	mean, squares = number(0), number(0)
	for _, p := range parts {
		k, x := number(p.Count), exact.IntervalOf(p.Epsilon.Rat(), certainty)
		mean = mean.Add(k.Mul(x).Mul(x.Exp().Sub(number(1))))
		squares = squares.Add(k.Mul(x).Mul(x))
	}
	return mean, squares
}

// advancedSlack is the slack, rounded up, at which Advanced returns an ε of at most e:
// exp(−(e−mean)²/(2Σkᵢεᵢ²)). It returns false if no slack below 1 exists, because e is at most the mean, and if an εᵢ is
// one that Advanced refuses.
func advancedSlack(parts []Repeated, e privacy.Epsilon) (slack *big.Float, ok bool) {
	for _, p := range parts {
		if p.Epsilon.Rat().Cmp(big.NewRat(steepest, 1)) > 0 {
			return nil, false
		}
	}
	mean, squares := advancedMoments(parts)
	if squares.Lo().Sign() <= 0 {
		return new(big.Float), true // nothing is lost at all
	}
	room := exact.IntervalOf(e.Rat(), certainty).Sub(mean)
	if room.Lo().Sign() <= 0 {
		return nil, false
	}
	power := room.Mul(room).Quo(squares).Quo(number(2))
	if power.Lo().Cmp(big.NewFloat(steepest)) > 0 {
		power = number(steepest) // e^−100,000 is below any float
	}
	return number(0).Sub(power).Exp().Hi(), true
}

var one = big.NewRat(1, 1) // never changed

func number(n int64) exact.Interval { return exact.IntervalOf(new(big.Rat).SetInt64(n), certainty) }

// surprise is ln(1/δ) = ln(1 + (1−δ)/δ), for 0 < δ ≤ 1.
func surprise(d privacy.Delta) exact.Interval {
	odds := new(big.Rat).Sub(one, d.Rat())
	return exact.IntervalOf(odds.Quo(odds, d.Rat()), certainty).Log1p()
}

// rootAbove is an upper bound of √x, x ≥ 0. big.Float's root is correct except for its last bits, so it is widened
// by 2⁻²⁰⁰ of itself.
func rootAbove(x *big.Float) *big.Float {
	root := new(big.Float).SetPrec(certainty).Sqrt(x)
	wide := new(big.Float).SetPrec(certainty).SetMode(big.ToPositiveInf)
	return wide.Mul(root, new(big.Float).SetPrec(certainty).Add(big.NewFloat(1), big.NewFloat(0x1p-200)))
}
