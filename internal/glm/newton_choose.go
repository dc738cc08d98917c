package glm

import "math"

// Steps are the shares of the price of a few Newton steps, in hundredths: for the gradient and for the Hessian at the θ of
// each step. The last Hessian has a share, since intervals depend on it. One between may have none.
type Steps struct {
	Gradient, Hessian []int
	Expected          float64 // as in [Choice]
}

// Steps returns the shares with the least expected error, for two to four steps.
func (t Terms) Steps() Steps { return t.steps(1) }

// EvenSteps returns the shares with the least expected error of two steps that have half of the price each. A small price is
// divided so if a policy permits no smaller part.
func (t Terms) EvenSteps() Steps { return t.steps(50) }

// steps returns the best shares of which each step has at least so many hundredths.
func (t Terms) steps(least int) Steps {
	best := Steps{Expected: math.Inf(1)}
	try := func(gradient, hessian []int) {
		left := 100
		for i := range hessian {
			left -= hessian[i]
			if i < len(gradient) {
				left -= gradient[i]
			}
		}
		if left < 30 {
			return
		}
		gradient = append(gradient, left)
		for i, g := range gradient {
			if g+hessian[i] < least {
				return
			}
		}
		if e := t.expected(gradient, hessian); best.Gradient == nil || e < best.Expected {
			best = Steps{gradient, hessian, e}
		}
	}
	for _, g0 := range []int{10, 15, 20} {
		for _, h0 := range []int{10, 15, 20, 25, 30} {
			for _, last := range []int{10, 20, 30} {
				try([]int{g0}, []int{h0, last})
				for _, g1 := range []int{10, 15, 20} {
					try([]int{g0, g1}, []int{h0, 0, last})
					try([]int{g0, g1, 10}, []int{h0, 0, 10, last})
				}
			}
		}
	}
	return best
}

// Weigh returns the leverage for Newton steps with the least sum of the squared error and the squared width of intervals,
// between the usual norm of the predictors and their bound. It returns 0, for no weights, at the bound and under a pure ε,
// whose noise is for the largest number of a row. One predictor must be an intercept: else the Hessian does not show the
// sum of the weights.
//
// A smaller leverage means less noise. But intervals take J⁻¹ for the variance by sampling, where J is the weighted Hessian.
// The variance is J⁻¹ΣJ⁻¹ with Σ = Σw²ℓ″xxᵀ ≤ J. So J⁻¹ is too large by 1/w for rows of equal weight w, which is at least the
// ratio of the leverage and the bound.
func (t Terms) Weigh() float64 {
	constant := min(1, square(t.Bound))
	usual := math.Sqrt(constant + usualSpread*(square(t.Bound)-constant))
	best, least := 0.0, math.Inf(1)
	for v := t.Bound; t.Rho > 0 && v > 0.99*usual; v /= 1.1 {
		t.Leverage = v
		sampling := 1 / (t.Rows * t.Family.usualWeight() * usualSpread)
		if score := 2*square(t.Steps().Expected) + (1+t.Bound/v)*sampling; score < least {
			best, least = v, score
		}
	}
	if best >= t.Bound {
		return 0
	}
	return best
}

// farStart and farHess are the errors of a step by the assumed distribution of the rows, for planning: rare responses are
// far from θ = 0, and predictors may be skewed.
const (
	farStart = 0.4
	farHess  = misfitHess
)

// expected returns the approximate standard error that the noise of the steps adds. With the assumptions of
// [Terms.Choose] about the rows, the first step has the errors of its gradient, of its Hessian times the coefficients, and
// of the assumed distribution. Later steps have those of their gradient, of the Hessian times the step, and of higher
// orders of the step.
func (t Terms) expected(gradient, hessian []int) float64 {
	d := float64(t.Predictors)
	weights := t.Rows * t.Family.usualWeight()
	h := weights * usualSpread
	share := func(x int) float64 { return float64(x) / 100 }
	doubt := square(t.HessSD(share(hessian[0])))
	v := shrunk(square(t.GradSD(share(gradient[0]), 0.5)/h) + d*doubt*square(usualCoefficient/h) + square(farStart*usualCoefficient))
	step := 1.0
	for i := 1; i < len(gradient); i++ {
		doubt += square(farHess*weights*step) / d
		if hessian[i] > 0 {
			doubt = 1 / (1/doubt + 1/square(t.HessSD(share(hessian[i]))))
		}
		step = min(1, math.Sqrt(d*v))
		v = shrunk(square(t.GradSD(share(gradient[i]), 1)/h) + doubt*d*v/square(h) + square(0.1*d*v))
	}
	return math.Sqrt(v)
}

// shrunk returns the squared error of an estimate that is shrunk towards 0, from its squared error before.
func shrunk(v float64) float64 { return 1 / (1/v + 1/square(usualCoefficient)) }

// GradSD returns the standard deviation of the noise of a gradient's entry at a share of the price, for rows with |ℓ′| ≤
// steep. HessSD returns that of a Hessian's entry.
func (t Terms) GradSD(share, steep float64) float64 {
	return t.Moves * steep * t.sums(share, float64(t.Predictors), 1)
}

// HessSD returns the standard deviation of the noise of a Hessian's entry at a share of the price.
func (t Terms) HessSD(share float64) float64 {
	d := float64(t.Predictors)
	return t.Moves / 4 * t.sums(share, d*(d+1)/2, 2)
}

// sums returns the noise of a vector of k sums for a row of weight 1: under a pure ε that of mechanism.Cube, for
// predictors of magnitude at most 1, and under ρ Gaussian noise for the norm to the given power, less one factor of the
// norm if rows are weighted by their leverage.
func (t Terms) sums(share, k float64, power int) float64 {
	if t.Rho > 0 {
		norm := math.Pow(t.Bound, float64(power))
		if t.Leverage > 0 {
			norm *= min(1, t.Leverage/t.Bound)
		}
		return norm / math.Sqrt(2*t.Rho*share)
	}
	return math.Pow(min(t.Bound, 1), float64(power)) * math.Sqrt((k+1)*(k+2)/3) / (t.Epsilon * share)
}
