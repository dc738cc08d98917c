package noise

import (
	"math"

	"dither/internal/exact"
)

// smoothing is how many uniform variables blur a combination.
const smoothing = 6

// smoothed is a quantile found from the characteristic functions of the discrete noises themselves, where their distance from
// continuous ones would be too much: of many small noises.
//
// Let U be the sum of r uniform variables on ±δ/r, independent of the combination X. Since |U| ≤ δ, |X| > y needs |X + U| > y − δ. X + U
// has a density, and its characteristic function is that of X, at most 1 in size, times (sin(δt/r)/(δt/r))^r, at most (r/(δt))^r.
func (c *Combination) smoothed(alpha, most float64, p pieces) float64 {
	delta := 0.03 * c.StdDev()
	if p.near <= 3*delta || alpha < 1e-6 || math.IsInf(most, 1) {
		return math.Inf(1) // the continuous noises' bound is as good, or known
	}
	most += delta
	far := p.discreteLimit(alpha/2000) + delta
	if !((most+far)/delta < 4000) { // noise that is hardly ever anything but 0: the series would be long, and the other bounds are good
		return math.Inf(1)
	}
	parts := make([]func(t float64) float64, len(c.terms))
	for i, part := range c.terms {
		parts[i] = discretely(part.noise)
	}
	tail, ok := inversion(alpha, most, far, func(t float64) (phi, beyond, kappa float64) {
		x := delta * t / smoothing
		phi = math.Pow(math.Sin(x)/x, smoothing)
		for i, part := range c.terms {
			x := parts[i](part.coefficient * t)
			if part.times != 1 {
				x = math.Pow(x, part.times)
			}
			phi *= x
		}
		return phi, math.Pow(1/x, smoothing), smoothing
	})
	if !ok {
		return math.Inf(1)
	}
	return crossing(tail, alpha, most) + delta
}

// discretely is the characteristic function of a discrete noise, which is positive: of a Laplace (1 − p)²/(1 − 2p·cos t + p²), and of a
// Gaussian a quotient of theta functions, either by its definition or, by Poisson's summation, as Σ exp(−σ²(t − 2πn)²/2) over n, over
// the same at 0.
func discretely(d Distribution) func(t float64) float64 {
	switch d := d.(type) {
	case DiscreteLaplace:
		// 1 − 2p·cos t + p² = (1 − p)² + 4p·sin²(t/2), and (1 − p)²/(4p) = sinh²(rate/2)
		sinh := math.Sinh(1 / exact.FloatUp(d.scale) / 2)
		return func(t float64) float64 {
			x := math.Sin(t/2) / sinh
			return 1 / (1 + x*x)
		}
	case DiscreteGaussian:
		v := d.float()
		norm := 0.0
		if v < 1 {
			for k := -12.0; k <= 12; k++ {
				norm += math.Exp(-k * k / (2 * v))
			}
			return func(t float64) float64 {
				t = math.Remainder(t, 2*math.Pi)
				sum := 0.0
				for k := -12.0; k <= 12; k++ {
					sum += math.Exp(-k*k/(2*v)) * math.Cos(k*t)
				}
				return max(sum, 0) / norm
			}
		}
		for n := -3.0; n <= 3; n++ {
			b := 2 * math.Pi * n
			norm += math.Exp(-v * b * b / 2)
		}
		return func(t float64) float64 {
			t = math.Remainder(t, 2*math.Pi)
			sum := 0.0
			for n := -3.0; n <= 3; n++ {
				a := t - 2*math.Pi*n
				sum += math.Exp(-v * a * a / 2)
			}
			return sum / norm
		}
	}
	return func(float64) float64 { return 1 } // no other noise gets here
}
