package noise

import (
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
)

// RoundedGaussian is the distribution of the integer X nearest to L = σN, where N is a standard normal variable:
// P(X = x) = Φ((x + ½)/σ) − Φ((x − ½)/σ). |X − L| ≤ ½.
//
// For every integer x, x + round(L) = round(x + L). So adding this noise to an integer is the same as adding
// continuous Gaussian noise and rounding the sum, which is post-processing. Every privacy guarantee of the
// continuous Gaussian mechanism on integers therefore holds for this noise. Not all of these guarantees hold for
// the discrete Gaussian (see analytic.Gaussian).
//
// A RoundedGaussian is immutable. NewRoundedGaussian creates it. The zero value is no distribution: its methods
// panic, because the alternative would be no noise.
type RoundedGaussian struct {
	sigma2 *big.Rat // σ², above 0 and within the limits; never changed
	floats *floats  // float values derived from sigma2
}

// NewRoundedGaussian returns the distribution with the parameter σ², in squared units of the drawn integers, or
// ErrScale. The limits are those of a discrete Gaussian.
func NewRoundedGaussian(sigma2 *big.Rat) (RoundedGaussian, error) {
	if err := checkScale(sigma2, MaxVarianceBits); err != nil {
		return RoundedGaussian{}, err
	}
	return RoundedGaussian{new(big.Rat).Set(sigma2), floatsOf(sigma2)}, nil
}

// Sigma2 returns a copy of σ².
func (d RoundedGaussian) Sigma2() *big.Rat { return new(big.Rat).Set(d.sigma2) }

// Draw returns an integer that has exactly this distribution and is independent of every other draw. It uses the
// operating system's randomness. Its running time depends on the draw. It is safe for concurrent use.
func (d RoundedGaussian) Draw() *big.Int {
	source := entropy.System()
	defer source.Wipe()
	return sample.NewRoundedGaussian(d.sigma2).Draw(source, new(big.Int))
}

// Variance returns an upper bound on the variance, in squared units. Its relative error is at most 2e-12 (or a few
// of the least floats). It is at most σ² + 1/12 rounded up.
//
// The sawtooth X − L = Σ_{j≥1} (−1)ʲ·sin(2πjL)/(πj) has E L·sin(2πjL) = 2πjσ²·exp(−2π²σ²j²). Its square 1/12 + Σ_j
// (−1)ʲ·cos(2πjL)/(πj)² has E cos(2πjL) = exp(−2π²σ²j²). Hence E X² = E L² + 2·E L(X − L) + E(X − L)² is
//
//	σ² + 1/12 + Σ_{j≥1} (−1)ʲ·(4σ² + 1/(πj)²)·exp(−2π²σ²j²).
//
// The terms of the sum alternate in sign and decrease in magnitude. So the sum is between its first term and 0, and
// at most the sum of its first two terms. For σ ≥ ½ the third term is below 1e-16 of the variance. For σ < ½ the
// variance is computed as Σ_{x≥1} (2x − 1)·P(|X| ≥ x).
func (d RoundedGaussian) Variance() float64 {
	s2 := d.floats.near
	above := exact.AddUp(d.floats.up, exact.DivUp(1, 12))
	variance := 0.0
	if s2 >= 0.25 {
		variance = s2 + 1.0/12
		for _, j := range []float64{1, -2} { // e is 0 if s2·j² overflows
			if e := math.Exp(-2 * math.Pi * math.Pi * s2 * j * j); e > 0 {
				variance -= math.Copysign((4*s2+1/(math.Pi*math.Pi*j*j))*e, j)
			}
		}
	} else {
		for x := int64(1); x <= fewTerms; x++ {
			variance += float64(2*x-1) * d.beyond(big.NewInt(x-1))
		}
	}
	return min(above, widen(variance))
}

// StdDev returns an upper bound on the standard deviation, in units: the square root of Variance, rounded up.
func (d RoundedGaussian) StdDev() float64 {
	return math.Nextafter(math.Sqrt(d.Variance()), math.Inf(1))
}

