package strategy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// MaxOptimised is the largest number of cells for which the optimal strategy is computed.
const MaxOptimised = 2048

// MaxDense is the largest number of cells of windows, matrices and unions that [Choose] takes. Each step of their
// optimisation takes an eigendecomposition.
const MaxDense = 1024

// Optimal returns the strategy of least RMSE under Gaussian noise, and a certified lower bound on the RMSE of every
// strategy. The strategy's matrix is lower triangular.
//
// With X = AᵀA, the problem is the convex programme min tr(X⁻¹V) with X_ii ≤ 1, where V is [Workload.Gram]. For every y
// > 0 and D = diag(y), weak duality gives tr(X⁻¹V) ≥ T(y)²/Σy with T(y) = tr((D^½VD^½)^½), because tr(X⁻¹V) + tr(DX) ≥
// 2·T(y) for every X (the minimum is at X = D^−½·(D^½VD^½)^½·D^−½), and scaling y gives the square. At the optimum y is
// proportional to the diagonal of M = (D^½VD^½)^½. The iteration y ← M_ii²/y_i ascends to it, and any of its points is
// a certificate. The bound subtracts the errors of rounding and quadrature (see rounding and quadrature).
//
// The measured matrix is the lower triangular factor of X, in multiples of 2^−30. Its expected errors are computed from
// these integers.
func Optimal(w Workload) (s *Strategy, bound float64, err error) {
	s, _, bound, err = OptimalWithDual(w)
	return s, bound, err
}

// OptimalWithDual returns the results of [Optimal], and the y that certifies the bound.
func OptimalWithDual(w Workload) (s *Strategy, y []float64, bound float64, err error) {
	if w.cells == 0 || w.cells > MaxOptimised {
		return nil, nil, 0, fmt.Errorf("%w: the optimal strategy is computed for 1 to %d cells, not %d",
			ErrWorkload, MaxOptimised, w.cells)
	}
	r, slow := w.roots()
	y, bound = ascend(r, w.cells, tolerance(slow))
	m, err := factor(gramOf(r.full(y), y))
	if err != nil {
		return nil, nil, 0, err
	}
	s, err = New("optimal", w, m, Rho)
	return s, y, math.Sqrt(bound / w.Weight()), err
}

// tolerance returns the tolerance of an ascent, which its time allows.
func tolerance(slow bool) float64 {
	if slow {
		return 3e-4
	}
	return 1e-8
}

// Structured reports whether the inverse of the workload's Gram matrix is tridiagonal.
func (w Workload) Structured() bool {
	return len(w.parts) == 1 && (w.parts[0].family == prefixes || w.parts[0].family == ranges)
}

// roots returns the fastest roots for a workload, and whether they are slow, because they are dense.
func (w Workload) roots() (r roots, slow bool) {
	if len(w.parts) == 1 {
		switch p := w.parts[0]; p.family {
		case prefixes:
			z := make([]float64, w.cells)
			for i := range z {
				z[i] = p.weight
			}
			return prefixRoots(z), false
		case ranges:
			return rangeRoots(w.cells, p.weight), false
		}
	}
	return newDense(w.Gram()), true
}

// leastShare keeps y away from 0, where a cell needs no norm of 1: roots of rounding errors would decide X there.
const leastShare = 1e-5

// ascend maximises T(y)²/Σy, and returns the largest value with its y. It stops when a primal solution, X divided by
// its largest diagonal entry, has a loss within 1 + tolerance of the bound, or when the bound no longer increases by a
// hundredth of the tolerance.
func ascend(r roots, n int, tolerance float64) (best []float64, bound float64) {
	y := make([]float64, n)
	for i := range y {
		y[i] = 1
	}
	for step := 0; step < 200; step++ {
		m, trace := r.diagonal(y)
		sum, gap := 0.0, 0.0
		for i := range y {
			sum += y[i]
		}
		value := trace * trace / sum
		if value > bound {
			done := value < bound*(1+tolerance/100)
			bound, best = value, append(best[:0], y...)
			if done {
				break
			}
		} else if step > 3 {
			break
		}
		for i := range y {
			gap = max(gap, m[i]/y[i]*sum/trace-1)
		}
		if gap < tolerance {
			break
		}
		power := 2.0
		if step > 1 {
			power = 3
		}
		for i := range y {
			y[i] *= math.Pow(max(m[i]/y[i]*sum/trace, 1e-6), power)
			y[i] = max(y[i], leastShare*sum/float64(n))
		}
	}
	return best, bound
}

// gramOf returns X = D^−½·M·D^−½ with a diagonal of at most 1. Entries of the diagonal above 1 are scaled to 1. Those
// below 1 belong to cells that need no norm of 1, if they are clearly below; the others are scaled too. A share of 1e-5
// of the identity is mixed in, so that X is positive definite also for a workload that does not determine every cell.
// It raises the loss by at most that share, because X ↦ tr(X⁻¹V) decreases.
func gramOf(m *mat.SymDense, y []float64) *mat.SymDense {
	const share, slack = 1e-5, 0.99
	n := len(y)
	sum, trace := 0.0, 0.0
	for i, v := range y {
		sum, trace = sum+v, trace+m.At(i, i)
	}
	scale := make([]float64, n)
	for i := range scale {
		scale[i] = math.Sqrt(sum / trace / y[i])
		if v := m.At(i, i) * scale[i] * scale[i]; v > slack {
			scale[i] /= math.Sqrt(v)
		}
	}
	x := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			x.SetSym(i, j, (1-share)*m.At(i, j)*scale[i]*scale[j])
		}
		x.SetSym(i, i, x.At(i, i)+share)
	}
	return x
}

// entryBits is the number of binary digits after the point of the entries of a factor.
const entryBits = 30

// factor returns the lower triangular matrix C with CᵀC = X, in multiples of 2^−entryBits.
func factor(x *mat.SymDense) (Matrix, error) {
	n := x.SymmetricDim()
	reversed := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			reversed.SetSym(i, j, x.At(n-1-i, n-1-j))
		}
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(reversed) {
		return Matrix{}, fmt.Errorf("%w: the optimum is not positive definite", ErrStrategy)
	}
	var u mat.TriDense
	cholesky.UTo(&u) // reversed = UᵀU, so C is U in reverse
	upper := u.RawTriangular()
	m := Matrix{Columns: n, Rows: make([]Row, n)}
	for i := range n {
		entries := make([]int64, i+1)
		for j := range entries {
			entries[j] = int64(math.Round(math.Ldexp(upper.Data[(n-1-i)*upper.Stride+n-1-j], entryBits)))
		}
		m.Rows[i] = Row{Entries: entries}
	}
	return m, nil
}
