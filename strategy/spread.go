package strategy

import (
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Spread has the variances of the estimates of a strategy, in units of the variance of one count's noise. With it, the
// errors of products of strategies follow from those of their factors.
type Spread struct{ of *covariance }

// Spread returns the variances of the estimates of queries.
func (s *Strategy) Spread() Spread { return Spread{s.covariance} }

// Centred returns the variances of the estimates of centred queries: of q − (1ᵀq/n)·1 for each query q over n cells.
func (s *Strategy) Centred() Spread {
	n := s.covariance.n
	means, total := make([]float64, n), 0.0
	for i := range n {
		for j := range n {
			means[i] += s.covariance.cells.At(i, j) / float64(n)
		}
		total += means[i] / float64(n)
	}
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, s.covariance.cells.At(i, j)-means[i]-means[j]+total)
		}
	}
	return Spread{newCovariance(out)}
}

// Each returns the variances of the answers of a workload over the same cells, in the order of [Workload.All], with the
// weights of the queries.
func (s Spread) Each(w Workload) iter.Seq2[float64, float64] {
	return func(yield func(variance, weight float64) bool) {
		for _, p := range w.parts {
			more := true
			p.each(w.cells, func(low, high int) {
				more = more && yield(max(0, s.of.interval(low, high)), p.weight)
			})
			for _, row := range p.rows {
				more = more && yield(max(0, s.of.query(row)), p.weight)
			}
			if !more {
				return
			}
		}
	}
}

// Dual returns numbers y > 0, one for each cell, that certify a lower bound on the error of every strategy: see
// [Optimal]. They are close to the best ones.
func Dual(w Workload) []float64 {
	r, slow := w.roots()
	y, _ := ascend(r, w.cells, tolerance(slow))
	return y
}

// Root is a pair of lower bounds on parts of the trace of M = (D^½VD^½)^½, where V is a workload's Gram matrix and D the
// diagonal matrix of y: with the unit vector v proportional to the roots of y, Along is at most vᵀMv, and Across at most
// tr((I−vvᵀ)M).
type Root struct{ Along, Across float64 }

// RootOf returns bounds for a workload and y, which has a number above 0 for each cell.
//
// A computed eigenvalue differs from the exact one by at most d = 4n units of rounding of the largest. So the trace is at
// most n·√d above the sum over the eigenvalues less d (squareRoot), and vᵀMv at most √d from the computed one, because
// ‖√A − √B‖ ≤ √‖A − B‖ for positive semidefinite A and B.
func RootOf(w Workload, y []float64) Root {
	n := w.cells
	v, norm := make([]float64, n), 0.0
	for _, u := range y {
		norm += u
	}
	for i, u := range y {
		v[i] = math.Sqrt(u / norm)
	}
	if row, weight := w.single(); row != nil { // M = weight^½·aaᵀ/‖a‖ with a = D^½q
		a, along := 0.0, 0.0
		for i, q := range row {
			a += q * q * y[i]
			along += q * math.Sqrt(y[i]) * v[i]
		}
		a = math.Sqrt(a)
		r := Root{Along: math.Sqrt(weight) * along * along / a * (1 - 1e-9)}
		r.Across = max(0, math.Sqrt(weight)*a*(1-1e-9)-r.Along/(1-1e-9))
		return r
	}
	var m *mat.SymDense
	var trace, doubt float64
	if w.Structured() {
		r, _ := w.roots()
		_, trace = r.diagonal(y)
		m = r.full(y)
		doubt = mat.Trace(m) - trace // the relative error of the trace is that of each eigenvalue
	} else {
		m, trace = newDense(w.Gram()).root(y, squareRoot)
		doubt = math.Sqrt(4*float64(n)*0x1p-53) * mat.Trace(m) // the largest eigenvalue is at most the trace
	}
	along := mat.Inner(mat.NewVecDense(n, v), m, mat.NewVecDense(n, v))
	return Root{Along: max(0, along-doubt), Across: max(0, trace-along-doubt)}
}

// single returns the coefficients of the workload's only query and its weight, and nil if it has several.
func (w Workload) single() (row []float64, weight float64) {
	if w.Queries() != 1 {
		return nil, 0
	}
	for q := range w.All() {
		row = q.Coefficients(w.cells)
	}
	return row, w.parts[0].weight
}
