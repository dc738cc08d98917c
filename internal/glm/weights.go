package glm

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// weighted is what the Hessian at θ tells of the rows. With an intercept among the predictors, Σℓ″xxᵀ holds the
// sum of the weights ℓ″, and the mean and the covariance of the predictors under these weights. The gradient at any
// other θ + δ is
//
//	∇F(θ + δ) − ∇F(θ) = Σ (μ(z + u) − μ(z))·x = w·E[f(z, u)·x],   z = θ·x, u = δ·x, f = (μ(z + u) − μ(z))/μ′(z),
//
// with E over the rows by their weights. To first order f is u, and the right-hand side Hδ, whatever the rows are;
// beyond that their law matters, of which two moments are known, and it is taken to be normal. So the error of this is
// one of third order, in what is itself a correction.
type weighted struct {
	family     Family
	total      float64   // w
	mean       []float64 // of x
	covariance *mat.Dense
	theta      []float64
}

// weigh reads a Hessian; nil if it does not tell a law. intercept is the place of the constant predictor, whose value
// is one; without one the mean is taken to be 0, and rows to be of the largest weight, if it is a bounded one.
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

// nodes are those of Gauss and Hermite's rule for a standard normal law, of 15 points.
var nodes, nodeWeights = hermite(15)

// change is ∇F(θ + δ) − ∇F(θ), and the Hessian at θ + δ.
//
// With normal x, and Σ its covariance, E[f·x] = E[f]·m + Σ(θ·E[f_z] + δ·E[f_u]) [Stein's lemma].
func (w *weighted) change(delta []float64) []float64 {
	a, b := times(w.covariance, w.theta), times(w.covariance, delta)
	vz, vu, c := max(inner(a, w.theta), 0), max(inner(b, delta), 0), inner(b, w.theta)
	mz, mu := inner(w.mean, w.theta), inner(w.mean, delta)
	// u = mu + s·g, z = mz + c/s·g + t·h
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

// ratio is f at (z, u), and its derivatives.
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

// hermite is Gauss's rule for the standard normal law: the eigenvalues of the Jacobi matrix of Hermite's polynomials,
// and the squares of the first entries of its eigenvectors [Golub & Welsch 1969].
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
