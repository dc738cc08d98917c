package strategy

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Given returns the strategy whose estimates take some cells and, unless total is nil, the sum of all cells as known
// constants. Expected errors, covariances and weights are those of least squares with these constants. The total is left out
// if all cells are known. It returns ErrStrategy for a cell that does not exist.
//
// Let x be the estimate of the cells without the constants, and Σ its covariance. Least squares subject to Cx = c is
// x + K(c − Cx) for K = ΣCᵀ(CΣCᵀ)⁻¹, with the covariance Σ − KCΣ [Rao 1973, §4a.9]. For known cells, the rows of C are unit
// vectors.
func (s *Strategy) Given(cells map[int]float64, total *float64) (*Strategy, error) {
	n := s.Matrix.Columns
	var at []int
	for j := range n {
		if _, known := cells[j]; known {
			at = append(at, j)
		}
	}
	switch {
	case len(at) < len(cells):
		return nil, fmt.Errorf("%w: a known cell is not among the %d cells", ErrStrategy, n)
	case len(at) == n:
		total = nil
	}
	m := len(at)
	if total != nil {
		m++
	}
	if m == 0 {
		return s, nil
	}
	across := mat.NewDense(n, m, nil) // ΣCᵀ
	constants := mat.NewVecDense(m, nil)
	for k, j := range at {
		constants.SetVec(k, cells[j])
		for i := range n {
			across.Set(i, k, s.covariance.cells.At(i, j))
		}
	}
	if total != nil {
		constants.SetVec(m-1, *total)
		for i := range n {
			across.Set(i, m-1, s.covariance.sums[(i+1)*(n+1)+n]-s.covariance.sums[i*(n+1)+n])
		}
	}
	inner := mat.NewSymDense(m, nil) // CΣCᵀ
	for k := range m {
		for l, j := range at {
			if l <= k {
				inner.SetSym(l, k, across.At(j, k))
			}
		}
	}
	if total != nil {
		inner.SetSym(m-1, m-1, s.covariance.interval(0, n))
	}
	var root mat.Cholesky
	if !root.Factorize(inner) {
		return nil, fmt.Errorf("%w: the covariance of the known sums is singular", ErrStrategy)
	}
	var gain mat.Dense // Kᵀ
	if err := root.SolveTo(&gain, across.T()); err != nil {
		return nil, fmt.Errorf("%w: the covariance of the known sums is nearly singular", ErrStrategy)
	}
	var less mat.Dense
	less.Mul(across, &gain)
	left := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			_, first := cells[i]
			_, second := cells[j]
			if !first && !second {
				left.SetSym(i, j, s.covariance.cells.At(i, j)-(less.At(i, j)+less.At(j, i))/2)
			}
		}
	}
	out := *s
	out.covariance = newCovariance(left)
	out.Expected = out.covariance.expected(s.workload)
	var known mat.VecDense
	known.MulVec(gain.T(), constants)
	out.known = make([]float64, n)
	for j := range out.known {
		out.known[j] = known.AtVec(j)
		if value, is := cells[j]; is {
			out.known[j] = value
		}
	}
	return &out, nil
}
