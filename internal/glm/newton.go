package glm

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Sums are released sums over the rows at one θ: the gradient Σℓ′x and the lower triangle of the Hessian Σℓ″xxᵀ, with
// the standard deviations of the noise on one entry.
type Sums struct {
	Theta             []float64
	Gradient, Hessian []float64 // Hessian is nil if it was not released
	GradSD, HessSD    float64
	Ridge             float64 // the penalty of a perturbed objective, whose bias the gradient corrects; 0 if there is none
}

// Newton fits a logistic model by a few steps of Newton's method from θ = 0, on sums that are released at the θ of each
// step. It describes what was released as beliefs about the minimum of F over the rows. [Newton.Infer] adds the sampling
// of the rows.
type Newton struct {
	Rows      float64 // the approximate number of rows
	Intercept int     // the index of the constant predictor; −1 if there is none
	Radius    float64 // the bound on the norm of the coefficients
	Laplace   bool    // whether the noise has longer tails than a normal distribution, at most those of a Laplace distribution
}

// Assumptions. A scaled predictor's coefficient has a standard deviation of about spreadOfTheta: directions of which the
// sums say less are shrunk towards 0. A step is off by about misfit of its length, and in each coefficient by as much as
// that changed, because the distribution of the rows is assumed: rows with rare values have a smaller part in the
// Hessian of the next step than noise lets the one before show. A Hessian that is computed from that of an earlier step
// of length 1 or more is off by about misfitHess of the sum of the weights, and in proportion for shorter steps.
const (
	spreadOfTheta = 1.5
	misfit        = 0.2
	misfitHess    = 0.2
	mostShrunk    = 0.2  // the largest share of the assumption in a direction that has intervals
	beyondLinear  = 0.3  // the share of the last step's change by higher orders that intervals allow for
	mostTheta     = 5    // the norm of coefficients that have intervals, in units of spreadOfTheta
	seen          = 2    // curvature below this multiple of its noise is hidden
	mostUnlike    = 8    // the largest [Newton.unlike] of rows that are as assumed, but for one fit in hundreds
	mostMissed    = 0.95 // the share of the gradient of rare rows that an error may take away, beyond which it has no bound
	rareShare     = 0.05 // the share of the curvature of all rows below which few rows decide a coefficient
	rareBeside    = 0.1  // rareShare for a minimum with a ridge penalty, whose noise may lead to where rows have another weight
	rareDoubt     = 1.5  // the standard deviations of a curvature's error by which few rows may have less of it
	mostCurved    = 0.5  // the share of a step that the gradient may miss, beyond which rows that are not as assumed have no intervals
)

// belief is a normal distribution of the minimum of F over the rows.
type belief struct {
	mean      []float64
	precision *mat.Dense
}

// located is what one step says about the minimum of F over the rows.
type located struct {
	theta, step, linear []float64  // the minimum, the step to it, and the step by the first Hessian alone
	curve               *mat.Dense // J, the Hessian at theta
	spread              *mat.Dense // covariance of the error of theta
	sums                Sums       // the sums, with the error of the Hessian that the step used
	unlike              bool       // whether the rows are not as assumed
}

