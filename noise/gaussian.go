package noise

import (
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
)

// MaxVarianceBits limits σ² of a discrete Gaussian to at most 2^MaxVarianceBits.
const MaxVarianceBits = 2 * MaxScaleBits

// DiscreteGaussian is the distribution over the integers with P(x) = exp(−x²/(2σ²))/Z, Z = Σ_y exp(−y²/(2σ²))
// [Canonne, Kamath & Steinke 2020, arXiv 2004.00010, Definition 1].
//
// Claim: a variable X with this distribution is subgaussian, and P(X ≥ k) ≤ exp(−k²/(2σ²)) for k ≥ 0. Proof: let
// f(x) = exp(−x²/(2σ²)) for real x. By Poisson's summation, at every real a,
//
//	Σ_y f(y − a) = σ√(2π)·(1 + 2Σ_{j≥1} cos(2πja)·exp(−2π²σ²j²)).
//
// So Z = σ√(2π)·ψ with ψ = 1 + 2Σ_{j≥1} exp(−2π²σ²j²) ≥ 1, and no shifted sum is above Z. Hence E exp(λX) =
// exp(λ²σ²/2)·Σ_y f(y − λσ²)/Z ≤ exp(λ²σ²/2). λ = k/σ² gives the tail bound. ∎
//
// A DiscreteGaussian is immutable. NewDiscreteGaussian creates it. The zero value is no distribution: its methods
// panic, because the alternative would be no noise.
type DiscreteGaussian struct {
	sigma2 *big.Rat // σ², above 0 and within the limits; never changed
	floats *floats  // float values derived from sigma2
}

// NewDiscreteGaussian returns the distribution with the parameter σ², in squared units of the drawn integers, or
// ErrScale.
func NewDiscreteGaussian(sigma2 *big.Rat) (DiscreteGaussian, error) {
	if err := checkScale(sigma2, MaxVarianceBits); err != nil {
		return DiscreteGaussian{}, err
	}
	return DiscreteGaussian{new(big.Rat).Set(sigma2), floatsOf(sigma2)}, nil
}

// Sigma2 returns a copy of σ².
func (d DiscreteGaussian) Sigma2() *big.Rat { return new(big.Rat).Set(d.sigma2) }

// Draw returns an integer that has exactly this distribution and is independent of every other draw. It uses the
// operating system's randomness. Its running time depends on the draw. It is safe for concurrent use.
func (d DiscreteGaussian) Draw() *big.Int {
	source := entropy.System()
	defer source.Wipe()
	return sample.DiscreteGaussian(source, d.sigma2)
}

// Variance returns an upper bound on the variance, in squared units. Its relative error is at most 2e-12 (or a few
// of the least floats). It is at most σ² rounded up.
//
// With s = 1/(2σ²) and θ(s) = Z, the variance is −θ′(s)/θ(s). For σ ≥ 1 it is computed from Poisson's form θ =
// √(π/s)·Σ_j exp(−π²j²/s). The derivative of its logarithm gives σ²·(1 − 4π²σ²·Σ_j j²exp(−2π²σ²j²)/ψ), which is at
// most σ². The terms |j| ≥ 2 are below 1e-32. For σ < 1 the variance is summed directly.
func (d DiscreteGaussian) Variance() float64 {
	s2, above := d.float(), d.floats.up
	variance := 0.0
	if s2 >= 1 {
		wave := 2 * math.Exp(-2*math.Pi*math.Pi*s2)
		if wave > 0 { // if wave is 0, s2 may be too large for the next product
			wave *= 4 * math.Pi * math.Pi * s2 / (1 + wave)
		}
		variance = s2 * (1 - wave)
	} else {
		for x := 1.0; x <= fewTerms; x++ {
			variance += 2 * x * x * math.Exp(-x*x/(2*s2))
		}
		variance /= d.normaliser()
	}
	return min(above, widen(variance))
}

// StdDev returns an upper bound on the standard deviation, in units: the square root of Variance, rounded up.
func (d DiscreteGaussian) StdDev() float64 {
	return math.Nextafter(math.Sqrt(d.Variance()), math.Inf(1))
}

// Mass returns P(X = x), to about 12 digits. It is 0 if that is below the least float.
func (d DiscreteGaussian) Mass(x *big.Int) float64 {
	e, _ := d.exponent(x).Float64() // rounded only here
	return math.Exp(-e) / d.normaliser()
}

// CDF returns P(X ≤ x), to about 12 digits of the smaller of itself and its complement. If σ is above 256 and |x|
// beyond 10σ, it is accurate to 9 digits.
func (d DiscreteGaussian) CDF(x *big.Int) float64 {
	if x.Sign() < 0 {
		return d.above(new(big.Int).Neg(x))
	}
	return 1 - d.above(new(big.Int).Add(x, big.NewInt(1)))
}

// fewTerms is the number of terms in a sum of f(x) or x²f(x) for σ ≤ 1, where f(x) = exp(−x²/(2σ²)). The next term
// is below e^(−84).
const fewTerms = 12

// normaliser returns Z = Σ_y exp(−y²/(2σ²)), to about 15 digits.
func (d DiscreteGaussian) normaliser() float64 {
	s2 := d.float()
	if s2 >= 1 {
		// the terms j ≥ 2 are below 1e-34
		return math.Sqrt(2*math.Pi) * math.Sqrt(s2) * (1 + 2*math.Exp(-2*math.Pi*math.Pi*s2))
	}
	z := 1.0
	for x := 1.0; x <= fewTerms; x++ {
		z += 2 * math.Exp(-x*x/(2*s2))
	}
	return z
}

// float returns the float nearest to σ². It is 0 if σ² is below the least float.
func (d DiscreteGaussian) float() float64 { return d.floats.near }

// exponent returns x²/(2σ²), exactly.
func (d DiscreteGaussian) exponent(x *big.Int) *big.Rat {
	r := new(big.Rat).SetInt(new(big.Int).Mul(x, x))
	return r.Quo(r, new(big.Rat).Add(d.sigma2, d.sigma2))
}

// halfway returns (a − ½)²/(2σ²), exactly.
func (d DiscreteGaussian) halfway(a *big.Int) *big.Rat {
	twice := new(big.Int).Lsh(a, 1)
	r := d.exponent(twice.Sub(twice, big.NewInt(1)))
	return r.Quo(r, new(big.Rat).SetInt64(4))
}
