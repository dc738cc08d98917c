package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Matrix is a linear map from the values of one attribute to numbers. A measurement applies one to each of its
// attributes: together they are the Kronecker product.
type Matrix struct {
	rows, columns int
	dense         []float64 // by row; nil: columns·I − 11ᵀ
}

// Dense returns the matrix with these rows. There must be at least one row. All rows have the same length of at least
// 1, and finite entries.
func Dense(rows [][]float64) (*Matrix, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil, fmt.Errorf("model: a matrix needs a row and a column")
	}
	m := &Matrix{rows: len(rows), columns: len(rows[0])}
	for i, row := range rows {
		if len(row) != m.columns {
			return nil, fmt.Errorf(
				"model: row %d of a matrix has %d entries, and the first row %d", i, len(row), m.columns,
			)
		}
		for _, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("model: row %d of a matrix has the entry %v, which is not a number", i, v)
			}
		}
		m.dense = append(m.dense, row...)
	}
	return m, nil
}

// Centred returns size·I − 11ᵀ, which measures how far each value is from the mean of all values. It is the same matrix
// as linear.Centred.
func Centred(size int) *Matrix { return &Matrix{rows: size, columns: size} }

// apply writes (I ⊗ M ⊗ I)·from, or that of the transpose, with I of size after on the right.
func (m *Matrix) apply(to, from []float64, after int, transpose bool) {
	rows, columns := m.rows, m.columns
	if transpose {
		rows, columns = columns, rows
	}
	for before := range len(from) / (columns * after) {
		in, out := from[before*columns*after:][:columns*after], to[before*rows*after:][:rows*after]
		if m.dense == nil {
			for k := range after {
				sum := 0.0
				for j := k; j < len(in); j += after {
					sum += in[j]
				}
				for j := k; j < len(in); j += after {
					out[j] = float64(columns)*in[j] - sum
				}
			}
			continue
		}
		clear(out)
		for i := range rows {
			for j := range columns {
				at := i*columns + j
				if transpose {
					at = j*rows + i
				}
				v := m.dense[at]
				if v == 0 {
					continue
				}
				for k := range after {
					out[i*after+k] += v * in[j*after+k]
				}
			}
		}
	}
}

// total returns the shortest vector v with Mᵀv = 1, or nil if there is none.
func (m *Matrix) total() []float64 {
	if m.dense == nil {
		return nil // all rows add up to 0
	}
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(m.rows, m.columns, slices.Clone(m.dense)).T(), mat.SVDThin) {
		return nil
	}
	ones := make([]float64, m.columns)
	for i := range ones {
		ones[i] = 1
	}
	rank := 0
	values := svd.Values(nil)
	for rank < len(values) && values[rank] > 1e-10*values[0] {
		rank++
	}
	if rank == 0 {
		return nil
	}
	var v mat.VecDense
	svd.SolveVecTo(&v, mat.NewVecDense(len(ones), ones), rank)
	check := make([]float64, m.columns)
	m.apply(check, v.RawVector().Data, 1, true)
	for _, c := range check {
		if math.Abs(c-1) > 1e-8 {
			return nil
		}
	}
	return v.RawVector().Data
}

// product is a Kronecker product of matrices, with room to apply it.
type product struct {
	matrices    []*Matrix // by attribute; nil is the identity
	sizes       []int     // by attribute
	work, spare []float64
}

// newProduct returns the product of these matrices over attributes of these sizes, or nil for the identity.
func newProduct(matrices []*Matrix, sizes []int) (*product, error) {
	if matrices == nil {
		return nil, nil
	}
	if len(matrices) != len(sizes) {
		return nil, fmt.Errorf(
			"model: a measurement of %d attributes has %d matrices: give one for each attribute", len(sizes), len(matrices),
		)
	}
	most, rows := 1, 1
	for i, m := range matrices {
		if m == nil {
			rows *= sizes[i]
		} else if m.columns != sizes[i] {
			return nil, fmt.Errorf(
				"model: matrix %d has %d columns, and its attribute %d values", i, m.columns, sizes[i],
			)
		} else {
			rows *= m.rows
		}
		// Partial results have the rows of some attributes and the columns of others.
		if m == nil {
			most *= sizes[i]
		} else {
			most *= max(m.rows, m.columns)
		}
	}
	return &product{matrices, sizes, make([]float64, most), make([]float64, most)}, nil
}

// rows returns the number of numbers that the product measures.
func (p *product) rows() int {
	n := 1
	for i, m := range p.matrices {
		if m == nil {
			n *= p.sizes[i]
		} else {
			n *= m.rows
		}
	}
	return n
}

// apply returns the product times from, or its transpose times from. The result is valid until the next call.
func (p *product) apply(from []float64, transpose bool) []float64 {
	current, other := p.work[:len(from)], p.spare
	copy(current, from)
	after := 1
	for i := len(p.matrices) - 1; i >= 0; i-- {
		m := p.matrices[i]
		if m == nil {
			after *= p.sizes[i]
			continue
		}
		in, out := m.columns, m.rows
		if transpose {
			in, out = out, in
		}
		next := other[:len(current)/in*out]
		m.apply(next, current, after, transpose)
		current, other = next, current[:cap(current)]
		after *= out
	}
	return current
}

// IsCentred reports whether the matrix is that of [Centred].
func (m *Matrix) IsCentred() bool { return m.dense == nil }
