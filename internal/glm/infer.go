// Package glm computes the coefficients of a generalized linear model from a released minimum of a regularised
// risk. It removes the regulariser's bias. Its intervals cover both the sampling of the rows and the noise. All of
// this is post-processing: the package gets released numbers and their noise distributions, never rows.
package glm

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Family is a family of models with its canonical link.
type Family string

// The families of models.
const (
	Logistic Family = "logistic"
	Poisson  Family = "poisson"
)

// Released is a released minimum θ̂ + Z, with noise Z. θ̂ is the minimum of F(θ) + Λ/2‖θ‖² over a ball. F(θ) is the
// sum of the rows' losses ℓ, x is a row's vector of predictors, and Λ the regulariser. It may come with the sums
// Σℓ″xxᵀ and Σ(ℓ′)²xxᵀ at the released θ, each with its own noise. Triangles are lower triangles, row by row.
type Released struct {
	Family                  Family
	Theta                   []float64 // as released, possibly outside the ball
	Hessian, Products       []float64 // the triangles of the two sums; nil: no intervals
	Regularise, Radius      float64
	Rows                    float64 // the approximate number of rows
	Intercept               int     // the index of the constant predictor; −1 if there is none
	ThetaSD, HessSD, ProdSD float64 // standard deviations of the noise of one entry
	Laplace                 bool    // whether the noise has a Laplace distribution, not a normal one
}

// Fit is the result of Infer.
type Fit struct {
	// Theta is the estimated minimum of F: the regulariser's bias is removed.
	Theta []float64
	// Sampling and Noise are covariances of Theta around the population's coefficients. Slack is an allowance for
	// the error of the bias correction, for each coefficient.
	Sampling, Noise *mat.Dense
	Slack           []float64
	// Squares is about Σ‖ℓ′x‖² over the rows at Theta. It is 0 if unknown.
	Squares  float64
	inverse  *mat.Dense // J⁻¹, the inverse of the Hessian at Theta
	hessSD   float64    // the standard deviation of the error of one entry of J
	scores   *Scores    // nil if rows are independent
	weak     *mat.Dense // the projection on the directions that the noise hides; nil if there are none
	laplace  bool
	unknown  bool // no intervals at all
	Warnings []string
}

// Warnings that several fits share.
const (
	hidden = "in some direction the noise is larger than the information in the rows (a constant or collinear " +
		"predictor, too few rows, or too low a price): the coefficients involved are shrunk towards 0 and " +
		"have no intervals"
	arbitrary = "there are no intervals, because coefficients could be arbitrarily large: the model appears certain " +
		"of nearly all rows (all rows are in one class, a predictor separates the classes, or there are no " +
		"rows)"
	unlikeAssumed = "there are no intervals, because a predictor is too rare or too skewed for method newton at coefficients of this " +
		"size; under a budget in ε, method objective has intervals that allow for it"
	unlikeNormal = "there are no intervals, because the ridge penalty's bias is too large to correct for rows of any distribution: a " +
		"predictor may be rare or skewed, or coefficients large; a smaller ridge penalty or a higher price may give intervals, " +
		"and so may the methods newton and objective of logistic models"
	atRadius = "there are no intervals, because the norm of the coefficients reached the radius, and might be larger without " +
		"this limit; give a larger radius"
	tooLarge = "there are no intervals, because the released sums are too large for the arithmetic"
)

