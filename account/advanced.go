package account

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// certainty is the precision in bits of interval evaluations whose results are rounded to a float64.
const certainty = 256

// steepest is the largest ε whose exponential is computed. It is far beyond any useful promise, and within the
// range of exact.Interval.Exp.
const steepest = 100_000

// Advanced returns the joint promise of several mechanisms by advanced composition [Dwork, Rothblum & Vadhan 2010,
// Theorem III.3], with unequal parts. If parts has kᵢ mechanisms with promises (εᵢ, δᵢ), they are together
// (epsilon, delta)-differentially private with
//
//	epsilon = √(2·ln(1/slack)·Σkᵢεᵢ²) + Σkᵢεᵢ(e^εᵢ − 1),  delta = Σkᵢδᵢ + slack.
//
// epsilon is rounded up, and may be +Inf. delta is exact, and at most 1. This is the textbook figure, for
// comparison. The ε of a privacy loss distribution is never above it.
//
// Proof. The sums in this proof run over the single mechanisms. As in the proof of Basic, every mechanism keeps its
// pure promise εᵢ, except with probability at most Σδᵢ. Given the answers before it, the loss Zᵢ of a pure
// mechanism lies in [−εᵢ, εᵢ] and has a mean of at most εᵢ(e^εᵢ−1) [ibid., Lemma III.2]. By Azuma's inequality, ΣZᵢ
// exceeds the sum of these means by more than t with probability at most exp(−t²/(2Σεᵢ²)). This probability is
// slack at t = √(2·ln(1/slack)·Σεᵢ²). ∎
//
// Advanced returns ErrParameter for a slack of 0 or 1, a negative count, or an ε beyond 100,000.
func Advanced(parts []Repeated, slack privacy.Delta) (epsilon float64, delta privacy.Delta, err error) {
	if slack.IsZero() || slack.Rat().Cmp(one) >= 0 {
		return 0, privacy.Delta{},
			fmt.Errorf("%w: the slack of advanced composition must be above 0 and below 1", ErrParameter)
	}
	for _, p := range parts {
		if p.Count < 0 {
			return 0, privacy.Delta{}, fmt.Errorf("%w: the count cannot be %d", ErrParameter, p.Count)
		}
		if p.Epsilon.Rat().Cmp(big.NewRat(steepest, 1)) > 0 {
			return 0, privacy.Delta{}, fmt.Errorf("%w: an ε must not exceed %d", ErrParameter, steepest)
		}
	}
	mean, squares := advancedMoments(parts)
	spread := number(2).Mul(surprise(slack)).Mul(squares).Hi()
	total := new(big.Float).SetPrec(certainty).SetMode(big.ToPositiveInf).Add(rootAbove(spread), mean.Hi())
	return floatAbove(total), Basic(parts...).Delta.Plus(slack), nil
}

// advancedMoments returns Σkᵢεᵢ(e^εᵢ − 1) and Σkᵢεᵢ², in the notation of Advanced.
func advancedMoments(parts []Repeated) (mean, squares exact.Interval) {
	mean, squares = number(0), number(0)
	for _, p := range parts {
		k, x := number(p.Count), exact.IntervalOf(p.Epsilon.Rat(), certainty)
		mean = mean.Add(k.Mul(x).Mul(x.Exp().Sub(number(1))))
		squares = squares.Add(k.Mul(x).Mul(x))
	}
	return mean, squares
}

// advancedSlack returns the slack, rounded up, at which Advanced returns an ε of at most e. With mean = Σkᵢεᵢ(e^εᵢ
// − 1), it is exp(−(e−mean)²/(2Σkᵢεᵢ²)). ok is false if e is at most mean, because no slack below 1 exists then, or
// if some εᵢ is beyond the limit of Advanced.
func advancedSlack(parts []Repeated, e privacy.Epsilon) (slack *big.Float, ok bool) {
	for _, p := range parts {
		if p.Epsilon.Rat().Cmp(big.NewRat(steepest, 1)) > 0 {
			return nil, false
		}
	}
	mean, squares := advancedMoments(parts)
	if squares.Lo().Sign() <= 0 {
		return new(big.Float), true // all εᵢ are 0
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

// surprise returns ln(1/δ), for 0 < δ ≤ 1. It computes ln(1 + (1−δ)/δ).
func surprise(d privacy.Delta) exact.Interval {
	odds := new(big.Rat).Sub(one, d.Rat())
	return exact.IntervalOf(odds.Quo(odds, d.Rat()), certainty).Log1p()
}

// rootAbove returns an upper bound of √x, for x ≥ 0. It widens the root by the factor 1 + 2⁻²⁰⁰, because
// big.Float's root may be wrong in its last bits.
func rootAbove(x *big.Float) *big.Float {
	root := new(big.Float).SetPrec(certainty).Sqrt(x)
	wide := new(big.Float).SetPrec(certainty).SetMode(big.ToPositiveInf)
	return wide.Mul(root, new(big.Float).SetPrec(certainty).Add(big.NewFloat(1), big.NewFloat(0x1p-200)))
}
