package noise

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// direct is the largest σ² at which tails are summed term by term. Beyond it, integrals bound them.
const direct = 1 << 16

// slack widens a sum of terms that are floats near the real ones, relatively: 2⁻⁴⁰. A term's exponent is at most
// 745 and has two roundings, 745·2⁻⁵² < 2⁻⁴²·⁴; adding up at most 9σ + 1 < 2500 positive terms adds
// 2500·2⁻⁵³ < 2⁻⁴¹·⁶; what is left out is below 2⁻⁵⁵ and the exponential and the normaliser are
// within a few 2⁻⁵². Terms below the ordinary floats are each off by less than the least one, and by least
// together.
const (
	slack = 0x1p-40
	least = 4096 * math.SmallestNonzeroFloat64
)

// widen moves a computed positive number up by more than its error.
func widen(y float64) float64 { return exact.AddUp(exact.MulUp(y, 1+slack), least) }

// Tail is an upper bound on P(|X| > k): within a relative 2e-12 of it (or 3e-320) where σ is at most 256; beyond,
// within a share (z² + 2)/(24σ²), z = k/σ. It is 1 for k < 0.
//
// Proof of the bound beyond: with y = k + ½,
//
//	P(|X| > k) ≤ erfc(y/(σ√2)) + (ψ − 1).
//
// f is convex on [σ, ∞) and concave on [0, σ]. If y ≥ σ, each x > k has its interval [x − ½, x + ½] in the
// convex part, where f(x) is at most its mean there; so Σ_{x>k} f(x) ≤ ∫_y^∞ f, and with Z ≥ σ√(2π) the
// tail is at most 2∫_y^∞ f/(σ√(2π)) = erfc(y/(σ√2)). If y ≤ σ, each |x| ≤ k has its interval in the
// concave part, where f(x) is at least its mean; so the tail is at most 1 − ∫_{−y}^y f/Z = 1 −
// erf(y/(σ√2))/ψ ≤ erfc(y/(σ√2)) + 1 − 1/ψ, and 1 − 1/ψ ≤ ψ − 1. Beyond σ = 256, ψ − 1 is below
// e^(−10⁶), hence below the least float.
//
// Coupling. With L a continuous Gaussian of the same σ, there is a coupling with |X − L| ≤ 1: it suffices, by
// symmetry and taking quantiles, that P(X ≥ k) ≤ P(L ≥ k − 1) for every integer k.
//   - k ≥ 1, k − ½ ≥ σ: each term is at most its interval's mean, so P(X ≥ k) ≤ P(L ≥ k − ½)/ψ.
//   - k ≥ 1, k − ½ < σ, hence σ > ½: P(X ≥ k) ≤ P(L ≥ k − ½) + (ψ − 1)/2 by the above, and P(k −
//     1 ≤ L ≤ k − ½) is at least ½·exp(−½)/(σ√(2π)) > 0.12/σ, which is more than (ψ − 1)/2 <
//     1.01·exp(−2π²σ²).
//   - k ≤ 0: with a = 1 − k ≥ 1 it says that P(X ≥ a) ≥ P(L ≥ a), or Σ_{x≥a} f − ∫_a^∞ f ≥ (ψ
//     − 1)·∫_a^∞ f. If a ≥ σ, f is convex there, so by trapezoids the left side is at least f(a)/2, and
//     ∫_a^∞ f ≤ f(a)·σ²/a: enough, as (ψ − 1)σ²/a ≤ ½. (For σ ≤ ½ since ψσ² = Zσ/√(2π) <
//     0.26; for σ > ½ since σ²/a ≤ σ and (ψ − 1)σ < 0.01.) If a < σ, so that σ > 1, f falls and every term
//     of the left side is at least 0, those from ⌈σ⌉ on make f(⌈σ⌉)/2 ≥ exp(−2)/2, and the right side is
//     at most (ψ − 1)·σ√(2π)/2 < 10⁻⁷.
func (d DiscreteGaussian) Tail(k *big.Int) float64 {
	if k.Sign() < 0 {
		return 1
	}
	next := new(big.Int).Add(k, big.NewInt(1))
	if d.sum() {
		return min(1, widen(2*d.above(next)))
	}
	half := d.halfwayDown(next)
	root := max(0, math.Nextafter(math.Sqrt(half), math.Inf(-1))) // not above y/(σ√2)
	return min(1, widen(math.Erfc(root)))                         // by more than ψ − 1 too
}

// sum reports whether tails are summed.
func (d DiscreteGaussian) sum() bool { return d.float() <= direct }

