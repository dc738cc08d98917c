package strategy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// MaxCentred is the largest number of cells of [OptimalCentred].
const MaxCentred = 256

// OptimalCentred returns the strategy of nearly the least RMSE under Gaussian noise for the centred queries of a workload,
// q − (1ᵀq/n)·1. Every row of its matrix adds up to 0, so it measures nothing of the total. Its errors, estimates and
// weights are those of the centred queries.
//
// The programme is that of [Optimal] for the centred Gram matrix. Its optimum D^−½·M·D^−½ maps 1 to 0, because M maps
// D^½·1 to 0. The rounded root R is replaced by n·R − R·11ᵀ, whose rows add up to exactly 0.
func OptimalCentred(w Workload) (*Strategy, error) {
	n := w.cells
	if n < 2 || n > MaxCentred {
		return nil, fmt.Errorf("%w: a centred strategy is computed for 2 to %d cells, not %d", ErrWorkload, MaxCentred, n)
	}
	gram := w.Gram()
	sums, total := make([]float64, n), 0.0
	for i := range n {
		for j := range n {
			sums[i] += gram.At(i, j) / float64(n)
		}
		total += sums[i] / float64(n)
	}
	centred := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			centred.SetSym(i, j, gram.At(i, j)-sums[i]-sums[j]+total)
		}
	}
	r := newDense(centred)
	y, _ := ascend(r, n, 1e-5)
	if y == nil {
		return nil, fmt.Errorf("%w: every query is a multiple of the total", ErrWorkload)
	}
	root, _ := squareRoot(centredGram(r.full(y), y))
	largest := mat.Max(root)
	for i := range n {
		for j := range n {
			largest = max(largest, -root.At(i, j))
		}
	}
	m := Matrix{Columns: n, Rows: make([]Row, n)}
	for i := range n {
		entries, sum := make([]int64, n), int64(0)
		for j := range entries {
			entries[j] = int64(math.Round(root.At(i, j) / largest * centredGrain))
			sum += entries[j]
		}
		for j := range entries {
			entries[j] = int64(n)*entries[j] - sum
		}
		m.Rows[i] = Row{Entries: entries}
	}
	return newStrategy("centred", w, m, Rho, m.centredCovariance)
}

// centred reports whether all rows add up to 0.
func (m Matrix) centred() bool {
	for _, r := range m.Rows {
		sum := int64(0)
		for _, v := range r.Entries {
			sum += v
		}
		if sum != 0 {
			return false
		}
	}
	return true
}

// centredGram returns D^−½·M·D^−½, scaled to a largest diagonal entry of 1. A share of 1e-5 of the centring matrix is mixed
// in, as in gramOf, so that every difference of cells is determined.
func centredGram(m *mat.SymDense, y []float64) *mat.SymDense {
	const share = 1e-5
	n, most := len(y), 0.0
	for i := range n {
		most = max(most, m.At(i, i)/y[i])
	}
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, (1-share)*m.At(i, j)/math.Sqrt(y[i]*y[j])/most-share/float64(n))
		}
		out.SetSym(i, i, out.At(i, i)+share)
	}
	return out
}

// centredGrain is the largest entry before the rows are made to add up to 0.
const centredGrain = 1 << 20

// centredCovariance returns the pseudo-inverse of AᵀA times scale2, for a matrix of full rank but for the total, whose rows
// add up to 0: (AᵀA + t·11ᵀ)⁻¹ − 11ᵀ/(t·n²) for any t > 0.
func (m Matrix) centredCovariance(scale2 float64) (*covariance, error) {
	gram, n := m.gram(), m.Columns
	t := mat.Trace(gram) / float64(n) / float64(n)
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, gram.At(i, j)+t)
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(gram) {
		return nil, fmt.Errorf("%w: the strategy does not determine every difference of cells", ErrStrategy)
	}
	if err := factor.InverseTo(gram); err != nil {
		return nil, fmt.Errorf("%w: the strategy determines some cells too badly: %w", ErrStrategy, err)
	}
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, scale2*(gram.At(i, j)-1/t/float64(n)/float64(n)))
		}
	}
	return newCovariance(gram), nil
}
