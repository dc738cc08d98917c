package regression

import (
	"math"
	"sort"

	"dither/internal/splitmix"

	"gonum.org/v1/gonum/mat"
)

// normalEquations are Σ z zᵀ, Σ z v and Σ v² of the rows' predictors z and response v, each with noise of a known
// law. The noise E of the first is symmetric and its entries are independent otherwise, as are those of the noise f of
// the second.
type normalEquations struct {
	a       *mat.SymDense
	b       []float64
	c       float64
	rows    float64 // noisy too
	noise   equationNoise
	squares bool    // Σ v² is there, so that there is a residual variance
	size    float64 // of the noise on a: noise.norm
	sized   bool    // and of that on a once its predictors are centred, which is not looked for
	// intercept says that the first predictor is the constant 1.
	intercept bool
}

// equationNoise are the noises' variances, and whether they are Laplace's: else they are Gaussian.
type equationNoise struct {
	diagonal, offDiagonal, b, c, rows float64
	laplace                           bool
}

// ridgeLevel is the probability that the ridge's bound on the noise fails.
const ridgeLevel = 0.05

// solution is what follows from the equations.
type solution struct {
	gamma   []float64 // the coefficients
	ridge   float64
	least   float64       // the smallest eigenvalue of the noisy matrix that the ridge is for,
	size    float64       // and a bound on the norm of its noise
	inverse *mat.SymDense // of the matrix with its ridge
	// sampling is the matrix without its negative eigenvalues, to which the covariance of sampling is proportional.
	sampling *mat.SymDense
	sigma2   float64 // the residual variance: at or below 0 where noise hides it
	error2   float64 // its standard deviation by the noise
	freedom  float64 // rows less predictors
}

// solve finds the coefficients: (Â + λD)⁻¹b̂, with λ = 0 or, where ridged is set, the λ of AdaSSP [Wang,
// "Revisiting differentially private linear regression: optimal and adaptive prediction & estimation in unbounded
// domain", UAI 2018].
//
// There the noise's size t is the bound of a tail, and a third of the price tells the smallest eigenvalue of the
// matrix. Here t is a quantile of ‖E‖, the norm of noise of the law at hand, and by Weyl's inequality λ_min(A) ≥
// λ_min(Â) − ‖E‖: the released matrix tells its smallest eigenvalue itself, at no price, on the same event that
// ‖E‖ ≤ t. On it λ = max(0, t − max(0, λ_min(Â) − t)) makes λ_min(A) + λ ≥ t ≥ ‖E‖, which is
// what the ridge is for.
//
// A ridge on the intercept would draw the mean of the response towards the middle of its bounds, and give what is
// missing to whatever predictor is nearly constant. So where there is one, predictors are first centred at their
// released means, which is only another way to write the same equations, and the ridge and what is said above is of the
// others.
func (q *normalEquations) solve(ridged bool) (*solution, bool) {
	p := len(q.b)
	t, free := q.centring()
	var centred, half mat.Dense
	half.Mul(t, q.a)
	centred.Mul(&half, t.T())
	s := &solution{}
	if ridged && p > free {
		var e mat.EigenSym
		if !e.Factorize(symmetric(centred.Slice(free, p, free, p)), false) {
			return nil, false
		}
		s.least, s.size = e.Values(nil)[0], q.size
		if free > 0 && !q.sized {
			s.size = q.noise.norm(t, free)
		}
		s.ridge = math.Max(0, s.size-math.Max(0, s.least-s.size))
	}
	for i := free; i < p; i++ {
		centred.Set(i, i, centred.At(i, i)+s.ridge)
	}
	var inverse, left mat.Dense
	if err := inverse.Inverse(&centred); err != nil {
		return nil, false
	}
	left.Mul(t.T(), &inverse)
	inverse.Mul(&left, t)
	s.inverse = symmetric(&inverse)
	var ok bool
	if s.sampling, ok = positive(q.a); !ok {
		return nil, false
	}
	s.gamma = multiply(s.inverse, q.b)
	q.residual(s)
	return s, finite(s.gamma...)
}

// centring is the matrix T that makes predictors z into Tz: less their released means, with the intercept as it is; and
// how many predictors a ridge is not for.
func (q *normalEquations) centring() (t *mat.Dense, free int) {
	p := len(q.b)
	t = plain(p)
	if !q.intercept || !(q.rows > 3*math.Sqrt(q.noise.rows)) {
		return t, 0
	}
	for i := 1; i < p; i++ {
		t.Set(i, 0, -math.Max(-1, math.Min(1, q.a.At(0, i)/q.rows)))
	}
	return t, 1
}

func symmetric(m mat.Matrix) *mat.SymDense {
	n, _ := m.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			out.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return out
}

// positive is a matrix without its negative eigenvalues.
func positive(a *mat.SymDense) (*mat.SymDense, bool) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, false
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	out := mat.NewSymDense(a.SymmetricDim(), nil)
	for i, v := range e.Values(nil) {
		if v > 0 {
			out.SymRankOne(out, v, vectors.ColView(i))
		}
	}
	return out, true
}

