package stats

import (
	"math"
	"sort"

	"dither/internal/splitmix"

	"gonum.org/v1/gonum/mat"
)

// normalEquations are Σ z zᵀ, Σ z v and Σ v² of the rows' predictors z and response v, each with noise of a known law. The noise E of the first is symmetric
// and its entries are independent otherwise, as are those of the noise f of the second.
type normalEquations struct {
	a       *mat.SymDense
	b       []float64
	c       float64
	rows    float64 // noisy too
	noise   equationNoise
	squares bool    // Σ v² is there, so that there is a residual variance
	size    float64 // of the noise: noise.norm, a bound that fails with probability ridgeLevel
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
	gamma    []float64 // the coefficients
	ridge    float64
	least    float64       // the smallest eigenvalue of the noisy matrix
	inverse  *mat.SymDense // of the matrix with its ridge
	sampling *mat.SymDense // the matrix without its negative eigenvalues: what sampling's covariance is in proportion to
	sigma2   float64       // the residual variance: at or below 0 where noise hides it
	error2   float64       // its standard deviation by the noise
	freedom  float64       // rows less predictors
}

// solve finds the coefficients (Â + λI)⁻¹b̂: with λ = 0, or where ridged is set the λ of AdaSSP [Wang, "Revisiting differentially private linear
// regression: optimal and adaptive prediction & estimation in unbounded domain", UAI 2018].
//
// There the noise's size t is the bound of a tail, and a third of the price tells the smallest eigenvalue of the matrix. Here t is a quantile of ‖E‖, the
// norm of noise of the law at hand, and by Weyl's inequality λ_min(A) ≥ λ_min(Â) − ‖E‖: the released matrix tells its smallest eigenvalue
// itself, at no price, on the same event that ‖E‖ ≤ t. On it λ = max(0, t − max(0, λ_min(Â) − t)) makes λ_min(A) + λ ≥ t ≥ ‖E‖, which is what
// the ridge is for.
func (q *normalEquations) solve(ridged bool) (*solution, bool) {
	p := len(q.b)
	var e mat.EigenSym
	if !e.Factorize(q.a, true) {
		return nil, false
	}
	values := e.Values(nil)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	s := &solution{least: values[0]}
	if ridged {
		s.ridge = math.Max(0, q.size-math.Max(0, s.least-q.size))
	}
	s.inverse, s.sampling = mat.NewSymDense(p, nil), mat.NewSymDense(p, nil)
	for i, v := range values {
		at := v + s.ridge
		if math.Abs(at) < 1e-12*math.Max(1, math.Abs(values[p-1])) {
			return nil, false
		}
		column := mat.Col(nil, i, &vectors)
		s.inverse.SymRankOne(s.inverse, 1/at, mat.NewVecDense(p, column))
		s.sampling.SymRankOne(s.sampling, math.Max(0, v), mat.NewVecDense(p, column))
	}
	s.gamma = multiply(s.inverse, q.b)
	q.residual(s)
	return s, finite(s.gamma...)
}

// residual estimates the residual variance. For any γ, Σv² − 2γ·b + γᵀAγ is Σ(v − z·γ)²; with noise, and at γ̂ which fits the noise too, it is too small by
// about tr(A⁻¹V), V being the covariance of the noise f − Eγ of the equations.
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

// spread is the variance that the sampling error of intervals is computed with: the estimate and one standard deviation of the noise
// on it, and no more than a response between −1 and 1 can have. (The noise on it hardly matters where it is large: it is of the
// order of the noise on the equations, whose square is their variance.)
func (s *solution) spread() float64 {
	if math.IsNaN(s.sigma2) {
		return 1
	}
	return math.Min(1, math.Max(0, s.sigma2)+s.error2)
}

// covariance is that of the noise f − Eγ of the equations at coefficients γ: entry (i, i) is of f_i and of Σ_j E_ij γ_j, and entry (i, j) of E_ij alone, which
// is in the one with γ_j and in the other with γ_i.
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

// norm is a quantile of the spectral norm of noise of this law, in p dimensions: by simulation, the same at every run.
func (n equationNoise) norm(p int) float64 {
	draws := max(100, min(1000, 20000/p))
	words := splitmix.At(splitmix.Mix(uint64(p)))
	norms := make([]float64, draws)
	e := mat.NewSymDense(p, nil)
	var eigen mat.EigenSym
	for k := range norms {
		for i := range p {
			for j := i; j < p; j++ {
				sd := math.Sqrt(n.offDiagonal)
				if i == j {
					sd = math.Sqrt(n.diagonal)
				}
				e.SetSym(i, j, sd*standardNoise(&words, n.laplace))
			}
		}
		if !eigen.Factorize(e, false) {
			continue
		}
		values := eigen.Values(nil)
		norms[k] = math.Max(-values[0], values[p-1])
	}
	sort.Float64s(norms)
	return norms[int(math.Ceil(float64(draws)*(1-ridgeLevel)))-1]
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
