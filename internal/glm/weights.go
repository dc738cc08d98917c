package glm

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// weighted describes the rows, as far as the Hessian at θ determines them. With an intercept among the predictors,
// Σℓ″xxᵀ contains the sum w of the weights ℓ″. It also contains the mean and the covariance of the predictors under
// these weights. The change of the gradient to any other θ + δ is
//
//	∇F(θ + δ) − ∇F(θ) = Σ (μ(z + u) − μ(z))·x = w·E[f(z, u)·x],   z = θ·x, u = δ·x, f = (μ(z + u) − μ(z))/μ′(z),
//
// where F is the sum of the rows' losses, μ(z) the model's mean response, and E the mean over the rows by their
// weights. To first order f = u, and the right-hand side is Hδ for all rows. Higher orders depend on the
// distribution of the rows. Two of its moments are known, and it is assumed to be normal. So the error is of third
// order, in a term that is itself a correction.
type weighted struct {
	family     Family
	total      float64   // w, the sum of the weights
	mean       []float64 // the weighted mean of x
	covariance *mat.Dense
	theta      []float64
}

// weigh returns the weighted description from a Hessian h, or nil if noise hides the sum of the weights. intercept
// is the index of the constant predictor, which is 1. If intercept is negative, weigh assumes a mean of 0, and that
// rows have the largest weight of a logistic model, 1/4.
func weigh(f Family, theta []float64, h mat.Matrix, intercept int, rows float64) *weighted {
	d := len(theta)
	w := &weighted{family: f, theta: theta, mean: make([]float64, d), covariance: mat.NewDense(d, d, nil)}
	if w.total = rows / 4; intercept >= 0 {
		w.total = h.At(intercept, intercept)
	}
	if !(w.total > 0) {
		return nil
	}
	for i := range d {
		if intercept >= 0 {
			w.mean[i] = h.At(i, intercept) / w.total
		}
	}
	for i := range d {
		for j := range d {
			w.covariance.Set(i, j, h.At(i, j)/w.total-w.mean[i]*w.mean[j])
		}
	}
	return w
}

// nodes and nodeWeights are the Gauss–Hermite rule with 15 points for a standard normal distribution.
var nodes, nodeWeights = hermite(15)

// change returns ∇F(θ + δ) − ∇F(θ).
//
// For normal x with covariance Σ and mean m, E[f·x] = E[f]·m + Σ(θ·E[f_z] + δ·E[f_u]), where f_z and f_u are the
// derivatives of the f of [weighted] [Stein's lemma].
func (w *weighted) change(delta []float64) []float64 {
	a, b := times(w.covariance, w.theta), times(w.covariance, delta)
	vz, vu, c := max(inner(a, w.theta), 0), max(inner(b, delta), 0), inner(b, w.theta)
	mz, mu := inner(w.mean, w.theta), inner(w.mean, delta)
	// u = mu + s·g and z = mz + c/s·g + t·h, with independent standard normal g and h
	s := math.Sqrt(vu)
	slope := 0.0
	if s > 0 {
		slope = c / s
	}
	t := math.Sqrt(max(vz-slope*slope, 0))
	var f, fz, fu float64
	for i, g := range nodes {
		for j, h := range nodes {
			x, z, u := w.family.ratio(mz+slope*g+t*h, mu+s*g)
			p := nodeWeights[i] * nodeWeights[j]
			f, fz, fu = f+p*x, fz+p*z, fu+p*u
		}
	}
	out := make([]float64, len(delta))
	for i := range out {
		out[i] = w.total * (f*w.mean[i] + fz*a[i] + fu*b[i])
	}
	return out
}

// slope returns J = ∂change/∂δ at δ, by differences.
func (w *weighted) slope(delta []float64) *mat.Dense {
	d := len(delta)
	j := mat.NewDense(d, d, nil)
	const step = 1e-4
	for k := range d {
		up, down := append([]float64(nil), delta...), append([]float64(nil), delta...)
		up[k] += step
		down[k] -= step
		a, b := w.change(up), w.change(down)
		for i := range d {
			j.Set(i, k, (a[i]-b[i])/(2*step))
		}
	}
	return j
}

// ratio returns the ratio f of [weighted] at (z, u), and its derivatives by z and by u.
func (f Family) ratio(z, u float64) (value, byZ, byU float64) {
	z, u = min(max(z, -30), 30), min(max(u, -30), 30)
	if f == Poisson { // μ = μ′ = eᶻ
		return math.Expm1(u), 0, math.Exp(u)
	}
	at, to := 1/(1+math.Exp(-z)), 1/(1+math.Exp(-z-u))
	r := (1 + math.Exp(z)) / (1 + math.Exp(z+u))
	value = math.Expm1(u) * r
	return value, value * (at - to), math.Exp(u)*r - value*to
}

// hermite returns Gauss's rule with n points for the standard normal distribution. The points are the eigenvalues
// of the Jacobi matrix of the Hermite polynomials. The weights are the squares of the first entries of its
// eigenvectors [Golub & Welsch 1969].
func hermite(n int) (at, weight []float64) {
	m := mat.NewSymDense(n, nil)
	for i := 1; i < n; i++ {
		m.SetSym(i, i-1, math.Sqrt(float64(i)))
	}
	s := decompose(m)
	for j := range n {
		weight = append(weight, s.vectors.At(0, j)*s.vectors.At(0, j))
	}
	return s.values, weight
}