// above is P(X ≥ a), a > 0, to the digits that CDF has.
//
// Up to direct, terms are added until one is below 2⁻⁶⁰ of the sum: then x² − a² ≥ 2σ²·ln 2⁶⁰, so
// that x > 9σ, and with σ ≤ 256 each further term is below e^(−9/256) < 1 − 2⁻⁵ of the one before. Beyond,
// it is the formula of Euler and Maclaurin at midpoints, Σ_{x≥a} f(x) = ∫_{a−½}^∞ f + f′(a − ½)/24 −
// 7f‴(a − ½)/5760 + …, whose next term is 31z⁶/(967680·σ⁶) of the sum.
func (d DiscreteGaussian) above(a *big.Int) float64 {
	s2 := d.float()
	if d.sum() {
		if a.BitLen() > 26 { // f(2²⁶) is 0; and below, x² is a float
			return 0
		}
		total := 0.0
		for x := float64(a.Int64()); ; x++ {
			term := math.Exp(-x * x / (2 * s2))
			total += term
			if term <= total*0x1p-60 {
				return total / d.normaliser()
			}
		}
	}
	half, _ := d.halfway(a).Float64()
	z2 := 2 * half
	z := math.Sqrt(z2)
	correction := z/(24*s2) + 7*z*(3-z2)/(5760*s2)/s2 // −f′/24 + 7f‴/5760, over f/σ
	if half > 745 {
		return 0
	}
	return math.Erfc(math.Sqrt(half))/2 - math.Exp(-half)/math.Sqrt(2*math.Pi)*correction
}

// Quantile is a two-sided quantile: a k ≥ 0 with P(|X| ≤ k) ≥ 1 − alpha. That is certified. k is the least such
// integer up to the width of Tail's bound: P(|X| > k − 1) is above alpha minus that share. If alpha is not above 0,
// or NaN, no integer suffices, and the result is nil.
//
// It is found by bisection below a k₀ that will do whatever the floats: (k₀ + 1)² ≥ 2σ²·ln(2/α), and
// subgaussian tails give P(|X| > k₀) ≤ 2exp(−(k₀ + 1)²/(2σ²)) ≤ α. Each k taken has Tail(k) ≤ α, and
// for each that is passed over Tail(k) > α.
func (d DiscreteGaussian) Quantile(alpha float64) *big.Int {
	switch {
	case !(alpha > 0):
		return nil
	case alpha >= 1:
		return new(big.Int)
	}
	will := func(k *big.Int) bool { return d.Tail(k) <= alpha }
	short, enough := big.NewInt(-1), gaussianReach(d.sigma2, alpha)
	// The quantile is near that of a continuous Gaussian, usually between two integers near there. These are tried
	// first as ends of the bisection.
	near := math.Sqrt(2*d.float())*math.Erfcinv(alpha) - 0.5
	if apart := 1 + near*8e-12; near > 0 && near < 0x1p1000 {
		if lower, _ := big.NewFloat(near - apart).Int(nil); lower.Sign() > 0 && lower.Cmp(enough) < 0 && !will(lower) {
			short = lower
		}
		if upper, _ := big.NewFloat(near + 1 + apart).Int(nil); upper.Cmp(short) > 0 && upper.Cmp(enough) < 0 &&
			will(upper) {
			enough = upper
		}
	}
	return bisectAbove(short, enough, will)
}

// halfwayDown is halfway rounded down, without reducing the fraction.
func (d DiscreteGaussian) halfwayDown(a *big.Int) float64 {
	twice := new(big.Int).Lsh(a, 1)
	twice.Sub(twice, big.NewInt(1))
	above := twice.Mul(twice, twice)
	above.Mul(above, d.sigma2.Denom())
	below := new(big.Int).Lsh(d.sigma2.Num(), 3)
	q := new(big.Float).SetMode(big.ToNegativeInf).SetPrec(53).Quo(new(big.Float).SetInt(above),
		new(big.Float).SetInt(below))
	if e := q.MantExp(nil); e < -1000 || e > 1000 { // outside the range of ordinary floats
		return exact.FloatDown(d.halfway(a))
	}
	f, _ := q.Float64() // exactly
	return f
}

// gaussianReach is a k with (k + 1)² ≥ 2σ²·ln(2/α), 0 < α < 1.
func gaussianReach(sigma2 *big.Rat, alpha float64) *big.Int {
	log := new(big.Rat).SetFloat64(exact.SubUp(exact.LogUp(2), exact.LogDown(alpha))) // finite: at most ln 2 + 745
	log.Mul(log, sigma2)
	n := exact.CeilRat(log.Add(log, log))
	return n.Sqrt(n) // (⌊√n⌋ + 1)² > n
}
