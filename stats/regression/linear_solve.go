package regression

import (
	"math"
	"sort"

	"dither/internal/splitmix"

	"gonum.org/v1/gonum/mat"
)

// normalEquations are noisy sums over the rows' predictors z and response v: a = Σ z zᵀ, b = Σ z v and c = Σ v².
// The noise E of a is a symmetric matrix with independent entries on and above the diagonal. The noise f of b has
// independent entries.
type normalEquations struct {
	a       *mat.SymDense
	b       []float64
	c       float64
	rows    float64 // noisy number of rows
	noise   equationNoise
	squares bool    // c was measured, so the residual variance can be estimated
	size    float64 // bound on the norm of the noise on a, from noise.norm
	// size also bounds the noise on a after its predictors are centred, so solve does not compute that norm
	sized bool
	// intercept reports whether the first predictor is the constant 1.
	intercept bool
}

// equationNoise holds the variances of the noise. laplace reports whether it is Laplace rather than Gaussian noise.
type equationNoise struct {
	diagonal, offDiagonal, b, c, rows float64
	laplace                           bool
}

// ridgeLevel is the probability that the bound on the noise for the ridge fails.
const ridgeLevel = 0.05

// solution is the solution of [normalEquations].
type solution struct {
	gamma   []float64 // coefficients
	ridge   float64
	least   float64       // smallest eigenvalue of the noisy matrix that gets the ridge
	size    float64       // bound on the norm of the noise of that matrix
	inverse *mat.SymDense // inverse of a with its ridge
	// sampling is the matrix a without its negative eigenvalues. The covariance of the sampling error is
	// proportional to it.
	sampling *mat.SymDense
	sigma2   float64 // estimated residual variance, which noise can make negative
	error2   float64 // standard deviation of sigma2 due to noise
	freedom  float64 // number of rows minus number of predictors
}

// solve returns the coefficients (Â + λD)⁻¹b̂, where Â = A + E and b̂ are the noisy sums. D is the identity matrix,
// but 0 for the intercept. λ is 0 unless ridged is true. Then λ follows AdaSSP [Wang, "Revisiting differentially
// private linear regression: optimal and adaptive prediction & estimation in unbounded domain", UAI 2018]. ok is
// false if the matrix is singular.
//
// In that paper, the noise's size t is a tail bound, and a third of the price releases the smallest eigenvalue of
// the matrix A. Here, t is a quantile of ‖E‖, the norm of the actual noise. By Weyl's inequality, λ_min(A) ≥
// λ_min(Â) − ‖E‖. The released matrix Â therefore bounds the smallest eigenvalue itself, at no price, on the same
// event ‖E‖ ≤ t. On this event, λ = max(0, t − max(0, λ_min(Â) − t)) ensures λ_min(A) + λ ≥ t ≥ ‖E‖, which is the
// purpose of the ridge.
//
// A ridge on the intercept would shrink the mean of the response towards the middle of its bounds, and shift the
// difference to a nearly constant predictor. If there is an intercept, solve therefore first centres the other
// predictors at their released means. This is only another form of the same equations. The ridge and the argument
// above then apply to the other predictors alone.
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

// centring returns the matrix t that transforms predictors z into tz. It subtracts the released means and leaves
// the intercept unchanged. free is the number of predictors that get no ridge.
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

// positive returns the matrix a with its negative eigenvalues set to 0.
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

// residual estimates the residual variance. For every γ, Σ(v − z·γ)² = Σv² − 2γ·b + γᵀAγ. With noise this is too
// small by about tr(A⁻¹V), because γ̂ fits the noise too. V is the covariance of the noise f − Eγ of the equations.
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

// spread returns the residual variance for the sampling error of intervals. It is the estimate plus one standard
// deviation of its noise, and at most 1, which is the largest variance of a response between −1 and 1. Even a large
// noise of the estimate matters little. It has the order of the noise on the equations, whose square is part of the
// variance anyway.
func (s *solution) spread() float64 {
	if math.IsNaN(s.sigma2) {
		return 1
	}
	return math.Min(1, math.Max(0, s.sigma2)+s.error2)
}

// covariance returns the covariance of the noise f − Eγ of the equations at coefficients γ. Entry (i, i) is the
// variance of f_i − Σ_j E_ij γ_j. Entry (i, j) comes from E_ij alone, which is multiplied by γ_j in equation i and
// by γ_i in equation j.
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

// norm returns a quantile of the spectral norm of T·E·Tᵀ, where T is the matrix t and E the noise of the
// predictors' sums. It omits the first rows and columns; free is their number. If free is 0, it uses E itself. It
// is computed by simulation with a fixed seed. As a bound on the norm it fails with probability ridgeLevel.
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

// plain returns the identity matrix, for predictors that need no centring.
func plain(p int) *mat.Dense {
	t := mat.NewDense(p, p, nil)
	for i := range p {
		t.Set(i, i, 1)
	}
	return t
}

// standardNoise returns a pseudorandom draw with mean 0 and variance 1.
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
