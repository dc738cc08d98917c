package glm

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Inside holds the chosen parameters of a fit with noise inside the objective.
type Inside struct {
	Regularise float64
	Share      float64 // the share of the price for the Hessian
	Expected   float64 // as in [Choice]
}

// leastInner is the part of the coefficients' price that a regulariser must leave for the noise. The mechanism needs a
// half.
const leastInner = 0.55

// Noise or a penalty that hides curvature leaves no intervals, and much of the bias. far is the weight of both in the
// choice: the curvature of rare responses, and of rare values of predictors, is a fraction of the usual one.
const far = 5

// Inside returns the regulariser, and the share of the price for the Hessian, with the least expected error. It returns
// an infinite expected error for prices in ρ, and if no regulariser suits the price. The
// kernel takes `rows` as the number of rows.
//
// A small regulariser Λ takes a part of ε, ln(1 + R²/(4Λ)) for each row of a unit, where R is the bound of the
// predictors' norm. A large one shrinks the coefficients, which [Newton.Inside] corrects with the noise of the Hessian
// and by an assumption.
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
			noise := (t.Moves*min(t.Bound, 1) + c*h*t.Drift) * math.Sqrt((d+1)*(d+2)/3) / inner
			v := square(noise/h) + d*square(hess*c*usualCoefficient/h) + square(0.1*c*usualCoefficient)
			hidden := square((math.Sqrt(d) + 1) * hess / h)
			// 1/h is the variance by sampling
			if score := (v + 1/h) * (1 + square(far)*(hidden+c*c)); score < least {
				least, best = score, Inside{c * h, share, math.Sqrt(shrunk(v * (1 + 4*hidden)))}
			}
		}
	}
	return best
}

// Perturbed is a released minimum with noise inside the objective: that of F(θ) + Λ/2‖θ‖² + ⟨b, θ⟩ over a ball, where F
// is the sum of the rows' logistic losses.
type Perturbed struct {
	Theta      []float64
	Hessian    []float64 // the lower triangle of Σℓ″xxᵀ at Theta, row by row
	Regularise float64   // Λ
	Bound      float64   // the bound on the norm of the predictors
	// the standard deviations of a number of b, of the noise on a number of Theta, and of that on an entry of the
	// Hessian
	SD, ThetaSD, HessSD float64
}

// Inside computes the fit from a minimum with noise inside the objective. Within the ball, the gradient of F at Theta
// is −Λθ − b, where b is independent of the rows. So θ and −Λθ are a step of Newton's method, from θ instead of 0,
// whose gradient has the noise b. The noise on Theta moves the gradient by at most the largest curvature, n·R²/4 + Λ,
// times as much, for n rows and the bound R. On the edge of the ball the gradient is not known.
func (n Newton) Inside(p Perturbed) *Fit {
	d := len(p.Theta)
	s := Sums{
		Theta: p.Theta, Gradient: make([]float64, d), Hessian: p.Hessian, HessSD: p.HessSD, Ridge: p.Regularise,
		GradSD: math.Hypot(p.SD, p.ThetaSD*(n.Rows*square(p.Bound)/4+p.Regularise)),
	}
	for i, x := range p.Theta {
		s.Gradient[i] = -p.Regularise * x
	}
	f := n.Infer([]Sums{s})
	f.doubtHessian()
	if length(p.Theta) > n.Radius*(1-1e-6)-8*math.Sqrt(float64(d))*p.ThetaSD {
		f.unknown = true
		f.warn(atRadius)
	}
	return f
}

// doubtHessian raises the variance of each coefficient by the standard deviation of its own error, as [Infer] does. The
// variances are aᵀVa and aᵀJa, where a is a row of J⁻¹ and V the covariance of the gradient's noise. They depend on the
// released Hessian alone, so a J that noise makes too large makes both the correction and the variances too small.
func (f *Fit) doubtHessian() {
	if f.inverse == nil { // the arithmetic failed
		return
	}
	f.Sampling = mat.DenseCopyOf(f.Sampling) // it was J⁻¹ itself
	for i := range f.Theta {
		a, noise := mat.Row(nil, i, f.inverse), mat.Row(nil, i, f.Noise) // J⁻¹Va is a row of Noise, J⁻¹Ja is a
		f.Sampling.Set(i, i, f.Sampling.At(i, i)+f.turned(a, a))
		f.Noise.Set(i, i, f.Noise.At(i, i)+f.turned(a, noise))
	}
}
