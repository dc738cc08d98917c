// Package noise contains the noise distributions of answers: exact draws, and masses, variances, quantiles and
// tails. Everything in it is a function of public parameters.
//
// Draws are exact, as their methods state. Masses, distribution functions, and the variances of the discrete
// Laplace and the staircase are floats near the exact values. Tails, two-sided quantiles and the other variances
// are bounds, rounded to the safe side.
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

// Limits on a scale. A scale beyond them is probably a mistake, or an attempt to exhaust memory.
const (
	MaxScaleBits       = 200  // a scale is at most 2^MaxScaleBits
	MaxDenominatorBits = 2048 // its denominator is at most 2^MaxDenominatorBits
)

// ErrScale reports a scale, or a σ², that is nil, not above 0, or beyond the limits.
var ErrScale = errors.New("invalid noise scale")

// DiscreteLaplace is the distribution over the integers with P(x) = (1 − p)/(1 + p)·p^|x|, p = exp(−1/scale). It is
// also called the two-sided geometric distribution [Ghosh, Roughgarden & Sundararajan 2009].
//
// Claim: there is a coupling of X with a continuous Laplace variable L of the same scale in which
//
//	|X − L| < 1.
//
// Proof: let E₁ and E₂ be independent exponential variables of mean scale. P(⌊E⌋ ≥ k) = exp(−k/scale) = pᵏ, so ⌊E⌋
// is geometric, and P(⌊E₁⌋ − ⌊E₂⌋ = x) = Σ_j (1 − p)p^(j+|x|)·(1 − p)pʲ = (1 − p)²p^|x|/(1 − p²). So ⌊E₁⌋ − ⌊E₂⌋ is
// distributed like X, and E₁ − E₂ like L. The dropped fractions differ by less than 1. ∎
//
// So a bound for a continuous Laplace variable holds for X with 1 added: P(|X| > k + 1) ≤ P(|L| > k). For a real
// factor u, uX is within |u| of uL. The coupling serves proofs. Draws do not use it.
//
// A DiscreteLaplace is immutable. NewDiscreteLaplace creates it. The zero value is no distribution: its methods
// panic, because the alternative would be no noise.
type DiscreteLaplace struct {
	scale  *big.Rat // above 0 and within the limits; never changed
	floats *floats  // float values derived from scale
}

// NewDiscreteLaplace returns the distribution with the given scale, in units of the drawn integers, or ErrScale.
func NewDiscreteLaplace(scale *big.Rat) (DiscreteLaplace, error) {
	if err := checkScale(scale, MaxScaleBits); err != nil {
		return DiscreteLaplace{}, err
	}
	return DiscreteLaplace{new(big.Rat).Set(scale), floatsOf(scale)}, nil
}

// floats holds float values of a distribution's parameter, computed once because they are used often.
type floats struct {
	near    float64 // the nearest float; 0 if the parameter is below the least float
	up      float64 // the least float that is not below the parameter
	inverse float64 // the float nearest to 1/parameter; +Inf if that is above the largest float
}

func floatsOf(parameter *big.Rat) *floats {
	near, _ := parameter.Float64()
	inverse, _ := new(big.Rat).Inv(parameter).Float64()
	return &floats{near, exact.FloatUp(parameter), inverse}
}

// checkScale returns ErrScale if a scale, or a σ², is nil, not above 0, above 2^size, or too long a fraction.
func checkScale(scale *big.Rat, size int) error {
	switch {
	case scale == nil || scale.Sign() <= 0:
		return fmt.Errorf("%w: it must be above 0", ErrScale)
	case scale.Denom().BitLen() > MaxDenominatorBits+1 || scale.Num().BitLen() > size+MaxDenominatorBits+1:
		return fmt.Errorf("%w: its fraction is too long", ErrScale)
	case scale.Denom().Cmp(powerOfTwo(MaxDenominatorBits)) > 0:
		return fmt.Errorf("%w: its denominator must be at most 2^%d", ErrScale, MaxDenominatorBits)
	case scale.Cmp(new(big.Rat).SetInt(powerOfTwo(uint(size)))) > 0:
		return fmt.Errorf("%w: it must be at most 2^%d", ErrScale, size)
	}
	return nil
}

func powerOfTwo(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

// Scale returns a copy of the scale.
func (d DiscreteLaplace) Scale() *big.Rat { return new(big.Rat).Set(d.scale) }

// Draw returns an integer that has exactly this distribution and is independent of every other draw. It uses the
// operating system's randomness. Its running time depends on the draw. It is safe for concurrent use.
func (d DiscreteLaplace) Draw() *big.Int {
	source := entropy.System()
	defer source.Wipe()
	return sample.DiscreteLaplace(source, d.scale)
}

// Variance returns 2p/(1 − p)², where p = exp(−1/scale), in squared units, to about 12 digits (fewer below
// 2^−1022). It is 0 if that is below the least float.
func (d DiscreteLaplace) Variance() float64 {
	rate := d.rate()
	q := -math.Expm1(-rate) // 1 − p, without cancellation if p is near 1
	return 2 * math.Exp(-rate) / q / q
}

// StdDev returns the square root of the variance, in units, as accurately as Variance.
func (d DiscreteLaplace) StdDev() float64 {
	rate := d.rate()
	return math.Sqrt2 * math.Exp(-rate/2) / -math.Expm1(-rate)
}

// Mass returns P(X = x), to about 12 digits. It is 0 if that is below the least float.
func (d DiscreteLaplace) Mass(x *big.Int) float64 {
	return math.Tanh(d.rate()/2) * d.decay(new(big.Int).Abs(x)) // (1 − p)/(1 + p) = tanh(1/(2·scale))
}

// CDF returns P(X ≤ x). For x < 0 it has about 12 digits. For x ≥ 0 its absolute error is about 1e-16. CDF(−x − 1)
// is P(X > x) to 12 digits.
func (d DiscreteLaplace) CDF(x *big.Int) float64 {
	half := 1 + math.Exp(-d.rate())
	if x.Sign() < 0 {
		return d.decay(new(big.Int).Neg(x)) / half // Σ_{y ≥ |x|} P(y) = p^|x|/(1 + p)
	}
	return 1 - d.decay(new(big.Int).Add(x, big.NewInt(1)))/half
}

// rate returns 1/scale. It is +Inf if that is above the largest float.
func (d DiscreteLaplace) rate() float64 { return d.floats.inverse }

// decay returns pᵏ = exp(−k/scale) for k ≥ 0. The exponent is rounded once.
func (d DiscreteLaplace) decay(k *big.Int) float64 {
	f, _ := d.exponent(k).Float64()
	return math.Exp(-f)
}

// exponent returns k/scale, exactly.
func (d DiscreteLaplace) exponent(k *big.Int) *big.Rat {
	r := new(big.Rat).SetInt(k)
	return r.Quo(r, d.scale)
}

// powerDown returns a lower bound on p = exp(−1/scale).
func (d DiscreteLaplace) powerDown() float64 {
	return exact.ExpDown(-exact.FloatUp(new(big.Rat).Inv(d.scale)))
}
