package account

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// The discrete Gaussian mechanism adds random noise X to one integer that moves by at most Δ between neighbours. X
// is an integer with probability f(x)/Z, where f(x) = exp(−x²/(2σ²)) and Z = Σ_y f(y) over the integers. The least
// δ at which the mechanism is (ε, δ)-differentially private is [Canonne, Kamath & Steinke 2020, Theorem 7, for Δ =
// 1]
//
//	δ(ε) = P(X > t) − e^ε·P(X > t + Δ),  t = εσ²/Δ − Δ/2.
//
// Proof. For a shift by m, P(X = y) > e^ε·P(X = y + m) if and only if y > εσ²/m − m/2. So the event with the
// largest difference is a half-line, and δ_m(ε) = sup_t P(X > t) − e^ε·P(X > t + m). This does not decrease in m,
// so the largest shift is the worst at every ε. By symmetry, shifts up and down have the same δ. ∎
//
// For a vector the curve is more complicated, and is not computed here. The bounds RenyiGaussian and zCDP hold for
// vectors.

// DiscreteGaussianDelta returns a lower and an upper bound of the least δ at which discrete Gaussian noise is (e,
// δ)-differentially private. The noise has parameter sigma2 and is added to one integer of sensitivity units. Up to
// σ = 256 the bounds are a few floats apart. Above that, their relative distance is about (c+1)/σ², if the tail
// begins at a distance of c·σ from 0. If sigma2 is not positive or units is negative, or either is nil, the bounds
// are the trivial ones, 0 and 1.
func DiscreteGaussianDelta(sigma2 *big.Rat, units *big.Int, e privacy.Epsilon) (lower, upper float64) {
	switch {
	case sigma2 == nil || sigma2.Sign() <= 0 || units == nil || units.Sign() < 0:
		return 0, 1
	case units.Sign() == 0:
		return 0, 0
	}
	d := discreteGaussian{sigma2: sigma2, units: units, epsilon: e.Rat()}
	// t is rational, so the first integer above it is exact.
	step := new(big.Rat).SetInt(units)
	t := new(big.Rat).Quo(new(big.Rat).Mul(d.epsilon, sigma2), step)
	t.Sub(t, step.Quo(step, big.NewRat(2, 1)))
	d.first = exact.FloorRat(t)
	d.first.Add(d.first, big.NewInt(1))
	tail := d.exponent(d.first)
	switch {
	case d.first.Sign() > 0 && tail.Cmp(big.NewRat(1<<17, 1)) > 0:
		// the noise is σ²-subgaussian, so it is at least first with probability at most exp(−first²/(2σ²))
		return 0, math.SmallestNonzeroFloat64
	case d.epsilon.Cmp(big.NewRat(1<<18, 1)) > 0, d.first.Sign() < 0 && tail.Cmp(big.NewRat(1<<17, 1)) > 0:
		return 0, 1 // ε or the shift is beyond the range of the evaluation
	}
	evaluate := d.integrated
	if sigma2.Cmp(big.NewRat(1<<16, 1)) <= 0 {
		evaluate = d.summed
	}
	for bits := uint(128); ; bits *= 2 {
		lower, upper = evaluate(bits).Floats()
		if lower, upper = max(lower, 0), min(upper, 1); bits >= 1<<11 || upper-lower <= upper*0x1p-48 ||
			sigma2.Cmp(big.NewRat(1<<16, 1)) > 0 && bits >= 256 {
			return lower, upper
		}
	}
}