// residual estimates the residual variance. For any γ, Σv² − 2γ·b + γᵀAγ is Σ(v − z·γ)²; with noise,
// and at γ̂ which fits the noise too, it is too small by about tr(A⁻¹V), V being the covariance of the noise f −
// Eγ of the equations.
func (q *normalEquations) residual(s *solution) {
	if !q.squares {
		return
	}
	fit := q.c
	for i, g := range s.gamma {
		fit -= 2 * g * q.b[i]
		for j, h := range s.gamma {
			fit += g * h * q.a.At(i, j)
		}
	}
	v := q.noise.covariance(s.gamma)
	for i := range s.gamma {
		for j := range s.gamma {
			fit += s.inverse.At(i, j) * v.At(i, j)
		}
	}
	variance := q.noise.c
	for i, g := range s.gamma {
		variance += 4*g*g*q.noise.b + g*g*g*g*q.noise.diagonal
		for j := range i {
			variance += 4 * g * g * s.gamma[j] * s.gamma[j] * q.noise.offDiagonal
		}
	}
	s.freedom = q.rows - float64(len(s.gamma))
	if s.freedom < 1 {
		s.freedom, s.sigma2, s.error2 = 0, math.NaN(), math.NaN()
		return
	}
	s.sigma2, s.error2 = fit/s.freedom, math.Sqrt(variance)/s.freedom
}

// spread is the variance that the sampling error of intervals is computed with: the estimate and one standard deviation
// of the noise on it, and no more than a response between −1 and 1 can have. (The noise on it hardly matters where it
// is large: it is of the order of the noise on the equations, whose square is their variance.)
func (s *solution) spread() float64 {
	if math.IsNaN(s.sigma2) {
		return 1
	}
	return math.Min(1, math.Max(0, s.sigma2)+s.error2)
}

// covariance is that of the noise f − Eγ of the equations at coefficients γ: entry (i, i) is of f_i and of Σ_j
// E_ij γ_j, and entry (i, j) of E_ij alone, which is in the one with γ_j and in the other with γ_i.
func (n equationNoise) covariance(gamma []float64) *mat.SymDense {
	total := 0.0
	for _, g := range gamma {
		total += g * g
	}
	v := mat.NewSymDense(len(gamma), nil)
	for i, g := range gamma {
		v.SetSym(i, i, n.b+n.diagonal*g*g+n.offDiagonal*(total-g*g))
		for j := range i {
			v.SetSym(i, j, n.offDiagonal*g*gamma[j])
		}
	}
	return v
}

// norm is a quantile of the spectral norm of T·E·Tᵀ without its first rows and columns: by simulation, the same at
// every run. It fails as a bound with probability ridgeLevel.
func (n equationNoise) norm(t *mat.Dense, free int) float64 {
	p, _ := t.Dims()
	draws := max(100, min(400, 4000/p))
	words := splitmix.At(splitmix.Mix(uint64(p)))
	norms := make([]float64, draws)
	e := mat.NewSymDense(p, nil)
	diagonal, off := math.Sqrt(n.diagonal), math.Sqrt(n.offDiagonal)
	var eigen mat.EigenSym
	var half, moved mat.Dense
	for k := range norms {
		for i := range p {
			e.SetSym(i, i, diagonal*standardNoise(&words, n.laplace))
			for j := i + 1; j < p; j++ {
				e.SetSym(i, j, off*standardNoise(&words, n.laplace))
			}
		}
		of := e
		if free > 0 {
			half.Mul(t, e)
			moved.Mul(&half, t.T())
			of = symmetric(moved.Slice(free, p, free, p))
		}
		if !eigen.Factorize(of, false) {
			continue
		}
		values := eigen.Values(nil)
		norms[k] = math.Max(-values[0], values[len(values)-1])
	}
	sort.Float64s(norms)
	return norms[int(math.Ceil(float64(draws)*(1-ridgeLevel)))-1]
}

// plain is T where nothing is centred.
func plain(p int) *mat.Dense {
	t := mat.NewDense(p, p, nil)
	for i := range p {
		t.Set(i, i, 1)
	}
	return t
}

// standardNoise is a made-up number of mean 0 and variance 1.
func standardNoise(words *splitmix.Stream, laplace bool) float64 {
	u := (float64(words.Word()>>11) + 0.5) / (1 << 53)
	if !laplace {
		return math.Sqrt2 * math.Erfinv(2*u-1)
	}
	if u < 0.5 {
		return math.Log(2*u) / math.Sqrt2
	}
	return -math.Log(2*(1-u)) / math.Sqrt2
}

func multiply(m mat.Symmetric, x []float64) []float64 {
	out := make([]float64, len(x))
	for i := range out {
		for j, v := range x {
			out[i] += m.At(i, j) * v
		}
	}
	return out
}

func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
