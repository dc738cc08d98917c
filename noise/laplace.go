// Package noise holds the noise distributions of answers: exact draws, and their mass, variance, quantiles and tails.
// Everything in it is a function of public parameters.
//
// Draws are exact (see the postconditions of their methods). Masses, distribution functions and the variances of the
// discrete Laplace and the staircase are floats near the real value. Tails, two-sided quantiles and other variances are
// bounds, rounded to the safe side.
package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
)

// Limits on a scale. A scale beyond them is probably a mistake, and its numbers may be an attempt to exhaust memory.
const (
	MaxScaleBits       = 200  // a scale is at most 2^MaxScaleBits
	MaxDenominatorBits = 2048 // and its denominator at most 2^MaxDenominatorBits
)

// ErrScale reports a scale, or a σ², that is nil, not above 0, or beyond the limits.
var ErrScale = errors.New("invalid noise scale")

// DiscreteLaplace is the distribution over the integers with P(x) = (1 − p)/(1 + p)·p^|x|, p = exp(−1/scale): the
// two-sided geometric distribution [Ghosh, Roughgarden & Sundararajan 2009].
//
// It is the distribution of ⌊E₁⌋ − ⌊E₂⌋ for independent exponential E₁, E₂ of mean scale. For
// P(⌊E⌋ ≥ k) = exp(−k/scale) = pᵏ, so ⌊E⌋ is geometric, and P(⌊E₁⌋ − ⌊E₂⌋ = x) = Σ_j (1
// − p)p^(j+|x|)·(1 − p)pʲ = (1 − p)²p^|x|/(1 − p²). Since E₁ − E₂ is a continuous Laplace L of the
// same scale, and dropped fractions differ by less than 1, there is a coupling with
//
//	|X − L| < 1.
//
// So a bound on a continuous Laplace carries over with 1 added: P(|X| > k + 1) ≤ P(|L| > k), and for a real factor u
// the product uX is within |u| of uL. The coupling is for proofs; draws do not go through it.
//
// A DiscreteLaplace is immutable; NewDiscreteLaplace makes it. The zero value is no distribution: its methods panic,
// because the alternative would be no noise.
type DiscreteLaplace struct {
	scale  *big.Rat // positive, within the limits, never changed
	floats *floats  // near it
}

// NewDiscreteLaplace returns the distribution of a scale, in units of the integers drawn, or ErrScale.
func NewDiscreteLaplace(scale *big.Rat) (DiscreteLaplace, error) {
	if err := checkScale(scale, MaxScaleBits); err != nil {
		return DiscreteLaplace{}, err
	}
	return DiscreteLaplace{new(big.Rat).Set(scale), floatsOf(scale)}, nil
}

// floats are values derived from a distribution's parameter, computed once because they are used often.
type floats struct {
	near    float64 // the nearest; 0 if the parameter is below the floats
	up      float64 // the least float not below it
	inverse float64 // the nearest to 1/parameter; +Inf if that is above the floats
}

func floatsOf(parameter *big.Rat) *floats {
	near, _ := parameter.Float64()
	inverse, _ := new(big.Rat).Inv(parameter).Float64()
	return &floats{near, exact.FloatUp(parameter), inverse}
}

// checkScale is ErrScale for a scale, or a σ², that is nil, not above 0, or beyond 2^size or the limits of a
// fraction.
func checkScale(scale *big.Rat, size int) error {
	switch {
	case scale == nil || scale.Sign() <= 0:
		return fmt.Errorf("%w: it must be above 0", ErrScale)
	case scale.Denom().BitLen() > MaxDenominatorBits+1 || scale.Num().BitLen() > size+MaxDenominatorBits+1:
		return fmt.Errorf("%w: its fraction is too long", ErrScale)
	case scale.Denom().Cmp(powerOfTwo(MaxDenominatorBits)) > 0:
		return fmt.Errorf("%w: its denominator is beyond 2^%d", ErrScale, MaxDenominatorBits)
	case scale.Cmp(new(big.Rat).SetInt(powerOfTwo(uint(size)))) > 0:
		return fmt.Errorf("%w: it is beyond 2^%d", ErrScale, size)
	}
	return nil
}

func powerOfTwo(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

// Scale returns a copy of the scale.
func (d DiscreteLaplace) Scale() *big.Rat { return new(big.Rat).Set(d.scale) }

// Draw returns an integer with exactly this distribution, independent of every other draw, from the operating system's
// randomness. Its time depends on the draw. It is safe for concurrent use.
func (d DiscreteLaplace) Draw() *big.Int {
	source := entropy.System()
	defer source.Wipe()
	return sample.DiscreteLaplace(source, d.scale)
}

// Variance is 2p/(1 − p)², in squared units, to about 12 digits (fewer below 2^−1022); 0 if it is below the
// least float.
func (d DiscreteLaplace) Variance() float64 {
	rate := d.rate()
	q := -math.Expm1(-rate) // 1 − p, without cancellation where p is near 1
	return 2 * math.Exp(-rate) / q / q
}

// StdDev is the square root of the variance, in units, with the variance's accuracy.
func (d DiscreteLaplace) StdDev() float64 {
	rate := d.rate()
	return math.Sqrt2 * math.Exp(-rate/2) / -math.Expm1(-rate)
}

// Mass is P(X = x), to about 12 digits; 0 if it is below the least float.
func (d DiscreteLaplace) Mass(x *big.Int) float64 {
	return math.Tanh(d.rate()/2) * d.decay(new(big.Int).Abs(x)) // (1 − p)/(1 + p) = tanh(1/(2·scale))
}

// CDF is P(X ≤ x): below 0 to about 12 digits, from 0 on to about 1e-16. P(X > x) to 12 digits is CDF(−x − 1).
func (d DiscreteLaplace) CDF(x *big.Int) float64 {
	half := 1 + math.Exp(-d.rate())
	if x.Sign() < 0 {
		return d.decay(new(big.Int).Neg(x)) / half // Σ_{y ≥ |x|} P(y) = p^|x|/(1 + p)
	}
	return 1 - d.decay(new(big.Int).Add(x, big.NewInt(1)))/half
}

// rate is 1/scale: +Inf where the scale is below the floats.
func (d DiscreteLaplace) rate() float64 { return d.floats.inverse }

// decay is pᵏ for k ≥ 0, with the exponent rounded once.
func (d DiscreteLaplace) decay(k *big.Int) float64 {
	f, _ := d.exponent(k).Float64()
	return math.Exp(-f)
}

// exponent is k/scale, exactly.
func (d DiscreteLaplace) exponent(k *big.Int) *big.Rat {
	r := new(big.Rat).SetInt(k)
	return r.Quo(r, d.scale)
}

// powerDown bounds p from below.
func (d DiscreteLaplace) powerDown() float64 {
	return exact.ExpDown(-exact.FloatUp(new(big.Rat).Inv(d.scale)))
}
