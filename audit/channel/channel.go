// Package channel checks finite mechanisms exactly: those with finitely many inputs and outputs, given by the matrix of
// their probabilities.
//
// A mechanism M is ε-differentially private if P(M(x) = y) ≤ e^ε·P(M(x′) = y) for all adjacent inputs x, x′
// and all outputs y. For finitely many outputs single ones suffice, since sums of such inequalities give the inequality
// for sets of outputs [Dwork & Roth 2014, Definition 2.4]. Here the probabilities are exact numbers, quotients of sums
// of rationals times e to rational powers, so the smallest such ε, or its absence, is found exactly. The package
// judges the given matrix. Whether a program has these probabilities is another question.
package channel

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"dither/internal/expsum"
)

// ErrMatrix reports an invalid matrix: ragged, empty, too large, or with numbers that are not probabilities.
var ErrMatrix = errors.New("no matrix of probabilities")

// Matrix is a mechanism with finitely many inputs, its rows, and finitely many outputs, its columns. An entry is the
// probability of the output given the input. It never changes. Make one with New, Of or Read.
type Matrix struct {
	inputs, outputs []string
	cells           []int32 // row by row, a place in values each
	values          []value
}

// value is a number that entries have.
type value struct {
	number       *expsum.Number
	lower, upper float64
}

// Limits of a matrix.
const (
	maxCells = 1 << 22
	maxSide  = 1 << 20
)

// New is the matrix of entries[row][column], each a text such as "0.25", "1/3" or "exp(1)/(200 + exp(1))", parsed
// exactly. nil labels are 1, 2, … Every row must sum to exactly 1. Otherwise the error is ErrMatrix, which says where
// and by how much.
func New(inputs, outputs []string, entries [][]string) (*Matrix, error) {
	columns := 0
	if len(entries) > 0 {
		columns = len(entries[0])
	}
	b, err := newBuilder(reading(len(entries), columns), inputs, outputs, len(entries), columns)
	if err != nil {
		return nil, err
	}
	for i, row := range entries {
		if err := b.row(row, i); err != nil {
			return nil, err
		}
	}
	return b.matrix(false)
}

// Of is the matrix of rational entries; else as New.
func Of(inputs, outputs []string, entries [][]*big.Rat) (*Matrix, error) {
	columns := 0
	if len(entries) > 0 {
		columns = len(entries[0])
	}
	b, err := newBuilder(reading(len(entries), columns), inputs, outputs, len(entries), columns)
	if err != nil {
		return nil, err
	}
	for i, row := range entries {
		texts := make([]string, len(row))
		for j, r := range row {
			if r == nil {
				r = new(big.Rat)
			}
			texts[j] = r.RatString()
		}
		if err := b.row(texts, i); err != nil {
			return nil, err
		}
	}
	return b.matrix(false)
}

// Inputs are the names of the rows.
func (m *Matrix) Inputs() []string { return append([]string(nil), m.inputs...) }

// Outputs are the names of the columns.
func (m *Matrix) Outputs() []string { return append([]string(nil), m.outputs...) }

// At is the entry in a row and a column, from 0, as an exact text. It panics outside the matrix.
func (m *Matrix) At(row, column int) string { return m.value(row, column).number.String() }

func (m *Matrix) id(row, column int) int32 { return m.cells[row*len(m.outputs)+column] }

func (m *Matrix) value(row, column int) value { return m.values[m.id(row, column)] }

// numbered are the labels, or 1, 2, … where there are none.
func numbered(labels []string, n int) []string {
	if labels != nil {
		return append([]string(nil), labels...)
	}
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
	}
	return out
}

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMatrix, fmt.Errorf(format, args...))
}
