package noise

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// direct is the largest σ² for which tails are summed term by term. For larger σ², integrals bound them.
const direct = 1 << 16

// slack is a relative bound on the error of a sum of float terms, 2⁻⁴⁰. A term's exponent is at most 745 and has
// two roundings, 745·2⁻⁵² < 2⁻⁴²·⁴. Adding at most 9σ + 1 < 2500 positive terms adds 2500·2⁻⁵³ < 2⁻⁴¹·⁶. The
// omitted terms are below 2⁻⁵⁵. The exponential and the normaliser have errors of a few 2⁻⁵². A term below the
// normal floats has an absolute error of less than the least float. least bounds the sum of these errors.
const (
	slack = 0x1p-40
	least = 4096 * math.SmallestNonzeroFloat64
)

// widen returns y, a computed positive number, increased by more than its error.
func widen(y float64) float64 { return exact.AddUp(exact.MulUp(y, 1+slack), least) }

// Tail returns an upper bound on P(|X| > k). For σ ≤ 256 its relative error is at most 2e-12 (or the absolute error
// 3e-320). For larger σ the relative error is at most (z² + 2)/(24σ²), z = k/σ. Tail is 1 for k < 0.
//
// Claim for larger σ: with y = k + ½, and f, Z and ψ of [DiscreteGaussian],
//
//	P(|X| > k) ≤ erfc(y/(σ√2)) + (ψ − 1).
//
// Proof: f is convex on [σ, ∞) and concave on [0, σ]. If y ≥ σ, the interval [x − ½, x + ½] of each x > k is in the
// convex part, where f(x) is at most the mean of f over the interval. So Σ_{x>k} f(x) ≤ ∫_y^∞ f. With Z ≥ σ√(2π),
// the tail is at most 2∫_y^∞ f/(σ√(2π)) = erfc(y/(σ√2)). If y ≤ σ, the interval of each |x| ≤ k is in the concave
// part, where f(x) is at least the mean of f over the interval. So the tail is at most 1 − ∫_{−y}^y f/Z = 1 −
// erf(y/(σ√2))/ψ ≤ erfc(y/(σ√2)) + 1 − 1/ψ, and 1 − 1/ψ ≤ ψ − 1. ∎ For σ > 256, ψ − 1 is below e^(−10⁶), hence
// below the least float.
//
// Claim (coupling): if L is a continuous Gaussian with the same σ, there is a coupling with |X − L| ≤ 1. Proof: by
// symmetry and a coupling of quantiles, it suffices that P(X ≥ k) ≤ P(L ≥ k − 1) for every integer k.
//
// Case k ≥ 1, k − ½ ≥ σ: each term is at most the mean of f over its interval, so P(X ≥ k) ≤ P(L ≥ k − ½)/ψ.
//
// Case k ≥ 1, k − ½ < σ, hence σ > ½: P(X ≥ k) ≤ P(L ≥ k − ½) + (ψ − 1)/2 by the argument above. P(k − 1 ≤ L ≤ k −
// ½) is at least ½·exp(−½)/(σ√(2π)) > 0.12/σ, which is more than (ψ − 1)/2 < 1.01·exp(−2π²σ²).
//
// Case k ≤ 0: with a = 1 − k ≥ 1, the claim says that P(X ≥ a) ≥ P(L ≥ a), or Σ_{x≥a} f − ∫_a^∞ f ≥ (ψ − 1)·∫_a^∞
// f. If a ≥ σ, f is convex on [a, ∞). By the trapezoidal rule, the left side is at least f(a)/2. Moreover, ∫_a^∞ f
// ≤ f(a)·σ²/a. That suffices, since (ψ − 1)σ²/a ≤ ½. (This holds for σ ≤ ½ since ψσ² = Zσ/√(2π) < 0.26. It holds
// for σ > ½ since σ²/a ≤ σ and (ψ − 1)σ < 0.01.) If a < σ, hence σ > 1, f decreases and every term of the left side
// is at least 0. The terms from ⌈σ⌉ on sum to at least f(⌈σ⌉)/2 ≥ exp(−2)/2. The right side is at most (ψ −
// 1)·σ√(2π)/2 < 10⁻⁷. ∎
func (d DiscreteGaussian) Tail(k *big.Int) float64 {
	if k.Sign() < 0 {
		return 1
	}
	next := new(big.Int).Add(k, big.NewInt(1))
	if d.sum() {
		return min(1, widen(2*d.above(next)))
	}
	half := d.halfwayDown(next)
	root := max(0, math.Nextafter(math.Sqrt(half), math.Inf(-1))) // at most y/(σ√2)
	return min(1, widen(math.Erfc(root)))                         // widen adds more than ψ − 1
}