// DiscreteGaussianEpsilon returns an upper bound of the least ε at which discrete Gaussian noise is (ε,
// d)-differentially private. The noise has parameter sigma2 and is added to one integer of sensitivity units. Where
// σ is at most 256, the bound is within a share of 10⁻⁹ of the least ε. It is +Inf at d = 0, and for parameters for
// which DiscreteGaussianDelta has only trivial bounds.
func DiscreteGaussianEpsilon(sigma2 *big.Rat, units *big.Int, d privacy.Delta) float64 {
	within := func(epsilon float64) bool {
		e, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(epsilon))
		if err != nil {
			return false
		}
		_, upper := DiscreteGaussianDelta(sigma2, units, e)
		return new(big.Rat).SetFloat64(upper).Cmp(d.Rat()) <= 0
	}
	if within(0) {
		return 0
	}
	if d.IsZero() || sigma2 == nil || sigma2.Sign() <= 0 || units == nil || units.Sign() < 0 {
		return math.Inf(1)
	}
	mu2 := new(big.Rat).SetInt(new(big.Int).Mul(units, units))
	high := RenyiGaussian(mu2.Quo(mu2, sigma2)).Epsilon(d)
	if math.IsInf(high, 1) || !within(high) {
		return high // Rényi's bound also holds for the discrete Gaussian
	}
	low := 0.0
	for high-low > high*1e-10 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if within(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// discreteGaussian holds the parameters of one evaluation: δ = (Σ_{y ≥ first} f(y) − e^ε·f(y + units)) / Z. Its
// methods use f(x) = exp(−x²/(2σ²)) and Z = Σ_y f(y).
type discreteGaussian struct {
	sigma2, epsilon *big.Rat
	units, first    *big.Int
}

// exponent returns y²/(2σ²).
func (d discreteGaussian) exponent(y *big.Int) *big.Rat {
	r := new(big.Rat).SetInt(new(big.Int).Mul(y, y))
	return r.Quo(r, new(big.Rat).Add(d.sigma2, d.sigma2))
}

// summed computes δ by adding the terms, for σ of at most 256.
func (d discreteGaussian) summed(bits uint) exact.Interval {
	shifted := new(big.Int).Add(d.first, d.units)
	above := d.above(d.first, bits).Sub(exact.IntervalOf(d.epsilon, bits).Exp().Mul(d.above(shifted, bits)))
	half := d.above(big.NewInt(1), bits)
	return above.Quo(whole(1, bits).Add(half).Add(half))
}

// above returns Σ_{y ≥ k} f(y), with the f of [discreteGaussian]. For k < 1, by symmetry, it is the sum over all
// integers minus the sum from 1 − k on.
func (d discreteGaussian) above(k *big.Int, bits uint) exact.Interval {
	if k.Sign() > 0 {
		return halfLattice(new(big.Rat).SetInt(k), d.sigma2, bits)
	}
	one := big.NewInt(1)
	side := d.above(one, bits)
	return whole(1, bits).Add(side).Add(side).Sub(d.above(new(big.Int).Sub(one, k), bits))
}

// halfLattice returns Σ_{j ≥ 0} f(s + j), for f(x) = exp(−x²/(2σ²)) and s ≥ 0. Each ratio f(x+1)/f(x) =
// e^(−(x+½)/σ²) is e^(−1/σ²) times the previous ratio.
func halfLattice(s, sigma2 *big.Rat, bits uint) exact.Interval {
	inverse := new(big.Rat).Inv(sigma2)
	exponent := new(big.Rat).Mul(s, s)
	exponent.Mul(exponent, inverse).Quo(exponent, big.NewRat(2, 1))
	slope := new(big.Rat).Add(s, big.NewRat(1, 2))
	term := decay(exact.IntervalOf(exponent, bits), bits)
	ratio := decay(exact.IntervalOf(slope.Mul(slope, inverse), bits), bits)
	bend := decay(exact.IntervalOf(inverse, bits), bits)
	lower := fallingSum(term.Lo(), ratio.Lo(), bend.Lo(), big.ToNegativeInf, bits)
	upper := fallingSum(term.Hi(), ratio.Hi(), bend.Hi(), big.ToPositiveInf, bits)
	return exact.Hull(exact.PointOf(lower, bits), exact.PointOf(upper, bits))
}

// fallingSum returns a bound of a + ar + ar·rb + ar·rb·rb² + …, where a is term, r is ratio and b is bend. The
// rounding mode gives the side of the bound. Each ratio of successive terms is b < 1 times the previous one. The
// sum ends at a term below 2^−bits of a. An upper bound also includes the remaining terms: at most the first of
// them divided by 1 minus the ratio there.
func fallingSum(term, ratio, bend *big.Float, mode big.RoundingMode, bits uint) *big.Float {
	sum, one := new(big.Float).SetPrec(bits).SetMode(mode), big.NewFloat(1)
	for _, x := range []*big.Float{term, ratio, bend} {
		x.SetPrec(bits).SetMode(mode)
	}
	for end := term.MantExp(nil) - int(bits) - 8; term.Sign() > 0 && term.MantExp(nil) > end; {
		sum.Add(sum, term)
		term.Mul(term, ratio)
		ratio.Mul(ratio, bend)
	}
	if mode == big.ToPositiveInf {
		rest := new(big.Float).SetPrec(bits).SetMode(big.ToNegativeInf).Sub(one, ratio)
		sum.Add(sum, term.Quo(term, rest))
	}
	return sum
}

// integrated bounds the sums of discreteGaussian by integrals, for σ above 256.
//
// Let f(x) = exp(−x²/(2σ²)) and a = first − ½. By the midpoint rule, Σ_{y ≥ first} f(y) differs from ∫_a^∞ f by at
// most V(a) = ⅛∫_a^∞|f″|: on each unit interval with midpoint x, f(x) − ∫f = −∫K·f″ with a kernel 0 ≤ K ≤ ⅛. f″
// changes sign at ±σ, and |f′| ≤ e^(−½)/σ. So V(a) is at most f(a)·a/(8σ²) for a ≥ σ, and at most e^(−½)/(2σ)
// otherwise. By Poisson summation, σ√(2π) ≤ Z ≤ σ√(2π)·(1+2^−bits) for these σ, where Z is the sum of f over the
// integers.
func (d discreteGaussian) integrated(bits uint) exact.Interval {
	sigma := exact.IntervalOf(d.sigma2, bits).Sqrt()
	one := whole(1, bits)
	tail := func(k *big.Int) exact.Interval { // Σ_{y ≥ k} f(y) / (σ√(2π))
		a := new(big.Rat).SetInt(k)
		a.Sub(a, big.NewRat(1, 2))
		x := exact.IntervalOf(a, bits).Quo(sigma)
		doubt := whole(1, bits).Quo(whole(4, bits).Mul(sigma).Mul(sigma)) // e^(−½)/(2√(2π)) < ¼
		if x.Lo().Cmp(big.NewFloat(1)) >= 0 {
			near := x
			// x times the normal density at x decreases here, so its value at 1400 is a bound
			if x.Hi().Cmp(big.NewFloat(1400)) > 0 {
				near = whole(1400, bits)
			}
			doubt = near.NormalDensity().Mul(near).Quo(whole(8, bits).Mul(sigma).Mul(sigma))
		}
		return x.NormalTail().Add(exact.Hull(whole(0, bits).Sub(doubt), doubt))
	}
	shifted := new(big.Int).Add(d.first, d.units)
	above := tail(d.first).Sub(exact.IntervalOf(d.epsilon, bits).Exp().Mul(tail(shifted)))
	epsilon := new(big.Float).SetMantExp(big.NewFloat(1), -int(bits))
	return above.Quo(exact.Hull(one, one.Add(exact.PointOf(epsilon, bits))))
}
