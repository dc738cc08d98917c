package glm

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Sums are released sums over the rows at one θ: the gradient Σℓ′x and the lower triangle of the Hessian Σℓ″xxᵀ, with
// the standard deviations of the noise on one entry.
type Sums struct {
	Theta             []float64
	Gradient, Hessian []float64
	GradSD, HessSD    float64
}

// Newton describes two noisy steps of Newton's method from θ = 0, for a logistic model.
type Newton struct {
	Rows      float64 // the approximate number of rows
	Intercept int     // the index of the constant predictor; −1 if there is none
	Radius    float64
	Laplace   float64
}

// prior is the standard deviation of a scaled predictor's coefficient that the steps assume. Directions of which the
// rows say less than that are shrunk towards 0.
const prior = 2.5

// located is a solution with its accuracy.
type located struct {
	theta    []float64
	curve    *mat.Dense // J, the Hessian at theta
	gain     *mat.Dense // the change of theta for a change of the gradient
	allowed  *mat.Dense // the covariance of the gradient's error that gain assumes
	shrunk   *mat.Dense // the posterior covariance over prior²: the share of theta that the prior replaces
	step     []float64
	first    []float64 // the step with the Hessian of its start alone
}

// locate solves ∇F(θ) = 0 from released sums at s.Theta.
func (n Newton) locate(s Sums, h mat.Symmetric, noise func(step []float64) *mat.Dense) *located {
	d := len(s.Theta)
	e := decompose(h)
	if e == nil {
		return nil
	}
	floor := max(s.HessSD, 1e-9*n.Rows, 1e-9)
	raised := e.apply(func(l float64) float64 { return max(l, floor) })
	w := weigh(Logistic, s.Theta, raised, n.Intercept, n.Rows)
	if w == nil {
		return nil
	}
	delta := make([]float64, d)
	out := &located{theta: make([]float64, d), curve: raised}
	for round := range 60 {
		if round > 0 {
			out.curve = w.slope(delta)
			if q := decompose(symmetrised(out.curve)); q != nil {
				out.curve = q.apply(func(l float64) float64 { return max(l, floor) })
			}
		}
		var v, precision, weighted mat.Dense
		v.Add(out.curve, noise(delta))
		out.allowed = mat.DenseCopyOf(&v)
		if weighted.Solve(&v, out.curve) != nil { // V⁻¹J
			return nil
		}
		precision.Mul(out.curve, &weighted) // J V⁻¹ J
		for i := range d {
			precision.Set(i, i, precision.At(i, i)+1/square(prior))
		}
		var inverse mat.Dense
		if inverse.Inverse(&precision) != nil {
			return nil
		}
		out.gain = mat.NewDense(d, d, nil)
		out.gain.Mul(&inverse, weighted.T()) // (JV⁻¹J + P)⁻¹ J V⁻¹
		out.shrunk = mat.NewDense(d, d, nil)
		out.shrunk.Scale(1/square(prior), &inverse)
		off := w.change(delta)
		for i := range off {
			off[i] = -s.Gradient[i] - off[i]
		}
		to := times(out.gain, off)
		for i, x := range times(out.shrunk, sum(s.Theta, delta)) {
			to[i] -= x
		}
		if round == 0 {
			out.first = append([]float64(nil), to...)
		}
		l := length(to)
		if l > 1 {
			for i := range to {
				to[i] /= l
			}
		}
		for i := range delta {
			delta[i] += to[i]
		}
		if l < 1e-7 {
			break
		}
	}
	out.step = delta
	out.theta = sum(s.Theta, delta)
	if l := length(out.theta); l > n.Radius {
		for i := range out.theta {
			out.theta[i] *= n.Radius / l
		}
	}
	return out
}

func sum(a, b []float64) []float64 {
	out := append([]float64(nil), a...)
	for i, x := range b {
		out[i] += x
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

// turned returns the covariance of E·x for a symmetric E with entries of standard deviation sd.
func turned(x []float64, sd float64) *mat.Dense {
	d := len(x)
	c := mat.NewDense(d, d, nil)
	all := inner(x, x)
	for i := range d {
		for k := range d {
			v := x[i] * x[k]
			if i == k {
				v = all
			}
			c.Set(i, k, sd*sd*v)
		}
	}
	return c
}

func (n Newton) noise(s Sums, sd float64) func([]float64) *mat.Dense {
	return func(step []float64) *mat.Dense {
		c := turned(step, sd)
		for i := range len(step) {
			c.Set(i, i, c.At(i, i)+s.GradSD*s.GradSD)
		}
		return c
	}
}

// First returns the θ at which the second sums are released.
func (n Newton) First(s Sums) []float64 {
	at := n.locate(s, symmetric(len(s.Theta), s.Hessian), n.noise(s, s.HessSD))
	if at == nil {
		return make([]float64, len(s.Theta))
	}
	return at.theta
}

// Infer computes the fit from the sums at 0 and at the θ of First.
func (n Newton) Infer(at0, at Sums) *Fit {
	d := len(at.Theta)
	f := &Fit{Theta: append([]float64(nil), at.Theta...), Slack: make([]float64, d), Sampling: mat.NewDense(d, d, nil), Noise: mat.NewDense(d, d, nil)}
	// the Hessian at θ from that at 0
	h0 := symmetric(d, at0.Hessian)
	var h mat.Symmetric
	sd := math.Inf(1)
	if e := decompose(h0); e != nil {
		floor := max(at0.HessSD, 1e-9*n.Rows, 1e-9)
		if w := weigh(Logistic, at0.Theta, e.apply(func(l float64) float64 { return max(l, floor) }), n.Intercept, n.Rows); w != nil {
			h, sd = symmetrised(w.slope(at.Theta)), at0.HessSD*0.8
		}
	}
	if at.Hessian != nil {
		h1 := symmetric(d, at.Hessian)
		misfit := 0.1 * h1.At(0, 0) / math.Sqrt(float64(d))
		share := 1.0
		if h != nil {
			share = (sd*sd + misfit*misfit) / (sd*sd + misfit*misfit + at.HessSD*at.HessSD)
		}
		both := mat.NewSymDense(d, nil)
		for i := range d {
			for k := range i + 1 {
				x := share * h1.At(i, k)
				if h != nil {
					x += (1 - share) * h.At(i, k)
				}
				both.SetSym(i, k, x)
			}
		}
		s2 := share * at.HessSD
		if h != nil {
			s2 = math.Hypot(s2, (1-share)*sd)
		}
		h, sd = both, s2
	}
	if h == nil {
		f.unknown = true
		return f
	}
	at.HessSD = sd
	to := n.locate(at, h, n.noise(at, sd))
	if to == nil {
		f.unknown = true
		return f
	}
	f.Theta = to.theta
	f.Sampling = sandwich(to.gain, to.curve)
	f.Noise = sandwich(to.gain, n.noise(at, sd)(to.step))
	for i, x := range times(to.shrunk, to.theta) {
		f.Slack[i] = math.Abs(x)
	}
	e := decompose(symmetrised(to.shrunk))
	if e == nil {
		f.unknown = true
		return f
	}
	f.weak = e.apply(func(l float64) float64 { return indicator(l > 0.2) })
	if e.values[d-1] <= 0.2 {
		f.weak = nil
	}
	return f
}
