// Package linear applies integer matrices to exact vectors: the queries of the matrix mechanism [Li, Miklau, Hay,
// McGregor & Rastogi 2015]. A strategy is a stack of Kronecker products of integer matrices. Its answers stay opaque
// until a mechanism has added noise to them.
package linear

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"dither/mechanism/internal/parameter"
)

// ErrParameter reports a matrix or a strategy that is malformed or too large.
var ErrParameter = parameter.Err

// The limits of matrices and strategies. A matrix within the limits never makes an operation of this package fail.
const (
	// MaxEntry is the largest magnitude of an entry of a matrix.
	MaxEntry = 1 << 40
	// MaxRuns is the largest number of runs of a strategy's matrices together.
	MaxRuns = 1 << 22
	// MaxSide is the largest number of rows, and the largest number of columns, of a matrix or a strategy.
	MaxSide = 1 << 22
	// MaxFactors is the largest number of factors of a product, and MaxProducts that of products of a strategy.
	MaxFactors  = 128
	MaxProducts = 256
	// MaxWork is the largest number of additions that a strategy takes to apply.
	MaxWork = 1 << 32
)

// Run is a run of equal entries of one row: the entries in the columns From ≤ j < To are Value.
type Run struct {
	From, To int
	Value    int64
}

// Matrix is a matrix of integers. It is immutable. The zero value is invalid.
type Matrix struct {
	columns int
	rows    [][]Run // of each row: nonzero runs in increasing order; adjacent runs have different values
	runs    int
}

// NewMatrix returns the matrix with the given number of columns and rows. The runs of a row may have any order, and
// must not overlap. Columns without a run are 0. It returns ErrParameter if a run is empty, overlaps another one, or
// exceeds the columns, and if the matrix exceeds MaxEntry, MaxRuns or MaxSide.
func NewMatrix(columns int, rows [][]Run) (Matrix, error) {
	if columns < 1 || columns > MaxSide || len(rows) < 1 || len(rows) > MaxSide {
		return Matrix{}, wrong("a matrix has between 1 and %d rows and columns", MaxSide)
	}
	m := Matrix{columns: columns, rows: make([][]Run, len(rows))}
	given := 0
	for i, row := range rows {
		if given += len(row); given > MaxRuns {
			return Matrix{}, wrong("a matrix has at most %d runs of equal entries", MaxRuns)
		}
		own, err := normal(columns, row)
		if err != nil {
			return Matrix{}, fmt.Errorf("row %d: %w", i+1, err)
		}
		m.rows[i], m.runs = own, m.runs+len(own)
	}
	return m, nil
}

// normal returns the runs of a row in the form of [Matrix].
func normal(columns int, row []Run) (out []Run, err error) {
	if !slices.IsSortedFunc(row, byFrom) {
		row = slices.Clone(row)
		slices.SortFunc(row, byFrom)
	}
	end := 0
	for _, r := range row {
		switch {
		case r.From < end || r.To <= r.From || r.To > columns:
			return nil, wrong("the run from %d to %d is empty, overlaps another run, or exceeds %d columns",
				r.From, r.To, columns)
		case r.Value > MaxEntry || r.Value < -MaxEntry:
			return nil, wrong("the entry %d exceeds %d in magnitude", r.Value, int64(MaxEntry))
		}
		end = r.To
		if n := len(out); n > 0 && out[n-1].To == r.From && out[n-1].Value == r.Value {
			out[n-1].To = r.To
		} else if r.Value != 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

func byFrom(a, b Run) int { return a.From - b.From }

// wrong returns an ErrParameter with a message.
func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParameter, fmt.Sprintf(format, args...))
}

// Dense returns the matrix with the given entries, by row. All rows must have the same length. Errors are those of
// [NewMatrix].
func Dense(entries [][]int64) (Matrix, error) {
	if len(entries) == 0 {
		return Matrix{}, wrong("a matrix has between 1 and %d rows and columns", MaxSide)
	}
	columns, runs := len(entries[0]), make([][]Run, len(entries))
	for i, row := range entries {
		if len(row) != columns {
			return Matrix{}, wrong("row %d has %d entries, and row 1 has %d", i+1, len(row), columns)
		}
		for j, v := range row {
			if n := len(runs[i]); n > 0 && runs[i][n-1].Value == v {
				runs[i][n-1].To++
			} else {
				runs[i] = append(runs[i], Run{j, j + 1, v})
			}
		}
	}
	return NewMatrix(columns, runs)
}

// Identity returns the identity matrix of n columns. It panics unless n is between 1 and MaxSide.
func Identity(n int) Matrix {
	return must(n, func(i int) []Run { return []Run{{i, i + 1, 1}} }, n)
}

// Total returns the matrix with one row of n ones: the sum of all entries. It panics unless n is between 1 and MaxSide.
func Total(n int) Matrix {
	return must(n, func(int) []Run { return []Run{{0, n, 1}} }, 1)
}

// Centred returns the matrix nI − 11ᵀ of n columns: n times the difference of each entry from the average of all. It
// panics unless n is between 1 and MaxRuns/3.
func Centred(n int) Matrix {
	return must(n, func(i int) []Run {
		all := []Run{{0, i, -1}, {i, i + 1, int64(n) - 1}, {i + 1, n, -1}}
		return slices.DeleteFunc(all, func(r Run) bool { return r.From == r.To })
	}, n)
}

// must returns a matrix whose rows a function gives. It panics if the matrix is too large.
func must(columns int, row func(i int) []Run, rows int) Matrix {
	all := make([][]Run, max(0, min(rows, MaxSide+1)))
	for i := range all {
		all[i] = row(i)
	}
	m, err := NewMatrix(columns, all)
	if err != nil {
		panic(err)
	}
	return m
}

// Rows returns the number of rows, and Columns the number of columns.
func (m Matrix) Rows() int { return len(m.rows) }

// Columns returns the number of columns.
func (m Matrix) Columns() int { return m.columns }

// Row returns the nonzero runs of a row, in increasing order. The caller must not change them.
func (m Matrix) Row(i int) []Run { return m.rows[i] }

// Dense returns the entries by row.
func (m Matrix) Dense() [][]int64 {
	out := make([][]int64, len(m.rows))
	for i, row := range m.rows {
		out[i] = make([]int64, m.columns)
		for _, r := range row {
			for j := r.From; j < r.To; j++ {
				out[i][j] = r.Value
			}
		}
	}
	return out
}

// signless reports whether no entry is negative.
func (m Matrix) signless() bool {
	return !slices.ContainsFunc(m.rows, func(row []Run) bool {
		return slices.ContainsFunc(row, func(r Run) bool { return r.Value < 0 })
	})
}

// widest returns the largest L1 norm of a row.
func (m Matrix) widest() *big.Int {
	most, one := new(big.Int), new(big.Int)
	for _, row := range m.rows {
		sum := new(big.Int)
		for _, r := range row {
			one.Mul(big.NewInt(max(r.Value, -r.Value)), big.NewInt(int64(r.To-r.From)))
			sum.Add(sum, one)
		}
		if sum.Cmp(most) > 0 {
			most = sum
		}
	}
	return most
}

// encode appends a text of the matrix that no other matrix has.
func (m Matrix) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.columns))
	b = binary.AppendUvarint(b, uint64(len(m.rows)))
	for _, row := range m.rows {
		b = binary.AppendUvarint(b, uint64(len(row)))
		for _, r := range row {
			b = binary.AppendUvarint(b, uint64(r.From))
			b = binary.AppendUvarint(b, uint64(r.To))
			b = binary.AppendVarint(b, r.Value)
		}
	}
	return b
}
