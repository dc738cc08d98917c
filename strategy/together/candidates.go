package together

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// mostCells is the largest number of cells that are measured one by one.
const mostCells = 1 << 10

func numbers(in [][]bool) [][]int64 {
	out := make([][]int64, len(in))
	for i, row := range in {
		out[i] = make([]int64, len(row))
		for j, is := range row {
			if is {
				out[i][j] = 1
			}
		}
	}
	return out
}

func overlap(a, b []bool) bool {
	for i := range a {
		if a[i] && b[i] {
			return true
		}
	}
	return false
}

// hadamard returns the first m columns of the Hadamard matrix of the least power of two that is at least m.
func hadamard(m int) [][]int64 {
	n := 1
	for n < m {
		n *= 2
	}
	out := make([][]int64, n)
	for i := range out {
		out[i] = make([]int64, m)
		for j := range out[i] {
			out[i][j] = 1
			for both := i & j; both != 0; both &= both - 1 {
				out[i][j] = -out[i][j]
			}
		}
	}
	return out
}

// of returns the candidate that measures integer combinations of the counts: one for each row of over.
func of(name string, over, counts [][]int64, pure bool) candidate {
	m, n := len(counts), len(counts[0])
	c := candidate{name: name}
	b := mat.NewDense(len(over), m, nil)
	for i, row := range over {
		query := make([]int64, n)
		for j, v := range row {
			b.Set(i, j, float64(v))
			for k, in := range counts[j] {
				query[k] += v * in
			}
		}
		c.queries = append(c.queries, query)
	}
	var gram mat.Dense
	gram.Mul(b.T(), b)
	var inverse mat.Dense
	if err := inverse.Inverse(&gram); err != nil {
		c.total = math.Inf(1)
		return c
	}
	c.recovers = new(mat.Dense)
	c.recovers.Mul(&inverse, b.T())
	c.total = sumOfSquares(c.recovers) * sensitivity(c.queries, pure)
	return c
}

// cells returns the candidate that measures each cell that is in some count, and adds up the cells of each count.
func cells(counts [][]int64, pure bool) candidate {
	c := candidate{name: "disjoint cells"}
	var used []int
	for k := range counts[0] {
		if slices.ContainsFunc(counts, func(row []int64) bool { return row[k] != 0 }) {
			used = append(used, k)
		}
	}
	c.recovers = mat.NewDense(len(counts), max(len(used), 1), nil)
	for i, k := range used {
		query := make([]int64, len(counts[0]))
		query[k] = 1
		c.queries = append(c.queries, query)
		for j := range counts {
			c.recovers.Set(j, i, float64(counts[j][k]))
		}
	}
	c.total = sumOfSquares(c.recovers) * sensitivity(c.queries, pure)
	if len(used) == 0 {
		c.total = math.Inf(1)
	}
	return c
}

func sumOfSquares(m *mat.Dense) float64 {
	f := mat.Norm(m, 2) // the Frobenius norm
	return f * f
}

// sensitivity returns the square of the largest norm of a column.
func sensitivity(queries [][]int64, pure bool) float64 {
	most := 0.0
	for k := range queries[0] {
		sum := 0.0
		for _, row := range queries {
			if v := math.Abs(float64(row[k])); pure {
				sum += v
			} else {
				sum += v * v
			}
		}
		if pure {
			sum *= sum
		}
		most = max(most, sum)
	}
	return most
}
