package strategy

import (
	"fmt"
	"math/big"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Matrix is an integer matrix whose rows are stored from their first to their last entry that is not 0.
type Matrix struct {
	Columns int
	Rows    []Row
}

// Row is a row of a Matrix: Entries begin at column First. The other entries are 0.
type Row struct {
	First   int
	Entries []int64
}

// Norms returns the largest L1 norm and the largest squared L2 norm of a column, exactly.
func (m Matrix) Norms() (l1, l2squared *big.Int) {
	ones, squares := make([]big.Int, m.Columns), make([]big.Int, m.Columns)
	var v big.Int
	for _, r := range m.Rows {
		for k, e := range r.Entries {
			v.SetInt64(e)
			squares[r.First+k].Add(&squares[r.First+k], new(big.Int).Mul(&v, &v))
			ones[r.First+k].Add(&ones[r.First+k], v.Abs(&v))
		}
	}
	l1, l2squared = new(big.Int), new(big.Int)
	for j := range ones {
		if ones[j].Cmp(l1) > 0 {
			l1.Set(&ones[j])
		}
		if squares[j].Cmp(l2squared) > 0 {
			l2squared.Set(&squares[j])
		}
	}
	return l1, l2squared
}

// Dense returns the matrix with all its entries.
func (m Matrix) Dense() [][]int64 {
	out := make([][]int64, len(m.Rows))
	for i, r := range m.Rows {
		out[i] = make([]int64, m.Columns)
		copy(out[i][r.First:], r.Entries)
	}
	return out
}

// Times returns the product of the matrix and a vector.
func (m Matrix) Times(x []float64) []float64 {
	out := make([]float64, len(m.Rows))
	for i, r := range m.Rows {
		for k, e := range r.Entries {
			out[i] += float64(e) * x[r.First+k]
		}
	}
	return out
}

// transposed returns the product of the transposed matrix and a vector.
func (m Matrix) transposed(y []float64) []float64 {
	out := make([]float64, m.Columns)
	for i, r := range m.Rows {
		for k, e := range r.Entries {
			out[r.First+k] += float64(e) * y[i]
		}
	}
	return out
}

// covariance returns (AᵀA)⁻¹·scale², the covariance of the cells' least squares estimate if each measurement has noise
// of deviation scale.
func (m Matrix) covariance(scale2 float64) (*covariance, error) {
	gram := m.gram()
	var factor mat.Cholesky
	if !factor.Factorize(gram) {
		return nil, fmt.Errorf("%w: the strategy does not determine every cell", ErrStrategy)
	}
	if err := factor.InverseTo(gram); err != nil {
		return nil, fmt.Errorf("%w: the strategy determines some cells too badly: %w", ErrStrategy, err)
	}
	gram.ScaleSym(scale2, gram)
	return newCovariance(gram), nil
}

// gram returns AᵀA.
func (m Matrix) gram() *mat.SymDense {
	n := m.Columns
	dense := mat.NewDense(len(m.Rows), n, nil)
	for i, r := range m.Rows {
		row := dense.RawRowView(i)
		for k, e := range r.Entries {
			row[r.First+k] = float64(e)
		}
	}
	out := mat.NewSymDense(n, nil)
	blas64.Syrk(blas.Trans, 1, dense.RawMatrix(), 0, out.RawSymmetric())
	return out
}
