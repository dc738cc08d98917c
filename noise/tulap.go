package noise

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
)

// Tulap is the truncated-uniform-Laplace distribution [Awan & Slavković 2018, "Differentially Private Uniformly
// Most Powerful Tests for Binomial Data"]. Let N = G₁ − G₂ + U, with independent geometric G₁ and G₂, P(g) ∝ bᵍ, b
// = exp(−ε), and U uniform in [−½, ½]. Let F be the distribution function of this sum, and q = 2δb/(1 − b + 2δb).
// Tulap is the distribution of N conditioned on q/2 ≤ F(N) ≤ 1 − q/2. It is continuous and symmetric. If δ > 0, its
// support is bounded.
//
// A count with this noise gives the most powerful tests of a proportion, with p-values and intervals.
//
// A Tulap is immutable. NewTulap creates it. The zero value is no distribution: its methods panic, because the
// alternative would be no noise.
type Tulap struct {
	epsilon, delta *big.Rat
	e, d           float64 // the floats nearest to epsilon and delta
}

// NewTulap returns the distribution for an ε and a δ in [0, 1), or ErrScale. 1/ε has the limits of a scale. ε is at
// most MaxStaircaseEpsilon, and δ's denominator has at most MaxDenominatorBits bits.
func NewTulap(epsilon, delta *big.Rat) (Tulap, error) {
	if err := checkStairs(big.NewInt(1), epsilon); err != nil {
		return Tulap{}, err
	}
	if delta == nil || delta.Sign() < 0 || delta.Cmp(big.NewRat(1, 1)) >= 0 ||
		delta.Denom().BitLen() > MaxDenominatorBits+1 {
		return Tulap{}, fmt.Errorf("%w: δ must be at least 0 and below 1, with a denominator of at most 2^%d",
			ErrScale, MaxDenominatorBits)
	}
	return Tulap{new(big.Rat).Set(epsilon), new(big.Rat).Set(delta), ratFloat(epsilon), ratFloat(delta)}, nil
}

// Epsilon returns a copy of ε.
func (d Tulap) Epsilon() *big.Rat { return new(big.Rat).Set(d.epsilon) }

// Delta returns a copy of δ.
func (d Tulap) Delta() *big.Rat { return new(big.Rat).Set(d.delta) }

// Draw returns ⌊2⁶⁴N⌋/2⁶⁴ for an N that has exactly this distribution and is independent of every other draw. It
// uses the operating system's randomness. Its running time depends on the draw. It is safe for concurrent use.
func (d Tulap) Draw() *big.Rat {
	source := entropy.System()
	defer source.Wipe()
	return new(big.Rat).SetFrac(sample.NewTulap(d.epsilon, d.delta).Draw(source, new(big.Int)), powerOfTwo(64))
}

// base returns b = exp(−ε), and drop returns 1 − b.
func (d Tulap) base() float64 { return math.Exp(-d.e) }
func (d Tulap) drop() float64 { return -math.Expm1(-d.e) }

// CDF returns P(N ≤ x) for an N with this distribution, with an absolute error of about 1e-12. It is 0 or 1 beyond
// the support, and NaN for NaN.
func (d Tulap) CDF(x float64) float64 {
	if x > 0 {
		return 1 - d.below(-x)
	}
	return d.below(x)
}

// below returns P(N ≤ x) = (F(x) − q/2)/(1 − q) for x ≤ 0, with F and q of [Tulap], and 0 where that is negative.
//
// Let −x = m − ½ + v with an integer m ≥ 0 and 0 ≤ v < 1, and let w = 1 − b. Then F(x) = bᵐ(1 − vw)/(1 + b). The
// numerator and 1 − q = w/(w + 2δb) have a common factor, which may be small. Dividing it out gives
//
//	(1 + b)·P(N ≤ x) = bᵐ(1 − vw) + δb(1 − 2vbᵐ − 2(1 − bᵐ)/w).
func (d Tulap) below(x float64) float64 {
	m := math.Floor(0.5 - x)
	if math.IsInf(m, 1) {
		return 0
	}
	return max(0, d.at(m, 0.5-x-m)) / (1 + d.base())
}

// at returns (1 + b)·P(N ≤ −(m − ½ + v)), where b = exp(−ε). Beyond the support it is negative.
func (d Tulap) at(m, v float64) float64 {
	e, w, weight := d.e, d.drop(), d.d*d.base()
	power := math.Exp(-m * e)
	return power*(1-v*w) + weight*(1-2*v*power+2*math.Expm1(-m*e)/w)
}

// Quantile returns the x with P(N ≤ x) = p, to about 12 digits of CDF. At p = 0 and p = 1 it is an end of the
// support, which is infinite if δ = 0. For p outside [0, 1] it is NaN.
//
// Let b = exp(−ε) and w = 1 − b. For p ≤ ½ it is −(m − ½ + v), where m is the integer with bᵐ⁺¹ < f ≤ bᵐ, f = (1 +
// b)(pw + δb)/(w + 2δb), and v solves a linear equation.
func (d Tulap) Quantile(p float64) float64 {
	if p > 0.5 {
		return -d.Quantile(1 - p)
	}
	if !(p >= 0) {
		return math.NaN()
	}
	e, b, w, weight := d.e, d.base(), d.drop(), d.d*d.base()
	log := math.Log((1 + b) * (p*w + weight) / (w + 2*weight))
	if rest := w * (1 + weight - (1+b)*p) / (w + 2*weight); rest < 0.5 { // 1 − f, without cancellation
		log = math.Log1p(-rest)
	}
	m := max(0, math.Floor(-log/e))
	if math.IsInf(m, 1) {
		return math.Inf(-1)
	}
	v := (d.at(m, 0) - p*(1+b)) / (math.Exp(-m*e) * (w + 2*weight))
	return 0.5 - m - min(max(v, 0), 1)
}

// Reach returns an upper bound on |N|: M + ½ for the integer M = ⌈ln(1 + (1 − δ)(e^ε − 1)/(δ(e^ε + 1)))/ε⌉. It is
// nil for δ = 0, where no bound exists.
func (d Tulap) Reach() *big.Rat {
	if d.delta.Sign() == 0 {
		return nil
	}
	r := new(big.Rat).SetInt(sample.Crossing(d.epsilon, d.delta))
	return r.Add(r, big.NewRat(1, 2))
}

// Variance returns an upper bound on the variance: its value at δ = 0, which is 2b/(1 − b)² + 1/12 with b =
// exp(−ε), rounded up with a relative error of at most 1e-12. Truncating both tails of a symmetric distribution
// lowers its variance.
func (d Tulap) Variance() float64 {
	e := exact.FloatDown(d.epsilon)                // rounded down, because the bound decreases in ε
	b, drop := exact.ExpUp(-e), -exact.Expm1Up(-e) // e^(−e) rounded up, and 1 − e^(−e) rounded down
	return exact.AddUp(exact.DivUp(exact.DivUp(2*b, drop), drop), exact.DivUp(1, 12))
}

// StdDev returns an upper bound on the standard deviation: the square root of Variance, rounded up.
func (d Tulap) StdDev() float64 { return math.Nextafter(math.Sqrt(d.Variance()), math.Inf(1)) }
