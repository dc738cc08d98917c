package glm

import "math"

// Inside holds the chosen parameters of a fit with noise inside the objective.
type Inside struct {
	Regularise float64
	Share      float64 // the share of the price for the Hessian
	Expected   float64 // as in [Choice]
}

// leastInner is the part of the coefficients' price that a regulariser must leave for the noise. The mechanism needs a half.
const leastInner = 0.55

// Noise that hides curvature leaves no intervals, and much of the bias. far is the weight of such noise in the choice: the
// curvature of rare responses is a fraction of the usual one.
const far = 5

// Inside returns the regulariser, and the share of the price for the Hessian, with the least expected error. It returns an
// infinite expected error for prices in ρ, and if no regulariser suits the price. Rows is the number of which the kernel is
// told.
//
// A small regulariser Λ takes a part of ε, ln(1 + R²/(4Λ)) for each row of a unit, where R is the bound of the predictors'
// norm. A large one shrinks the coefficients, which [Newton.Inside] corrects with the noise of the Hessian and by an assumption.
func (t Terms) Inside(rows float64) Inside {
	best, least := Inside{Expected: math.Inf(1)}, math.Inf(1)
	d := float64(t.Predictors)
	h := t.Rows * t.Family.usualWeight() * usualSpread
	for _, share := range []float64{0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4} {
		hess := t.HessSD(share)
		for c := 0.001; c < 2; c *= 1.1 {
			whole := t.Epsilon * (1 - share)
			inner := whole*63/64 - t.Unit*math.Log1p(square(t.Bound)/(4*c*h)) - d*math.Log1p(t.Unit/rows)
			if t.Rho > 0 || !(inner >= leastInner*whole) {
				continue
			}
			noise := t.Moves * min(t.Bound, 1) * math.Sqrt((d+1)*(d+2)/3) / inner
			v := square(noise/h) + d*square(hess*c*usualCoefficient/h) + square(0.1*c*usualCoefficient)
			hidden := square((math.Sqrt(d) + 1) * hess / h)
			if score := v * (1 + square(far)*hidden); score < least {
				least, best = score, Inside{c * h, share, math.Sqrt(shrunk(v * (1 + 4*hidden)))}
			}
		}
	}
	return best
}

// Inside computes the fit from a minimum with noise inside the objective. The gradient of the risk at the released θ is −Λθ − b,
// where b is independent of the rows and has the standard deviation sd. So θ and −Λθ are a step of Newton's method, from θ
// instead of 0, whose gradient has the noise b. The Hessian is that at θ, with noise of the standard deviation hessSD.
func (n Newton) Inside(theta []float64, lambda, sd float64, hessian []float64, hessSD float64) *Fit {
	s := Sums{Theta: theta, Gradient: make([]float64, len(theta)), Hessian: hessian, GradSD: sd, HessSD: hessSD}
	for i, x := range theta {
		s.Gradient[i] = -lambda * x
	}
	return n.Infer([]Sums{s})
}
