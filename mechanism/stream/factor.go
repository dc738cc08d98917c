package stream

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"dither/mechanism"
)

// Factor is a lower triangular matrix C of integers, by which a [Continual] measures. It is public. [NewFactor] and
// [NewToeplitz] make one, and it never changes.
type Factor struct {
	column []int64   // the first column of a Toeplitz matrix; nil for any other
	rows   [][]int64 // the rows of any other matrix; row t has t+1 entries

	positive bool  // no entry is negative
	longest  int64 // the largest squared norm of a column; below 2⁶²

	products sync.Once
	envelope []int64 // see multiply
	negative int64
}

// MaxFactorPeriods limits the periods of a Factor that is not Toeplitz, whose file grows with their square.
const MaxFactorPeriods = 1 << 11

// NewFactor returns the matrix with the given rows. Row t, counted from 0, has t+1 entries, and the last of them is above
// 0. The squared norm of each column must be below 2⁶². NewFactor returns ErrParameter for any other rows.
func NewFactor(rows [][]int64) (*Factor, error) {
	if len(rows) < 1 || len(rows) > MaxFactorPeriods {
		return nil, fmt.Errorf("%w: a factor has from 1 to %d rows, not %d", mechanism.ErrParameter, MaxFactorPeriods, len(rows))
	}
	f := &Factor{rows: make([][]int64, len(rows))}
	for t, row := range rows {
		if len(row) != t+1 {
			return nil, fmt.Errorf("%w: row %d of a factor has %d entries", mechanism.ErrParameter, t+1, len(row))
		}
		f.rows[t] = append([]int64(nil), row...)
	}
	return f, f.check()
}

// NewToeplitz returns the matrix with the entries column[t−j] in row t and column j ≤ t. The first entry is above 0, and
// the sum of the squares below 2⁶². NewToeplitz returns ErrParameter for any other column.
func NewToeplitz(column []int64) (*Factor, error) {
	if len(column) < 1 || len(column) > MaxPeriods {
		return nil, fmt.Errorf("%w: a factor has from 1 to %d rows, not %d", mechanism.ErrParameter, MaxPeriods, len(column))
	}
	f := &Factor{column: append([]int64(nil), column...)}
	return f, f.check()
}

// Periods returns the number of rows.
func (f *Factor) Periods() int { return max(len(f.column), len(f.rows)) }

// Entry returns the entry in row t and column j ≤ t, counted from 0.
func (f *Factor) Entry(t, j int) int64 {
	if f.rows != nil {
		return f.rows[t][j]
	}
	return f.column[t-j]
}

// check returns ErrParameter unless the entries are as NewFactor states. It sets positive and longest.
func (f *Factor) check() error {
	wrong := func(message string) error { return fmt.Errorf("%w: %s", mechanism.ErrParameter, message) }
	n := f.Periods()
	norms := make([]int64, n)
	f.positive = true
	for t := range n {
		if f.Entry(t, t) < 1 {
			return wrong("the diagonal of a factor must be above 0")
		}
		for j := 0; j <= t; j++ {
			if f.rows == nil && j > 0 {
				break // the first column of a Toeplitz matrix is the longest
			}
			e := f.Entry(t, j)
			if e <= -1<<31 || e >= 1<<31 || norms[j]+e*e >= 1<<62 {
				return wrong("the entries of a factor are too large")
			}
			norms[j] += e * e
			f.positive = f.positive && e >= 0
			f.longest = max(f.longest, norms[j])
		}
	}
	return nil
}

// decreasing reports whether the matrix is Toeplitz, no entry is negative, and no column increases.
func (f *Factor) decreasing() bool {
	for k := 1; k < len(f.column); k++ {
		if f.column[k] > f.column[k-1] {
			return false
		}
	}
	return f.rows == nil && f.positive
}

// multiply computes the inner products of all pairs of columns. It sets envelope, where envelope[d] is the largest absolute
// value for two columns that are at least d apart, and negative, the largest value of the negated products, or 0. By the
// Cauchy–Schwarz inequality, no sum exceeds the longest squared norm, so all are below 2⁶².
func (f *Factor) multiply() {
	f.products.Do(func() {
		n := f.Periods()
		f.envelope = make([]int64, n)
		note := func(d int, product int64) {
			f.envelope[d] = max(f.envelope[d], product, -product)
			f.negative = max(f.negative, -product)
		}
		if f.rows == nil { // the products of columns d apart are the partial sums of one sum
			for d := range n {
				sum := int64(0)
				for u := range n - d {
					sum += f.column[u] * f.column[u+d]
					note(d, sum)
				}
			}
		} else {
			row := make([]int64, n)
			for i := range n { // the products of column i with the columns from i on
				clear(row)
				for t := i; t < n; t++ {
					e := f.rows[t][i]
					for j, v := range f.rows[t][i:] {
						row[i+j] += e * v
					}
				}
				for j := i; j < n; j++ {
					note(j-i, row[j])
				}
			}
		}
		for d := n - 2; d >= 0; d-- {
			f.envelope[d] = max(f.envelope[d], f.envelope[d+1])
		}
	})
}

// The first bytes of a factor's encoding.
const (
	toeplitzText   = "dither factor 1 toeplitz\n"
	triangularText = "dither factor 1 triangular\n"
)

// Encode returns the encoding of a factor: its form, its number of rows, and its entries by row, as differences from the
// entry before, in variable length.
func (f *Factor) Encode() []byte {
	form, rows := triangularText, f.rows
	if f.rows == nil {
		form, rows = toeplitzText, [][]int64{f.column}
	}
	out := binary.AppendUvarint([]byte(form), uint64(f.Periods()))
	for _, row := range rows {
		last := int64(0)
		for _, e := range row {
			out, last = binary.AppendVarint(out, e-last), e
		}
	}
	return out
}

// Digest returns the SHA-256 of the encoding, in hexadecimal digits.
func (f *Factor) Digest() string {
	sum := sha256.Sum256(f.Encode())
	return hex.EncodeToString(sum[:])
}

// DecodeFactor reads an encoding. It returns ErrParameter if it is damaged.
func DecodeFactor(text []byte) (*Factor, error) {
	damaged := fmt.Errorf("%w: the encoding of a factor is damaged", mechanism.ErrParameter)
	from := bufio.NewReader(bytes.NewReader(text))
	form, err := from.ReadString('\n')
	if err != nil {
		return nil, damaged
	}
	n, err := binary.ReadUvarint(from)
	if err != nil || n < 1 || n > MaxPeriods || form != toeplitzText && (form != triangularText || n > MaxFactorPeriods) {
		return nil, damaged
	}
	read := func(entries int) ([]int64, error) {
		row, last := make([]int64, entries), int64(0)
		for i := range row {
			d, err := binary.ReadVarint(from)
			if err != nil || d < -1<<32 || d > 1<<32 {
				return nil, damaged
			}
			last += d
			row[i] = last
		}
		return row, nil
	}
	var f *Factor
	if form == toeplitzText {
		column, err := read(int(n))
		if err != nil {
			return nil, err
		}
		f, err = NewToeplitz(column)
		if err != nil {
			return nil, err
		}
	} else {
		rows := make([][]int64, n)
		for t := range rows {
			if rows[t], err = read(t + 1); err != nil {
				return nil, err
			}
		}
		if f, err = NewFactor(rows); err != nil {
			return nil, err
		}
	}
	if _, err := from.ReadByte(); err != io.EOF {
		return nil, damaged
	}
	return f, nil
}
