package noise

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
)

// Tulap is the truncated-uniform-Laplace distribution: N = G₁ − G₂ + U for independent geometric G₁ and G₂
// with P(g) ∝ bᵍ, b = exp(−ε), and U uniform in [−½, ½], conditioned on q/2 ≤ F(N) ≤ 1 − q/2, where F
// is the distribution function of the sum and q = 2δb/(1 − b + 2δb) [Awan & Slavković 2018, "Differentially
// Private Uniformly Most Powerful Tests for Binomial Data"]. It is continuous and symmetric, with bounded support where
// δ > 0.
//
// A count with this noise gives the most powerful tests of a proportion, with their p-values and intervals.
//
// A Tulap is immutable; NewTulap makes it. The zero value is no distribution: its methods panic, because the
// alternative would be no noise.
type Tulap struct {
	epsilon, delta *big.Rat
	e, d           float64 // the floats next to them
}

// NewTulap returns the distribution of an ε and a δ in [0, 1), or ErrScale. 1/ε has the limits of a scale; ε is at
// most MaxStaircaseEpsilon and δ a fraction of at most MaxDenominatorBits.
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

// Epsilon returns a copy of ε, and Delta one of δ.
func (d Tulap) Epsilon() *big.Rat { return new(big.Rat).Set(d.epsilon) }

// Delta returns a copy of δ.
func (d Tulap) Delta() *big.Rat { return new(big.Rat).Set(d.delta) }

// Draw returns ⌊2⁶⁴N⌋/2⁶⁴ for an N with exactly this distribution, independent of every other draw, from
// the operating system's randomness. Its time depends on the draw. It is safe for concurrent use.
func (d Tulap) Draw() *big.Rat {
	source := entropy.System()
	defer source.Wipe()
	return new(big.Rat).SetFrac(sample.NewTulap(d.epsilon, d.delta).Draw(source, new(big.Int)), powerOfTwo(64))
}

// base is b, and drop is 1 − b.
func (d Tulap) base() float64 { return math.Exp(-d.e) }
func (d Tulap) drop() float64 { return -math.Expm1(-d.e) }

// CDF is P(N ≤ x), to about 12 digits of 1; 0 and 1 beyond the support, and NaN at NaN.
func (d Tulap) CDF(x float64) float64 {
	if x > 0 {
		return 1 - d.below(-x)
	}
	return d.below(x)
}

// below is P(N ≤ x) = (F(x) − q/2)/(1 − q), x ≤ 0, at least 0.
//
// With −x = m − ½ + v, m ≥ 0 an integer and 0 ≤ v < 1, and w = 1 − b, F(x) = bᵐ(1 − vw)/(1 + b). What is
// common to the numerator and to 1 − q = w/(w + 2δb) is divided out, since it may be small:
//
//	(1 + b)·P(N ≤ x) = bᵐ(1 − vw) + δb(1 − 2vbᵐ − 2(1 − bᵐ)/w).
func (d Tulap) below(x float64) float64 {
	m := math.Floor(0.5 - x)
	if math.IsInf(m, 1) {
		return 0
	}
	return max(0, d.at(m, 0.5-x-m)) / (1 + d.base())
}

// at is (1 + b)·P(N ≤ −(m − ½ + v)), or negative beyond the support.
func (d Tulap) at(m, v float64) float64 {
	e, w, weight := d.e, d.drop(), d.d*d.base()
	power := math.Exp(-m * e)
	return power*(1-v*w) + weight*(1-2*v*power+2*math.Expm1(-m*e)/w)
}

// Quantile is the x with P(N ≤ x) = p, to about 12 digits of CDF: the ends of the support at 0 and 1, infinite where
// δ = 0, and NaN outside.
//
// For p ≤ ½ it is −(m − ½ + v), where m is the integer with bᵐ⁺¹ < f ≤ bᵐ, f = (1 + b)(pw + δb)/(w +
// 2δb), and v solves a linear equation.
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

// Reach is an upper bound on |N|: the integer M + ½, M = ⌈ln(1 + (1 − δ)(e^ε − 1)/(δ(e^ε + 1)))/ε⌉. It is
// nil for δ = 0, where no bound exists.
func (d Tulap) Reach() *big.Rat {
	if d.delta.Sign() == 0 {
		return nil
	}
	r := new(big.Rat).SetInt(sample.Crossing(d.epsilon, d.delta))
	return r.Add(r, big.NewRat(1, 2))
}

// Variance is an upper bound on the variance: that at δ = 0, 2b/(1 − b)² + 1/12, rounded up to within a relative
// 1e-12 of it. Cutting off both tails of a symmetric distribution lowers it.
func (d Tulap) Variance() float64 {
	e := exact.FloatDown(d.epsilon)                // the bound falls in ε
	b, drop := exact.ExpUp(-e), -exact.Expm1Up(-e) // e^(−e) from above, and 1 − e^(−e) from below
	return exact.AddUp(exact.DivUp(exact.DivUp(2*b, drop), drop), exact.DivUp(1, 12))
}

// StdDev is the square root of the variance, bounded from above likewise.
func (d Tulap) StdDev() float64 { return math.Nextafter(math.Sqrt(d.Variance()), math.Inf(1)) }
