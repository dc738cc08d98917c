package span

import (
	"math"
	"slices"

	"dither/mechanism/linear"
)

// factor is the pseudo-inverse of one matrix. A column of zeros, such as that of NULL, is not determined.
type factor struct {
	inverse [][]float64 // by value and row of the matrix
	known   []bool      // by value
	total   []float64   // the sum of the inverse over all values; nil if one is not known
	centred bool        // the matrix's rows add up to 0, so it measures the differences of values from their mean
}

// row returns the coefficients of a value; nil if it is not determined.
func (f *factor) row(value int) []float64 {
	if !f.known[value] {
		return nil
	}
	return f.inverse[value]
}

// mostRounding is the largest error of an entry of the pseudo-inverse times the matrix. The estimates are biased by at
// most as many times the sum of all cells.
const mostRounding = 1e-10

// newFactor inverts a matrix. It returns nil if the matrix is too large, or neither has full column rank, but for columns
// of zeros, nor has full rank among rows that add up to 0.
func newFactor(m linear.Matrix) *factor {
	n, rows := m.Columns(), m.Rows()
	if n > MaxSide || rows > 2*MaxSide {
		return nil
	}
	f := &factor{known: make([]bool, n), centred: true}
	largest, dense := int64(0), m.Dense()
	for _, row := range dense {
		sum := int64(0)
		for j, v := range row {
			f.known[j] = f.known[j] || v != 0
			sum += v
			largest = max(largest, v, -v)
		}
		f.centred = f.centred && sum == 0
	}
	if largest == 0 || f.centred && slices.Contains(f.known, false) {
		return nil
	}
	// Rows e_j for undetermined values j make the rank full, and 1ᵀ that of a centred matrix A. They change no other row of
	// the pseudo-inverse, and no column of it but their own, because A·e_j = 0 and A·1 = 0.
	var further [][]int64
	for j, known := range f.known {
		if !known {
			further = append(further, make([]int64, n))
			further[len(further)-1][j] = largest
		}
	}
	if f.centred {
		further = append(further, slices.Repeat([]int64{largest}, n))
	}
	if f.inverse = inverted(append(dense, further...), rows); f.inverse == nil || !f.near(dense) {
		return nil
	}
	f.total = make([]float64, rows)
	for j := range n {
		if !f.known[j] {
			f.total = nil
			break
		}
		for i, v := range f.inverse[j] {
			f.total[i] += v
		}
	}
	return f
}

// near reports whether the pseudo-inverse times the matrix is what it should be, up to rounding.
func (f *factor) near(entries [][]int64) bool {
	n := len(f.known)
	for i, row := range f.inverse {
		product := make([]float64, n)
		for r, w := range row {
			for j, v := range entries[r] {
				product[j] += w * float64(v)
			}
		}
		for j, got := range product {
			want := 0.0
			if i == j && f.known[i] {
				want = 1
			}
			if f.centred {
				want -= 1 / float64(n)
			}
			if !(math.Abs(got-want) <= mostRounding) {
				return false
			}
		}
	}
	return true
}