// Infer removes the regulariser's bias, and estimates the accuracy of the result.
//
// The symbols are those of [Released], and θ₀ are the population's coefficients. Let G = ∇F. At the minimum within
// the ball, G(θ̂) = −Λθ̂. With θ̃ = θ̂ + Z, to first order G(θ̃) = −Λθ̃ + (H + Λ)Z. The zero of G is at θ̃ + δ with
// Hδ = Λθ̃: one Newton step on the released Hessian H. The regulariser may be as large as the curvature. Then
// higher orders matter, and weighted computes them from an assumed distribution of the rows. The intervals are
// widened by three tenths of the resulting change, and by the share of δ that rows of another distribution may miss (see
// [curved]). If that share is above mostCurved, there are none. Let J be the Hessian at θ̃ + δ. Then
//
//	θ̃ + δ − θ₀ ≈ −J⁻¹·G(θ₀) + J⁻¹(H + Λ)Z − J⁻¹·E_H·δ.
//
// The three terms are independent. The first is sampling, with covariance J⁻¹·P·J⁻¹, P = Σ(ℓ′)²xxᵀ [Huber 1967].
// The second is the noise of the minimum, the third the noise E_H of the Hessian. [Wang, Kifer & Lee 2019] have the
// first two. The noise in P and in H makes the variances uncertain, so each variance is raised by the standard
// deviation of its own error. Coefficients of few rows have wider intervals still: see [Fit.widenRare].
func Infer(r Released) *Fit {
	d := len(r.Theta)
	f := &Fit{
		Theta:    append([]float64(nil), r.Theta...),
		Slack:    make([]float64, d),
		laplace:  r.Laplace,
		Sampling: mat.NewDense(d, d, nil),
		Noise:    mat.NewDense(d, d, nil),
	}
	inside := f.bring(r)
	if r.Hessian == nil || r.Products == nil {
		f.unknown = true
		f.warn(
			"there are no intervals, because no price was paid for the sums that they need; the ridge penalty " +
				"shrinks the coefficients towards 0",
		)
		return f
	}
	h := symmetric(d, r.Hessian)
	e := decompose(h)
	if e == nil {
		f.unknown = true
		f.warn(tooLarge)
		return f
	}
	least := r.spread(r.HessSD)
	if e.values[0] < least {
		f.weak = e.apply(func(l float64) float64 { return indicator(l < least) })
		f.warn(hidden)
	}
	inverse := e.apply(func(l float64) float64 { return indicator(l >= least) / max(l, least) })
	raised := e.apply(func(l float64) float64 { return max(l, 0) + r.Regularise })
	delta, jacobian, weight := f.correct(r, inverse, e, least)
	if r.Intercept >= 0 && weight < 3*r.ThetaSD*raised.At(r.Intercept, r.Intercept) {
		f.unknown = true
		f.warn(arbitrary)
	}
	for i := range f.Theta {
		f.Theta[i] += delta[i]
	}
	f.spreads(r, jacobian, raised, delta)
	f.widenRare(h, rareShare)
	if l := length(f.Theta); l > r.Radius {
		for i := range f.Theta {
			f.Theta[i] *= r.Radius / l
		}
		f.unknown = true
		f.warn(
			"there are no intervals, because the norm of the bias-corrected coefficients exceeded the radius and " +
				"was reduced to it (all rows are in one class, a predictor separates the classes, the ridge penalty " +
				"is far above the curvature, or the radius is too small); a larger radius may give intervals, but adds " +
				"noise",
		)
	}
	if !inside {
		f.unknown = true
		f.warn(atRadius)
	}
	for i := range d {
		if x := f.Theta[i] + f.Slack[i] + f.Sampling.At(i, i) + f.Noise.At(i, i); math.IsNaN(x) || math.IsInf(x, 0) {
			f.unknown, f.Theta, f.Slack = true, append([]float64(nil), r.Theta...), make([]float64, d)
			f.warn(tooLarge)
			break
		}
	}
	return f
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (f *Fit) warn(text string) { f.Warnings = append(f.Warnings, text) }

// bring scales θ back into the ball, where the sums were computed. It reports whether θ was clearly inside.
func (f *Fit) bring(r Released) bool {
	l := length(f.Theta)
	if l > r.Radius {
		for i := range f.Theta {
			f.Theta[i] *= r.Radius / l
		}
	}
	return l < r.Radius-2*r.ThetaSD
}

// spread returns the approximate largest eigenvalue of a symmetric matrix of noise whose entries have standard
// deviation sd: 2σ√d plus a margin, for d coefficients and σ = sd. The relative error of a larger eigenvalue of the
// released Hessian is about a quarter or less.
func (r Released) spread(sd float64) float64 {
	s := 2*math.Sqrt(float64(len(r.Theta))) + 1
	if r.Laplace {
		s++
	}
	return s * sd
}

// correct returns three results (see [Infer]): the correction δ, J⁻¹ on the directions that the noise does not
// hide, and the sum of the rows' weights ℓ″ at θ + δ. The sum is +∞ if it cannot be estimated.
func (f *Fit) correct(
	r Released,
	inverse *mat.Dense,
	e *spectral,
	least float64,
) (delta []float64, jacobian *mat.Dense, weight float64) {
	pull := make([]float64, len(f.Theta))
	for i, x := range f.Theta {
		pull[i] = r.Regularise * x
	}
	first := times(inverse, pull)
	told := e.apply(func(l float64) float64 { return max(l, least) })
	w := weigh(r.Family, f.Theta, told, r.Intercept, r.Rows)
	if w == nil {
		f.warn(
			"the correction of the ridge penalty's bias is only of first order, because noise hides the sum of the " +
				"rows' weights",
		)
		f.allow(first, 0.5)
		return first, inverse, math.Inf(1)
	}
	delta = append([]float64(nil), first...)
	for range 100 {
		off := w.change(delta)
		for i := range off {
			off[i] = pull[i] - off[i]
		}
		step := times(inverse, off)
		if l := length(step); !(l <= 1) { // a length of 1 is a long step for scaled predictors
			for i := range step {
				step[i] /= l
			}
		}
		for i := range delta {
			delta[i] += step[i]
		}
		if length(step) < 1e-9*(1+length(delta)) {
			break
		}
	}
	beyond := make([]float64, len(delta))
	for i := range delta {
		beyond[i] = delta[i] - first[i]
	}
	if !(length(beyond) <= 1.5*length(first)) {
		f.unknown = true
		f.warn(
			"there are no intervals, because coefficients could be arbitrarily large: the ridge penalty's bias is " +
				"too large to correct beyond first order (a predictor separates, or almost separates, the classes); " +
				"a smaller ridge penalty at a higher price may give intervals",
		)
		f.allow(first, 0.5)
		return first, inverse, math.Inf(1)
	}
	f.allow(beyond, 0.3)
	missable := f.missable(delta, unlikeNormal)
	for i, x := range delta {
		f.Slack[i] += missable * math.Abs(x)
	}
	jacobian, weight = w.inverse(inverse, delta, r.Intercept)
	return delta, jacobian, weight
}

// allow sets Slack, by which intervals are widened, to a share of a change of the coefficients.
func (f *Fit) allow(change []float64, share float64) {
	for i, x := range change {
		f.Slack[i] = share * math.Abs(x)
	}
}

// inverse returns J⁻¹, the inverse Hessian at θ + δ, on the directions that the noise does not hide, and the sum of
// the weights there. J = ∂change/∂δ is computed by differences. On those directions J⁻¹ = (H⁻¹J)⁻¹·H⁻¹, where H is
// the released Hessian.
//
// The sum of the weights is the intercept's entry of J. Without an intercept it is +∞.
func (w *weighted) inverse(inverse *mat.Dense, delta []float64, intercept int) (out *mat.Dense, weight float64) {
	d := len(delta)
	j := w.slope(delta)
	// H⁻¹J is near the identity on the directions that the noise does not hide. It is set to the identity on the
	// others.
	if weight = math.Inf(1); intercept >= 0 {
		weight = j.At(intercept, intercept)
	}
	var product, solved mat.Dense
	product.Mul(inverse, j)
	p := mat.NewDense(d, d, nil)
	e := decompose(symmetrised(inverse))
	p.CloneFrom(e.apply(func(l float64) float64 { return indicator(l > 0) }))
	var within mat.Dense
	within.Mul(&product, p)
	for i := range d {
		for k := range d {
			within.Set(i, k, within.At(i, k)+indicator(i == k)-p.At(i, k))
		}
	}
	if err := solved.Solve(&within, inverse); err != nil {
		return inverse, weight
	}
	return mat.DenseCopyOf(symmetrised(&solved)), weight
}

func symmetrised(m mat.Matrix) *mat.SymDense {
	d, _ := m.Dims()
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			s.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return s
}

// spreads computes the covariances Sampling and Noise.
func (f *Fit) spreads(r Released, jacobian, raised *mat.Dense, delta []float64) {
	d := len(f.Theta)
	products := decompose(symmetric(d, r.Products))
	if products == nil {
		f.unknown = true
		return
	}
	f.Sampling = sandwich(jacobian, products.apply(func(l float64) float64 { return max(l, 0) }))
	f.inverse, f.hessSD = jacobian, r.HessSD
	f.Squares = max(mat.Trace(symmetric(d, r.Hessian)), mat.Trace(symmetric(d, r.Products)), 0)
	var minimum mat.Dense
	minimum.Mul(jacobian, raised)
	for i := range d {
		for k := range d {
			sum := 0.0
			for j := range d {
				sum += minimum.At(i, j) * minimum.At(k, j)
			}
			f.Noise.Set(i, k, r.ThetaSD*r.ThetaSD*sum)
		}
	}
	f.Noise.Add(f.Noise, sandwich(jacobian, symmetricNoise(delta, r.HessSD)))
	// Raise the variances by their uncertainty: for a row a of J⁻¹ by that of aᵀE_P a, and of [Fit.turned].
	for i := range d {
		a := mat.Row(nil, i, jacobian)
		turned := func(b []float64) float64 { return f.turned(a, times(jacobian, b)) }
		sd := math.Hypot(r.ProdSD*spreadOf(a, a), turned(times(symmetric(d, r.Products), a)))
		noisy := times(raised, times(raised, a))
		for k := range noisy {
			noisy[k] *= r.ThetaSD * r.ThetaSD
		}
		f.Noise.Set(i, i, f.Noise.At(i, i)+turned(noisy))
		f.Sampling.Set(i, i, f.Sampling.At(i, i)+sd)
	}
}

// turned returns the standard deviation of the error that the noise E of the Hessian gives a variance aᵀMa, where a is J⁻¹
// times some weights, and of is J⁻¹Ma. J⁻¹ errs by −J⁻¹EJ⁻¹ and enters twice, so aᵀMa errs by 2aᵀE·of.
func (f *Fit) turned(a, of []float64) float64 { return 2 * f.hessSD * spreadOf(a, of) }

// spreadOf returns the standard deviation of aᵀE·b for a symmetric E with independent entries of standard deviation 1.
func spreadOf(a, b []float64) float64 {
	return math.Sqrt(max(inner(a, times(symmetricNoise(b, 1), a)), 0))
}

// Estimate is a number with its interval, and a test of the hypothesis that it is 0.
type Estimate struct {
	Value     float64
	StdErr    float64 // the standard error of sampling and noise together; NaN if unknown
	Noise     float64 // the standard error of the noise alone; NaN if unknown
	Low, High float64 // the interval; −∞ and +∞ if unknown
	// the test's statistic and p-value, after subtracting Slack; P is below 1 − confidence if the interval excludes
	// 0. With [Scores], P is the least level at which it does
	Z, P float64
}

// Estimate returns the estimate of a linear combination of the coefficients. The interval covers sampling, noise
// and Slack. For a sum of independent normal and Laplace variables, it uses the quantile of the distribution with
// the longer tail at the same standard deviation.
func (f *Fit) Estimate(weights []float64, confidence float64) Estimate {
	e := Estimate{
		Value:  inner(weights, f.Theta),
		StdErr: math.NaN(),
		Noise:  math.NaN(),
		Low:    math.Inf(-1),
		High:   math.Inf(1),
		Z:      math.NaN(),
		P:      math.NaN(),
	}
	if f.unknown || f.weak != nil && length(times(f.weak, weights)) > 0.01*length(weights) {
		return e
	}
	slack := 0.0
	for i, x := range weights {
		slack += math.Abs(x) * f.Slack[i]
	}
	noise := max(inner(weights, times(f.Noise, weights)), 0)
	e.Noise, e.StdErr = math.Sqrt(noise), math.Sqrt(noise+f.estimated(weights))
	half := func(alpha float64) float64 {
		return f.quantile(alpha)*math.Sqrt(noise+f.sampling(weights, alpha)) + slack
	}
	e.Low, e.High = e.Value-half(1-confidence), e.Value+half(1-confidence)
	if e.StdErr > 0 {
		e.Z = math.Copysign(max(math.Abs(e.Value)-slack, 0)/e.StdErr, e.Value)
		if e.P = f.tail(math.Abs(e.Z)); f.scores != nil {
			e.P = excludes(math.Abs(e.Value), half)
		}
	}
	return e
}

// quantile returns the number of standard deviations that an error exceeds with probability alpha.
func (f *Fit) quantile(alpha float64) float64 {
	q := distuv.UnitNormal.Quantile(1 - alpha/2)
	if f.laplace {
		q = max(q, math.Log(1/alpha)/math.Sqrt2)
	}
	return q
}

// tail returns the probability of an error of more than z standard deviations.
func (f *Fit) tail(z float64) float64 {
	p := math.Erfc(z / math.Sqrt2) // Erfc keeps its precision in the tail
	if f.laplace {
		p = max(p, math.Exp(-math.Sqrt2*z))
	}
	return min(p, 1)
}
