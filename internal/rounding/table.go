package rounding

import (
	"math"
	"slices"

	"dither/internal/simplex"
)

// MaxSum is the largest magnitude of a sum of a [Table], and of a value.
const MaxSum = 1 << 40

// Table has numbers that are to become integers with given sums of rows and columns.
type Table struct {
	// the required sums; both add up to the same number. They are not negative unless Signed is set
	Rows, Columns []int64
	Values        []float64 // by row
	Signed        bool      // cells may be negative
}

// rounds is the number of times that the projection adjusts rows and columns.
const rounds = 60

// Solve returns integers with the required sums that are near the values.
//
// If cells may not be negative, it first moves the values towards the nearest table with non-negative cells and the
// required sums, in the sum of squares. The nearest table has the form max(0, x + a_row + b_column), and the numbers a
// and b are found by solving for the rows and the columns in turn (coordinate ascent in the dual problem). The
// required sums are not negative then.
//
// The result is then made of fixed-point numbers with the required sums exactly, and rounded so that each cell is one
// of the two integers around it. Such a rounding exists for every table with integer sums of rows and columns [Cox
// 1987; Bacharach 1966].
func (t *Table) Solve() []int64 {
	switch {
	case len(t.Rows) == 1:
		return slices.Clone(t.Columns)
	case len(t.Columns) == 1:
		return slices.Clone(t.Rows)
	case t.Signed:
		return t.round(t.fixedPoint(t.shift()))
	}
	return t.round(t.fixedPoint(t.project(t.Values)))
}

// shift returns the nearest table with the required sums, up to the rounding of floats. It adds the same number to all
// cells of a row, and the same number to all cells of a column.
func (t *Table) shift() []float64 {
	n, m := len(t.Rows), len(t.Columns)
	rows, columns, all := make([]float64, n), make([]float64, m), 0.0 // what the sums lack
	for i, r := range t.Rows {
		rows[i], all = float64(r), all+float64(r)
	}
	for j, c := range t.Columns {
		columns[j] = float64(c)
	}
	for at, v := range t.Values {
		rows[at/m] -= v
		columns[at%m] -= v
		all -= v
	}
	out := slices.Clone(t.Values)
	for at := range out {
		out[at] += rows[at/m]/float64(m) + columns[at%m]/float64(n) - all/float64(n*m)
	}
	return out
}

// project returns a table with non-negative cells near the values, whose sums of rows and columns are at most the
// required ones, and nearly equal to them.
func (t *Table) project(x []float64) []float64 {
	n, m := len(t.Rows), len(t.Columns)
	up, across := make([]float64, n), make([]float64, m)
	line := make([]float64, max(n, m))
	for range rounds {
		for i := range n {
			for j := range m {
				line[j] = x[i*m+j] + across[j]
			}
			up[i] = -simplex.Level(line[:m], float64(t.Rows[i]))
		}
		moved := 0.0
		for j := range m {
			for i := range n {
				line[i] = x[i*m+j] + up[i]
			}
			next := -simplex.Level(line[:n], float64(t.Columns[j]))
			moved, across[j] = math.Max(moved, math.Abs(next-across[j])), next
		}
		if moved < 1e-7 {
			break
		}
	}
	out := make([]float64, len(x))
	for i := range n {
		for j := range m {
			out[i*m+j] = math.Max(0, x[i*m+j]+up[i]+across[j])
		}
	}
	// so that no sum exceeds the required one
	for j, sum := range t.Columns {
		shrink(out[j:], n, m, float64(sum))
	}
	for i, sum := range t.Rows {
		shrink(out[i*m:], m, 1, float64(sum))
	}
	return out
}

// shrink multiplies count cells, which are step apart, so that their sum is at most the limit.
func shrink(cells []float64, count, step int, limit float64) {
	sum := 0.0
	for k := range count {
		sum += cells[k*step]
	}
	if sum > limit {
		for k := range count {
			cells[k*step] *= limit / sum
		}
	}
}

// one is the integer 1 as a fixed-point number.
const one = int64(1) << 20

// fixedPoint returns the table in fixed-point numbers whose sums of rows and columns are the required ones exactly. It
// adds what is missing from the sums along a path from the first cell to the last (the north-west corner rule). If
// cells may not be negative, no sum of x exceeds the required one, so only non-negative numbers are added.
func (t *Table) fixedPoint(x []float64) []int64 {
	n, m := len(t.Rows), len(t.Columns)
	out := make([]int64, n*m)
	rows, columns := make([]int64, n), make([]int64, m)
	for i, r := range t.Rows {
		rows[i] = r * one
	}
	for j, c := range t.Columns {
		columns[j] = c * one
	}
	for i := range n {
		for j := range m {
			v := int64(math.Floor(x[i*m+j] * float64(one)))
			if !t.Signed { // rounding of floats may exceed a sum by a few units
				v = max(0, min(v, rows[i], columns[j]))
			}
			out[i*m+j] = v
			rows[i] -= v
			columns[j] -= v
		}
	}
	if t.Signed {
		// Spread each row's rest over its cells, except the last column's, then correct the sums of columns in the
		// last row. What remains is 0, because both lists of sums have the same total.
		for i := range n {
			for j := range m {
				step := rows[i] / int64(m-j)
				out[i*m+j] += step
				rows[i] -= step
				columns[j] -= step
			}
		}
		for i := range n {
			for j := range m {
				step := columns[j] / int64(n-i)
				if j == m-1 {
					step = rows[i]
				}
				out[i*m+j] += step
				rows[i] -= step
				columns[j] -= step
			}
		}
		return out
	}
	for i, j := 0, 0; i < n && j < m; {
		step := min(rows[i], columns[j])
		out[i*m+j] += step
		rows[i] -= step
		columns[j] -= step
		if rows[i] == 0 {
			i++
		} else {
			j++
		}
	}
	return out
}
