package regression

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// form is a linear form w·γ of the coefficients, and what is known of it.
type form struct {
	estimate          float64
	sampling, privacy float64 // variances, to first order
	low, high         float64 // of its interval: infinite where there is no such end
	weak              bool    // an end is missing
}

// Intervals invert a test. At the true coefficients γ, b̂ − Âγ = Σ z e + f − Eγ: a vector of mean 0, whatever
// Â is, with the covariance V(γ) = σ²·Σzzᵀ + cov(f − Eγ). So S(γ) = (b̂ − Âγ)ᵀV(γ)⁻¹(b̂ −
// Âγ) tests them [Anderson & Rubin 1949], and the t with min{S(γ): w·γ = t} ≤ q² are an interval for w·γ, q
// being the quantile of |w·Â⁻¹(b̂ − Âγ)| in its standard deviations. Where the noisy matrix is far from
// singular the interval is that of the delta method; where it is near singular the interval grows, and loses its ends
// where the equations say nothing of w·γ, as Fieller's does in one dimension. (That the least S over the other
// coefficients has no larger quantiles than with one degree of freedom, however weak the equations are, is the theorem
// of Guggenberger, Kleibergen, Mavroeidis & Chen, Econometrica 2012, of covariances that are a Kronecker product; here
// it is shown by simulation.)
type inverter struct {
	q      *normalEquations
	s      *solution
	spread float64       // σ², or 0 for intervals about the rows' own coefficients
	direct *mat.SymDense // Â⁻¹
}

// far is where an interval is taken to have no end, in the units of scaled coefficients.
const far = 1e4

// interval is the interval of w·γ at a confidence 1 − alpha.
func (v *inverter) interval(w []float64, alpha float64) form {
	out := form{}
	for i, x := range w {
		out.estimate += x * v.s.gamma[i]
	}
	// To first order: the estimate is w·(Â+λI)⁻¹b̂.
	direction := multiply(v.s.inverse, w)
	noise := v.q.noise.covariance(v.s.gamma)
	for i, x := range direction {
		for j, y := range direction {
			out.privacy += x * y * noise.At(i, j)
			out.sampling += x * y * v.s.sampling.At(i, j) * v.spread
		}
	}
	wide := *v
	varies := 0.0 // what sampling adds to the variance in the test
	if v.spread > 0 {
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
	// With a ridge the estimate may lie outside: what the equations speak against is not told.
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

// profile is the least S(γ) where w·γ = t.
type profile struct {
	*inverter
	w     []float64
	pivot int
	gamma []float64 // where it was last least, to begin from
}

// end is where the profile rises above the limit, going from the middle by steps; infinite where it does not within the
// reach. The root of the profile is nearly straight, so that the end is found by false position.
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
		part := math.Max(0.05, math.Min(0.95, -under/(over-under))) // +∞ over gives the middle's side
		mid := inside + part*(outside-inside)
		if at := above(mid); at <= 0 {
			inside, under = mid, at
		} else {
			outside, over = mid, at
		}
	}
	return middle + outside
}

// at is the profile at t: γ's pivot is what makes w·γ = t, and the others are by least squares in the metric of V,
// which is found by iteration. A γ that is not the best gives a larger S, so an iteration that stops early could make
// an interval too short; it stops where S no longer falls.
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

// pivotal is the pivot's coefficient that makes w·γ = t.
func (p *profile) pivotal(gamma []float64, t float64) float64 {
	for i, x := range p.w {
		if i != p.pivot {
			t -= x * gamma[i]
		}
	}
	return t / p.w[p.pivot]
}

// closer is one step of generalised least squares: with M the columns of Â along the γ that keep w·γ, δ =
// (MᵀV⁻¹M)⁻¹MᵀV⁻¹r.
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

// covariance is V(γ).
func (v *inverter) covariance(gamma []float64) *mat.SymDense {
	out := v.q.noise.covariance(gamma)
	if v.spread > 0 {
		for i := range gamma {
			for j := range i + 1 {
				out.SetSym(i, j, out.At(i, j)+v.spread*v.s.sampling.At(i, j))
			}
		}
	}
	return out
}

// newInverter makes intervals from the equations, with a residual variance.
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
