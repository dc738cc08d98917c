package regression

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// form is the estimate of a linear form w·γ of the coefficients γ.
type form struct {
	estimate          float64
	sampling, privacy float64 // variances due to sampling and to noise, to first order
	low, high         float64 // interval; an end is infinite if the interval is unbounded there
	weak              bool    // an end of the interval is infinite
}

// inverter computes intervals by inverting a test.
//
// Let Â = Σzzᵀ + E and b̂ = Σzv + f be the noisy sums of [normalEquations], with noise E and f. Let γ be the true
// coefficients, and e the errors v − z·γ, with variance σ². Then b̂ − Âγ = Σ z e + f − Eγ is a vector of mean 0 for
// every Â. Its covariance is V(γ) = σ²·Σzzᵀ + cov(f − Eγ). The statistic S(γ) = (b̂ − Âγ)ᵀV(γ)⁻¹(b̂ − Âγ) tests γ
// [Anderson & Rubin 1949]. An interval for w·γ consists of the t with min{S(γ): w·γ = t} ≤ q². Here q is the
// quantile of |w·Â⁻¹(b̂ − Âγ)| in units of its standard deviation.
//
// If the noisy matrix Â is far from singular, the interval is that of the delta method. If it is close to singular,
// the interval grows. The interval becomes unbounded if the equations do not determine w·γ, like Fieller's interval
// in one dimension.
//
// The method needs this: however weak the equations are, the least S over the other coefficients has no larger
// quantiles than with one degree of freedom. For covariances that are a Kronecker product, this is the theorem of
// Guggenberger, Kleibergen, Mavroeidis & Chen, Econometrica 2012. For the covariances here, simulation shows it.
type inverter struct {
	q      *normalEquations
	s      *solution
	spread float64       // σ², or 0 for intervals about the coefficients of these rows
	direct *mat.SymDense // Â⁻¹; nil if Â is singular
	// meat replaces σ²·Σzzᵀ if rows depend on each other within clusters, and upper is its upper bound for the interval.
	// unknown reports that clusters are requested but their scores are not known.
	meat    *meat
	upper   *mat.SymDense
	unknown bool
}

// far is the distance at which the search for an end of an interval stops, in units of scaled coefficients. The
// interval is then unbounded on that side.
const far = 1e4

// interval returns the estimate and the interval of w·γ at confidence 1 − alpha.
func (v *inverter) interval(w []float64, alpha float64) form {
	out := form{}
	for i, x := range w {
		out.estimate += x * v.s.gamma[i]
	}
	// To first order, the estimate is w·(Â+λI)⁻¹b̂, where λ is the ridge.
	direction := multiply(v.s.inverse, w)
	noise := v.q.noise.covariance(v.s.gamma)
	for i, x := range direction {
		for j, y := range direction {
			out.privacy += x * y * noise.At(i, j)
			if v.meat == nil {
				out.sampling += x * y * v.s.sampling.At(i, j) * v.spread
			} else {
				out.sampling += x * y * v.meat.estimate.At(i, j)
			}
		}
	}
	wide := *v
	varies := 0.0 // sampling's part of the variance in the test
	switch {
	case v.unknown:
		return form{estimate: out.estimate, low: math.Inf(-1), high: math.Inf(1), weak: true}
	case v.meat != nil:
		wide.upper = v.meat.upper(alpha)
		varies = mat.Inner(mat.NewVecDense(len(w), direction), wide.upper, mat.NewVecDense(len(w), direction))
	case v.spread > 0:
		wide.spread = v.s.widened(v.spread, alpha)
		varies = out.sampling / v.spread * wide.spread
	}
	q := v.q.noise.quantile(direction, v.s.gamma, varies, alpha)
	p := &profile{inverter: &wide, w: w, pivot: largestAt(w)}
	size := 0.0
	for _, x := range w {
		size = math.Max(size, math.Abs(x))
	}
	middle, ok := 0.0, v.direct != nil
	if ok {
		for i, x := range multiply(v.direct, v.q.b) {
			middle += w[i] * x
		}
	}
	out.low, out.high = math.Inf(-1), math.Inf(1)
	step := q * math.Sqrt(varies+out.privacy)
	if ok && size > 0 && finite(middle, step) && step > 0 {
		out.low = p.end(middle, -step, q*q, far*size)
		out.high = p.end(middle, step, q*q, far*size)
	}
	out.weak = math.IsInf(out.low, 0) || math.IsInf(out.high, 0)
	// With a ridge, the estimate may lie outside the interval. Clamp it, because the equations contradict values
	// outside.
	out.estimate = math.Max(out.low, math.Min(out.high, out.estimate))
	return out
}

func largestAt(w []float64) (at int) {
	for i, x := range w {
		if math.Abs(x) > math.Abs(w[at]) {
			at = i
		}
	}
	return at
}

// profile computes the function t ↦ min{S(γ): w·γ = t}.
type profile struct {
	*inverter
	w     []float64
	pivot int
	gamma []float64 // minimiser at the previous t, from which the next search starts
}