// locate solves ∇F(θ) = 0 from a gradient s at s.Theta, given the Hessian h there, and what was known before.
//
// Let δ be the step. Noise makes the released gradient g differ from −change(δ) (see [weighted]) by an error with
// covariance V = σ²I + Cov(E·δ), where σ is the standard deviation of the gradient's noise and E the Hessian's error. The
// most likely δ, given the belief N(m, P⁻¹), is found by Gauss–Newton steps: with J = ∂change/∂δ and S = (J V⁻¹ J +
// P)⁻¹, δ ← δ + S·(J V⁻¹(−g − change(δ)) − P(θ + δ − m)).
func (n Newton) locate(s Sums, h mat.Symmetric, before belief) *located {
	d := len(s.Theta)
	e := decompose(h)
	if e == nil {
		return nil
	}
	floor := max(0.1*s.HessSD, 1e-6*n.Rows, 1e-6)
	positive := func(m mat.Symmetric) *mat.Dense {
		if e := decompose(m); e != nil {
			return e.apply(func(l float64) float64 { return max(l, floor) })
		}
		return nil
	}
	w := weigh(Logistic, s.Theta, e.apply(func(l float64) float64 { return max(l, floor) }), n.Intercept, n.Rows)
	if w == nil {
		return nil
	}
	out := &located{step: make([]float64, d), curve: positive(h), sums: s}
	for round := range 60 {
		if round > 0 {
			out.curve = positive(symmetrised(w.slope(out.step)))
		}
		if out.curve == nil {
			return nil
		}
		var weighted, precision, spread mat.Dense
		if weighted.Solve(n.noise(s, out.step), out.curve) != nil { // V⁻¹J
			return nil
		}
		precision.Mul(out.curve, &weighted)
		precision.Add(&precision, before.precision)
		if spread.Inverse(&precision) != nil {
			return nil
		}
		off := w.change(out.step)
		away := make([]float64, d)
		for i := range off {
			off[i] = -s.Gradient[i] - off[i]
			away[i] = s.Theta[i] + out.step[i] - before.mean[i]
		}
		pull := times(before.precision, away)
		to := times(weighted.T(), off)
		for i := range to {
			to[i] -= pull[i]
		}
		to = times(&spread, to)
		if round == 0 {
			out.linear = append([]float64(nil), to...)
		}
		l := length(to)
		if l > 1 { // a long step for scaled predictors
			for i := range to {
				to[i] /= l
			}
		}
		for i := range to {
			out.step[i] += to[i]
		}
		out.spread = &spread
		if !(l > 1e-7) {
			break
		}
	}
	out.theta = sum(s.Theta, out.step)
	return out
}

// noise returns V of [Newton.locate].
func (n Newton) noise(s Sums, step []float64) *mat.Dense {
	v := symmetricNoise(step, s.HessSD)
	for i := range step {
		v.Set(i, i, v.At(i, i)+square(s.GradSD))
	}
	return v
}

// symmetricNoise returns Cov(E·x) for a symmetric E with independent entries of standard deviation sd: sd²(‖x‖²I + xxᵀ −
// diag x²).
func symmetricNoise(x []float64, sd float64) *mat.Dense {
	d := len(x)
	c := mat.NewDense(d, d, nil)
	for i := range d {
		for k := range d {
			c.Set(i, k, square(sd)*x[i]*x[k])
		}
		c.Set(i, i, square(sd)*inner(x, x))
	}
	return c
}

func sum(a, b []float64) []float64 {
	out := append([]float64(nil), a...)
	for i, x := range b {
		out[i] += x
	}
	return out
}

// nothing is the belief before any release.
func nothing(d int) belief {
	p := mat.NewDense(d, d, nil)
	for i := range d {
		p.Set(i, i, 1/square(spreadOfTheta))
	}
	return belief{make([]float64, d), p}
}

// follow carries out the steps for which sums are released. It returns nil if the arithmetic fails. A step
// whose Hessian shows that the rows are not as assumed relies on its own sums alone.
func (n Newton) follow(all []Sums) *located {
	d := len(all[0].Theta)
	known := nothing(d)
	var at *located
	for i, s := range all {
		h := mat.Symmetric(symmetric(d, all[0].Hessian))
		unlike := i > 0 && n.unlike(at, s) > mostUnlike
		switch {
		case unlike:
			known, h = nothing(d), symmetric(d, s.Hessian)
		case i > 0:
			doubt := square(misfit*length(at.step)) / float64(d)
			var c, p mat.Dense
			c.CloneFrom(at.spread)
			for j := range d {
				c.Set(j, j, c.At(j, j)+doubt+square(at.step[j]))
			}
			if p.Inverse(&c) != nil {
				return nil
			}
			known = belief{s.Theta, &p}
			h, s.HessSD = n.hessian(at, s)
		}
		if at = n.locate(s, h, known); at == nil {
			return nil
		}
		at.unlike = unlike
	}
	return at
}

