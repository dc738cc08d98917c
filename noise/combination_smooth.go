package noise

import (
	"cmp"
	"math"
	"slices"
)

// smoothing is the number of uniform variables that are added to a combination to smooth it.
const smoothing = 6

// smoothed returns a quantile from the characteristic functions of the discrete noises themselves. It is for many
// small noises, for which the distance to continuous noises is too large.
//
// For some δ > 0, let U be the sum of r uniform variables on ±δ/r, independent of the combination X. Since |U| ≤ δ,
// |X| > y implies |X + U| > y − δ. X + U has a density. Its characteristic function is that of X, which is at most
// 1 in magnitude, times (sin(δt/r)/(δt/r))^r, which is at most (r/(δt))^r.
func (c *Combination) smoothed(alpha, most float64, p pieces) float64 {
	delta := nearby / 3 * c.StdDev()
	if p.near <= nearby*c.StdDev() || alpha < leastInverted || math.IsInf(most, 1) {
		return math.Inf(1) // the bound from continuous noises is as good, or no bound is known
	}
	most += delta
	far := p.discreteLimit(alpha/2000) + delta
	if !((most+far)/delta < 4000) {
		// The noise is almost always 0. The series would be long, and the other bounds are good.
		return math.Inf(1)
	}
	decay := c.decay()
	tail, ok := inversion(alpha, most, far, func(t float64) (phi, beyond, kappa float64) {
		x := delta * t / smoothing
		blur := math.Sin(x) / x
		return math.Exp(-decay(t)) * sixth(blur), sixth(1 / x), smoothing
	})
	if !ok {
		return math.Inf(1)
	}
	return crossing(tail, alpha, most) + delta
}

// sixth returns x to the power of smoothing.
func sixth(x float64) float64 {
	cube := x * x * x
	return cube * cube
}

// nothing is the decay beyond which a characteristic function counts as 0. exp(−60) is below 1e-26, so a million
// such terms are less than the rounding error that inversion allows.
const nothing = 60

// decay returns the function −ln φ(t), where φ is the combination's characteristic function, which is positive.
// Values above the constant `nothing` are replaced by +Inf.
func (c *Combination) decay() func(t float64) float64 {
	parts := make([]func(t float64) float64, len(c.terms))
	known := map[Distribution]func(t float64) float64{}
	terms := slices.Clone(c.terms)
	slices.SortStableFunc(terms, func(x, y combined) int { // the largest decay comes first, because it usually decides
		return cmp.Compare(y.times*y.coefficient*y.coefficient, x.times*x.coefficient*x.coefficient)
	})
	for i, part := range terms {
		if known[part.noise] == nil {
			known[part.noise] = decayOf(part.noise)
		}
		parts[i] = known[part.noise]
	}
	return func(t float64) float64 {
		sum := 0.0
		for i := range terms {
			if sum += terms[i].times * parts[i](terms[i].coefficient*t); sum > nothing {
				return math.Inf(1)
			}
		}
		return sum
	}
}

// decayOf returns −ln of a discrete noise's characteristic function, which is positive. For a Laplace, with p =
// exp(−1/scale), it is (1 − p)²/(1 − 2p·cos t + p²). For a Gaussian it is a quotient of theta functions. These are
// summed by their definition for σ < 1. Otherwise, by Poisson's summation, the quotient is Σ exp(−σ²(t − 2πn)²/2)
// over n, divided by the same sum at t = 0.
//
// In the second case, |t| ≤ π may be assumed, because the function has period 2π. For σ ≥ 1, the terms |n| ≥ 2 are
// below 1e-17 of the term n = 0, and the terms n = ±1 are exp(−2πσ²(π ∓ |t|)) of it.
func decayOf(d Distribution) func(t float64) float64 {
	switch d := d.(type) {
	case DiscreteLaplace:
		// 1 − 2p·cos t + p² = (1 − p)² + 4p·sin²(t/2), and (1 − p)²/(4p) = sinh²(rate/2)
		sinh := math.Sinh(1 / d.floats.up / 2)
		return func(t float64) float64 {
			x := math.Sin(t/2) / sinh
			return math.Log1p(x * x)
		}
	case DiscreteGaussian:
		v := d.float()
		if v < 1 {
			return smallDecay(v)
		}
		norm := math.Log1p(2 * math.Exp(-2*math.Pi*math.Pi*v))
		return func(t float64) float64 {
			t = math.Abs(remainder(t))
			out := v*t*t/2 + norm
			if w := 2 * math.Pi * v * (math.Pi - t); w < 40 { // otherwise these terms change nothing
				out -= math.Log1p(math.Exp(-w) + math.Exp(-2*math.Pi*v*(math.Pi+t)))
			}
			return max(out, 0)
		}
	}
	return func(float64) float64 { return 0 } // pieces admits no other noise
}

// smallDecay is decayOf for a discrete Gaussian with σ² = v < 1. It sums the masses.
func smallDecay(v float64) func(t float64) float64 {
	const terms = 12
	var masses [terms + 1]float64
	norm := 0.0
	for k := range masses {
		masses[k] = math.Exp(-float64(k*k) / (2 * v))
		norm += masses[k]
		if k > 0 {
			norm += masses[k]
		}
	}
	return func(t float64) float64 {
		t = remainder(t)
		sum := masses[0]
		for k := 1; k <= terms && masses[k] > 0x1p-60; k++ {
			sum += 2 * masses[k] * math.Cos(float64(k)*t)
		}
		return -math.Log(min(max(sum, 0)/norm, 1))
	}
}

// remainder returns t minus the nearest multiple of 2π.
func remainder(t float64) float64 {
	return math.FMA(-math.RoundToEven(t/(2*math.Pi)), 2*math.Pi, t)
}
