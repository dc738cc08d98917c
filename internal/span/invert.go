package span

import "math"

// inverted returns the first columns of the pseudo-inverse of a matrix, by row; nil if it does not have full column rank.
//
// It multiplies the matrix A and the unit matrix by Householder's reflections, which makes A upper triangular: A = QR. The
// pseudo-inverse is R⁻¹Qᵀ [Golub & Van Loan, Matrix computations, 5.3]. All are kept by column.
func inverted(entries [][]int64, columns int) [][]float64 {
	m, n := len(entries), len(entries[0])
	if m < n {
		return nil
	}
	a, right := zeros(n, m), zeros(columns, m)
	for i, row := range entries {
		for j, v := range row {
			a[j][i] = float64(v)
		}
		if i < columns {
			right[i][i] = 1
		}
	}
	for j := range n {
		v, norm := a[j][j:], 0.0
		for _, x := range v {
			norm = math.Hypot(norm, x)
		}
		if norm == 0 {
			return nil
		}
		if v[0] > 0 {
			norm = -norm
		}
		v[0] -= norm // v is the vector of the reflection, below the diagonal of R
		half := -norm * v[0]
		for _, all := range [][][]float64{a[j+1:], right} {
			for _, x := range all {
				reflect(x[j:], v, half)
			}
		}
		v[0] = norm
	}
	out := zeros(n, columns)
	for c, x := range right {
		for j := n - 1; j >= 0; j-- {
			x[j] /= a[j][j]
			for i := range j {
				x[i] -= a[j][i] * x[j]
			}
			out[j][c] = x[j]
		}
	}
	return out
}

// reflect subtracts v·(vᵀx)/half from x, where half is half of vᵀv.
func reflect(x, v []float64, half float64) {
	dot := 0.0
	for i, y := range v {
		dot += y * x[i]
	}
	if dot == 0 {
		return
	}
	dot /= half
	for i, y := range v {
		x[i] -= dot * y
	}
}

func zeros(rows, columns int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, columns)
	}
	return out
}