// sum reports whether tails are summed term by term.
func (d DiscreteGaussian) sum() bool { return d.float() <= direct }

// above returns P(X ≥ a) for a > 0, as accurately as CDF. Let f(x) = exp(−x²/(2σ²)).
//
// If σ² ≤ direct, terms are added until one is below 2⁻⁶⁰ of the sum. Then x² − a² ≥ 2σ²·ln 2⁶⁰, so x > 9σ. With σ
// ≤ 256, each further term is below e^(−9/256) < 1 − 2⁻⁵ of the one before. If σ² > direct, the Euler–Maclaurin
// formula at midpoints is used, Σ_{x≥a} f(x) = ∫_{a−½}^∞ f + f′(a − ½)/24 − 7f‴(a − ½)/5760 + …, whose next term is
// 31z⁶/(967680·σ⁶) of the sum, with z = (a − ½)/σ.
func (d DiscreteGaussian) above(a *big.Int) float64 {
	s2 := d.float()
	if d.sum() {
		if a.BitLen() > 26 { // f(2²⁶) is 0, and below 2²⁶, x² is exact as a float
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
	correction := z/(24*s2) + 7*z*(3-z2)/(5760*s2)/s2 // −f′/24 + 7f‴/5760, divided by f/σ
	if half > 745 {
		return 0
	}
	return math.Erfc(math.Sqrt(half))/2 - math.Exp(-half)/math.Sqrt(2*math.Pi)*correction
}

// Quantile returns a two-sided quantile: a k ≥ 0 with P(|X| ≤ k) ≥ 1 − alpha. The inequality is certified. k is the
// least such integer up to the error of Tail: P(|X| > k − 1) is above alpha reduced by that relative error. If
// alpha ≤ 0 or NaN, no integer suffices, and Quantile returns nil.
//
// It is found by bisection below a k₀ that suffices however the floats round: (k₀ + 1)² ≥ 2σ²·ln(2/α), so
// subgaussian tails give P(|X| > k₀) ≤ 2exp(−(k₀ + 1)²/(2σ²)) ≤ α. Every accepted k has Tail(k) ≤ α, and every
// rejected k has Tail(k) > α.
func (d DiscreteGaussian) Quantile(alpha float64) *big.Int {
	switch {
	case !(alpha > 0):
		return nil
	case alpha >= 1:
		return new(big.Int)
	}
	will := func(k *big.Int) bool { return d.Tail(k) <= alpha }
	short, enough := big.NewInt(-1), gaussianReach(d.sigma2, alpha)
	// The quantile is near that of a continuous Gaussian, usually between two integers close to it. The bisection
	// tries these two first, as its ends.
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

// halfwayDown returns halfway(a), rounded down to a float, without reducing the fraction.
func (d DiscreteGaussian) halfwayDown(a *big.Int) float64 {
	twice := new(big.Int).Lsh(a, 1)
	twice.Sub(twice, big.NewInt(1))
	above := twice.Mul(twice, twice)
	above.Mul(above, d.sigma2.Denom())
	below := new(big.Int).Lsh(d.sigma2.Num(), 3)
	q := new(big.Float).SetMode(big.ToNegativeInf).SetPrec(53).Quo(new(big.Float).SetInt(above),
		new(big.Float).SetInt(below))
	if e := q.MantExp(nil); e < -1000 || e > 1000 { // outside the range of normal floats
		return exact.FloatDown(d.halfway(a))
	}
	f, _ := q.Float64() // exact, because q has 53 bits
	return f
}

// gaussianReach returns a k with (k + 1)² ≥ 2σ²·ln(2/α), for 0 < α < 1.
func gaussianReach(sigma2 *big.Rat, alpha float64) *big.Int {
	log := new(big.Rat).SetFloat64(exact.SubUp(exact.LogUp(2), exact.LogDown(alpha))) // finite, at most ln 2 + 745
	log.Mul(log, sigma2)
	n := exact.CeilRat(log.Add(log, log))
	return n.Sqrt(n) // (⌊√n⌋ + 1)² > n
}