// end returns the point where the profile rises above the limit, searching from the middle in multiples of step. It
// returns an infinity if the profile stays below the limit within the reach. The root of the profile is nearly
// linear, so false position finds the point.
func (p *profile) end(middle, step, limit, reach float64) float64 {
	above := func(d float64) float64 { return math.Sqrt(p.at(middle+d)) - math.Sqrt(limit) }
	p.gamma = nil
	if above(math.Copysign(reach, step)) <= 0 {
		return math.Copysign(math.Inf(1), step)
	}
	p.gamma = nil
	inside, under := 0.0, -math.Sqrt(limit)
	outside, over := step, above(step)
	for over <= 0 {
		inside, under, outside = outside, over, 2*outside
		if math.Abs(outside) > reach {
			return math.Copysign(math.Inf(1), step)
		}
		over = above(outside)
	}
	for range 40 {
		if over <= 1e-3 || math.Abs(outside-inside) <= 1e-3*math.Abs(outside) {
			break
		}
		part := math.Max(0.05, math.Min(0.95, -under/(over-under))) // if over is +∞, stay near the middle
		mid := inside + part*(outside-inside)
		if at := above(mid); at <= 0 {
			inside, under = mid, at
		} else {
			outside, over = mid, at
		}
	}
	return middle + outside
}

// at returns the profile at t. The pivot's coefficient is set so that w·γ = t. Iterated least squares with the
// metric V(γ) of [inverter] finds the other coefficients. A γ that is not the minimiser gives a larger S, so an
// iteration that stops early could make an interval too short. The iteration therefore continues until S no longer
// falls.
func (p *profile) at(t float64) float64 {
	q, n := p.q, len(p.q.b)
	gamma := p.gamma
	if gamma == nil {
		gamma = append([]float64{}, p.s.gamma...)
	}
	gamma[p.pivot] = p.pivotal(gamma, t)
	best := math.Inf(1)
	var kept []float64
	for range 30 {
		residual := make([]float64, n)
		fit := multiply(q.a, gamma)
		for i := range residual {
			residual[i] = q.b[i] - fit[i]
		}
		var factor mat.Cholesky
		if !factor.Factorize(p.covariance(gamma)) {
			break
		}
		weighted := mat.NewVecDense(n, nil)
		if factor.SolveVecTo(weighted, mat.NewVecDense(n, residual)) != nil {
			break
		}
		s := mat.Dot(weighted, mat.NewVecDense(n, residual))
		if s >= best*(1-1e-4) {
			break
		}
		best, kept = s, append(kept[:0], gamma...)
		if n == 1 {
			break
		}
		next, ok := p.closer(gamma, weighted, &factor)
		if !ok {
			break
		}
		next[p.pivot] = p.pivotal(next, t)
		gamma = next
	}
	p.gamma = append([]float64{}, kept...)
	if kept == nil {
		p.gamma = nil
	}
	return best
}

// pivotal returns the pivot's coefficient for which w·γ = t.
func (p *profile) pivotal(gamma []float64, t float64) float64 {
	for i, x := range p.w {
		if i != p.pivot {
			t -= x * gamma[i]
		}
	}
	return t / p.w[p.pivot]
}

// closer makes one step of generalised least squares and returns the new γ. Let M be the columns of Â along the
// directions of γ that keep w·γ constant, and r the residual. The step is δ = (MᵀV⁻¹M)⁻¹MᵀV⁻¹r.
func (p *profile) closer(gamma []float64, weighted *mat.VecDense, factor *mat.Cholesky) ([]float64, bool) {
	n := len(gamma)
	m := mat.NewDense(n, n-1, nil)
	places := make([]int, 0, n-1)
	for j := range n {
		if j == p.pivot {
			continue
		}
		ratio := p.w[j] / p.w[p.pivot]
		for i := range n {
			m.Set(i, len(places), p.q.a.At(i, j)-ratio*p.q.a.At(i, p.pivot))
		}
		places = append(places, j)
	}
	var half, right mat.Dense
	if factor.SolveTo(&half, m) != nil {
		return nil, false
	}
	right.Mul(m.T(), &half)
	sym := mat.NewSymDense(n-1, nil)
	for i := range n - 1 {
		for j := range i + 1 {
			sym.SetSym(i, j, (right.At(i, j)+right.At(j, i))/2)
		}
	}
	var inner mat.Cholesky
	if !inner.Factorize(sym) {
		return nil, false
	}
	var target, delta mat.VecDense
	target.MulVec(m.T(), weighted)
	if inner.SolveVecTo(&delta, &target) != nil {
		return nil, false
	}
	next := append([]float64{}, gamma...)
	for k, j := range places {
		next[j] += delta.AtVec(k)
	}
	return next, finite(next...)
}

// covariance returns V(γ), the covariance of the residuals of the equations at coefficients γ (see [inverter]).
func (v *inverter) covariance(gamma []float64) *mat.SymDense {
	out := v.q.noise.covariance(gamma)
	if v.upper != nil {
		out.AddSym(out, v.upper)
		return out
	}
	if v.spread > 0 {
		for i := range gamma {
			for j := range i + 1 {
				out.SetSym(i, j, out.At(i, j)+v.spread*v.s.sampling.At(i, j))
			}
		}
	}
	return out
}

// newInverter returns an inverter for the equations. spread is the residual variance.
func newInverter(q *normalEquations, s *solution, spread float64) *inverter {
	v := &inverter{q: q, s: s, spread: spread}
	if s.ridge == 0 {
		v.direct = s.inverse
		return v
	}
	var inverse mat.Dense
	if inverse.Inverse(q.a) != nil {
		return v
	}
	n := len(q.b)
	v.direct = mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v.direct.SetSym(i, j, (inverse.At(i, j)+inverse.At(j, i))/2)
		}
	}
	return v
}