// Mass returns P(X = x), to about 12 digits. It is 0 if that is below the least float.
//
// If σ is large, P(X = x) is a difference of nearly equal values. Then it is computed as the density's integral
// over the unit interval around x. With z = x/σ, that is φ(z)/σ·(1 + H₂(z)/(24σ²) + H₄(z)/(1920σ⁴) +
// H₆(z)/(322560σ⁶) + …) with Hermite polynomials H. The next term is below 1e-14 for σ ≥ 256 and |z| ≤ 39.
func (d RoundedGaussian) Mass(x *big.Int) float64 {
	a := new(big.Int).Abs(x)
	s2 := d.floats.near
	if s2 <= direct {
		if a.Sign() == 0 {
			e, _ := d.halfway(a).Float64()
			return math.Erf(math.Sqrt(e))
		}
		return (d.beyond(new(big.Int).Sub(a, big.NewInt(1))) - d.beyond(a)) / 2
	}
	e, _ := DiscreteGaussian(d).exponent(x).Float64()
	if e > 760 {
		return 0
	}
	z2 := 2 * e
	curve := (z2 - 1) / (24 * s2)
	curve += (z2*z2 - 6*z2 + 3) / (1920 * s2) / s2
	curve += (z2*z2*z2 - 15*z2*z2 + 45*z2 - 15) / (322560 * s2) / s2 / s2
	return math.Exp(-e) / math.Sqrt(2*math.Pi) / math.Sqrt(s2) * (1 + curve)
}

// CDF returns P(X ≤ x) = Φ((x + ½)/σ), to about 12 digits of the smaller of itself and its complement.
func (d RoundedGaussian) CDF(x *big.Int) float64 {
	if x.Sign() < 0 {
		return d.beyond(new(big.Int).Not(x)) / 2 // P(X ≥ −x) = P(X > −x − 1)
	}
	return 1 - d.beyond(x)/2
}

// beyond returns P(|X| > k) = erfc((k + ½)/(σ√2)) for k ≥ 0, to about 12 digits.
func (d RoundedGaussian) beyond(k *big.Int) float64 {
	e, _ := d.halfway(k).Float64()
	return math.Erfc(math.Sqrt(e))
}

// halfway returns (k + ½)²/(2σ²), exactly.
func (d RoundedGaussian) halfway(k *big.Int) *big.Rat {
	return DiscreteGaussian(d).halfway(new(big.Int).Add(k, big.NewInt(1)))
}

// Tail returns an upper bound on P(|X| > k). Its relative error is at most 2e-12 (or the absolute error 3e-320).
// Tail is 1 for k < 0.
func (d RoundedGaussian) Tail(k *big.Int) float64 {
	if k.Sign() < 0 {
		return 1
	}
	e := exact.FloatDown(d.halfway(k))
	root := max(0, math.Nextafter(math.Sqrt(e), math.Inf(-1))) // at most (k + ½)/(σ√2)
	return min(1, widen(math.Erfc(root)))
}

// Quantile returns a two-sided quantile: a k ≥ 0 with P(|X| ≤ k) ≥ 1 − alpha. The inequality is certified. k is the
// least such integer up to the error of Tail. If alpha ≤ 0 or NaN, no integer suffices, and Quantile returns nil.
//
// It is found by bisection below a k₀ that suffices however the floats round: erfc(t) ≤ exp(−t²) for t ≥ 0, so
// P(|X| > k₀) ≤ α if k₀² ≥ 2σ²·ln(1/α). One more than the k₀ of DiscreteGaussian.Quantile is such a k₀.
func (d RoundedGaussian) Quantile(alpha float64) *big.Int {
	switch {
	case !(alpha > 0):
		return nil
	case alpha >= 1:
		return new(big.Int)
	}
	enough := gaussianReach(d.sigma2, alpha)
	return bisect(enough.Add(enough, big.NewInt(1)), func(k *big.Int) bool { return d.Tail(k) <= alpha })
}

// bisect returns a k in [0, enough] for which will(k) is true, or the number enough itself. If will(k) is true from
// some k on, bisect returns the least such k.
func bisect(enough *big.Int, will func(k *big.Int) bool) *big.Int {
	return bisectAbove(big.NewInt(-1), enough, will)
}

// bisectAbove is bisect for k in (short, enough], if will(short) is false.
func bisectAbove(short, enough *big.Int, will func(k *big.Int) bool) *big.Int {
	one := big.NewInt(1)
	for {
		middle := new(big.Int).Add(short, enough)
		middle.Rsh(middle, 1)
		switch {
		case new(big.Int).Sub(enough, short).Cmp(one) <= 0:
			return enough
		case will(middle):
			enough = middle
		default:
			short = middle
		}
	}
}