// Next returns the θ at which the next sums are released. The sums at θ = 0 are the first.
func (n Newton) Next(all []Sums) []float64 {
	theta := make([]float64, len(all[0].Theta))
	at := n.follow(all)
	if at == nil {
		return theta
	}
	for i, x := range n.within(at.theta) {
		if math.IsNaN(x) {
			return make([]float64, len(theta))
		}
		theta[i] = math.Round(x*1e4) / 1e4
	}
	return theta
}

// within scales θ down to the radius.
func (n Newton) within(theta []float64) []float64 {
	out := append([]float64(nil), theta...)
	if l := length(out); l > n.Radius {
		for i := range out {
			out[i] *= n.Radius / l
		}
	}
	return out
}

// Infer computes the fit from the sums at 0 and at each θ of [Newton.Next].
//
// The error of θ around the population's coefficients is that around the minimum over the rows, and that of the minimum by
// sampling. Their covariances are those of the last belief, and J⁻¹, as for the usual fit of a model that is right.
// Intervals also allow for what the assumption about the coefficients shrinks, and for a part of the last step's change by
// higher orders. If the last Hessian shows that the rows are not as assumed, there are intervals for a short last step alone.
func (n Newton) Infer(all []Sums) *Fit {
	last := all[len(all)-1]
	d := len(last.Theta)
	f := &Fit{
		Theta: append([]float64(nil), last.Theta...), Slack: make([]float64, d),
		Sampling: mat.NewDense(d, d, nil), Noise: mat.NewDense(d, d, nil), laplace: n.Laplace,
	}
	var inverse mat.Dense
	to := n.follow(all)
	if to == nil || inverse.Inverse(to.curve) != nil || math.IsNaN(length(to.theta)) {
		f.unknown = true
		f.warn(tooLarge)
		return f
	}
	f.Theta, f.Sampling, f.Noise = n.within(to.theta), &inverse, to.spread
	f.inverse, f.hessSD, f.Squares = &inverse, to.sums.HessSD, mat.Trace(to.curve)
	beyond := curved(to.step)
	if to.unlike {
		beyond = f.missable(to.longest(), unlikeAssumed)
	}
	for i, x := range times(to.spread, to.theta) {
		f.Slack[i] = math.Abs(x)/square(spreadOfTheta) + beyondLinear*math.Abs(to.step[i]-to.linear[i])
		f.Slack[i] += math.Abs(to.step[i]) * beyond
	}
	f.weak = n.weak(to)
	rare := rareShare
	if to.sums.Ridge > 0 {
		rare = rareBeside
	}
	f.widenRare(to.curve, rare)
	if f.weak != nil {
		f.warn(hidden)
	}
	certain := n.Intercept >= 0 && to.curve.At(n.Intercept, n.Intercept) < 3*last.GradSD
	if certain || length(to.theta) > min(n.Radius, mostTheta*spreadOfTheta) {
		f.unknown = true
		f.warn(arbitrary)
	}
	return f
}

// hessian returns the Hessian at s.Theta, and the standard deviation of an entry's error. It is the average of two matrices,
// weighted by their errors: the released one, and the one that the step before implies.
func (n Newton) hessian(before *located, s Sums) (mat.Symmetric, float64) {
	d := len(s.Theta)
	implied := symmetrised(before.curve)
	most := 0.0
	for i := range d {
		most = max(most, implied.At(i, i))
	}
	doubt := math.Hypot(before.sums.HessSD, misfitHess*min(length(before.step), 1)*most/math.Sqrt(float64(d)))
	if s.Hessian == nil {
		return implied, doubt
	}
	released := symmetric(d, s.Hessian)
	share := square(doubt) / (square(doubt) + square(s.HessSD))
	out := mat.NewSymDense(d, nil)
	for i := range d {
		for k := range i + 1 {
			out.SetSym(i, k, share*released.At(i, k)+(1-share)*implied.At(i, k))
		}
	}
	return out, math.Hypot(share*s.HessSD, (1-share)*doubt)
}
