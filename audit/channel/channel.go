// Package channel checks finite mechanisms exactly. A finite mechanism has finitely many inputs and outputs, and is
// given by the matrix of its probabilities.
//
// A mechanism M is ε-differentially private if P(M(x) = y) ≤ e^ε·P(M(x′) = y) for all adjacent inputs x, x′ and all
// outputs y. For finitely many outputs it suffices to consider single outputs: adding these inequalities gives the
// inequality for a set of outputs [Dwork & Roth 2014, Definition 2.4]. The probabilities are exact numbers:
// quotients of sums of rationals times e to rational powers. So the package computes the smallest such ε exactly,
// or proves that there is none. It judges only the given matrix. Whether a program has these probabilities is
// another question.
package channel

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"dither/internal/expsum"
)

// ErrMatrix reports an invalid matrix: rows of different length, no entries, too many entries, or rows that are not
// probability distributions. It also reports invalid names, pairs of rows and priors.
var ErrMatrix = errors.New("not a matrix of probabilities")

// Matrix is a mechanism with finitely many inputs, its rows, and finitely many outputs, its columns. An entry is
// the probability of the output given the input. A Matrix is immutable. [New], [Of] and [Read] create one.
type Matrix struct {
	inputs, outputs []string
	cells           []int32 // for each entry, row by row, its index in values
	values          []value
}

// value is the value of one or more entries, with floats below and above it.
type value struct {
	number       *expsum.Number
	lower, upper float64
}

// Limits on a matrix: the number of its entries, and of its rows or columns.
const (
	maxCells = 1 << 22
	maxSide  = 1 << 20
)

// New returns the matrix of entries[row][column]. An entry is a text such as "0.25", "1/3" or "exp(1)/(200 +
// exp(1))", and is parsed exactly. If inputs or outputs is nil, the names are 1, 2, … If a row does not sum to
// exactly 1, New returns ErrMatrix, and the error says which row, and by how much it differs.
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

// Of returns the matrix of rational entries. A nil entry is 0. Everything else is as in [New].
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

// Inputs returns the names of the rows.
func (m *Matrix) Inputs() []string { return append([]string(nil), m.inputs...) }

// Outputs returns the names of the columns.
func (m *Matrix) Outputs() []string { return append([]string(nil), m.outputs...) }

// At returns an entry as an exact text. row and column count from 0. It panics outside the matrix.
func (m *Matrix) At(row, column int) string { return m.value(row, column).number.String() }

func (m *Matrix) id(row, column int) int32 { return m.cells[row*len(m.outputs)+column] }

func (m *Matrix) value(row, column int) value { return m.values[m.id(row, column)] }

// numbered returns a copy of labels, or the labels 1 to n if labels is nil.
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
