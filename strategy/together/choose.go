package together

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// scale is the factor by which a strategy of real numbers is multiplied before it is rounded to integers.
const scale = 1 << 12

// candidate is a way to measure counts: a matrix of integers over the cells of the joint histogram, by row, and a matrix
// that computes the counts from its answers.
type candidate struct {
	name     string
	queries  [][]int64
	recovers *mat.Dense // one row for each count, one column for each query
	// the sum of the variances of the counts, for noise of variance 1 on each answer, times the squared sensitivity
	total float64
}

// choose returns the candidates, the best one first. in states for each count and cell whether the count has the cell's
// rows. Under a price in ε, pure is true: the noise follows the L1 norms of columns. Otherwise it follows the L2 norms.
// The choice depends on in and pure alone.
func choose(in [][]bool, pure bool) []candidate {
	counts, m := numbers(in), len(in)
	unit := func(i int) []int64 {
		row := make([]int64, m)
		row[i] = 1
		return row
	}
	var each, differences [][]int64
	for i := range m {
		each = append(each, unit(i))
	}
	differences = slices.Clone(each)
	for i := range m {
		for j := range i {
			if overlap(in[i], in[j]) {
				row := unit(i)
				row[j] = -1
				differences = append(differences, row)
			}
		}
	}
	out := []candidate{of("each count", each, counts, pure)}
	add := func(name string, over [][]int64) {
		if c := of(name, over, counts, pure); !math.IsInf(c.total, 0) {
			out = append(out, c)
		}
	}
	if len(differences) > m {
		add("counts and differences", differences)
	}
	if m > 1 {
		add("sums and differences", hadamard(m))
	}
	if len(in[0]) <= mostCells {
		out = append(out, cells(counts, pure))
	}
	if !pure && m > 1 {
		if best := ellipsoid(counts); best != nil {
			add("least variance", best)
		}
	}
	// a later candidate must be better by more than rounding
	slices.SortStableFunc(out, func(a, b candidate) int {
		if math.Abs(a.total-b.total) <= 1e-3*min(a.total, b.total) {
			return 0
		}
		if a.total < b.total {
			return -1
		}
		return 1
	})
	return out
}

// unrepeated returns the counts that differ, and for each count its index among these.
func unrepeated(in [][]bool) (each [][]bool, of []int) {
	for _, row := range in {
		i := slices.IndexFunc(each, func(other []bool) bool { return slices.Equal(row, other) })
		if i < 0 {
			i, each = len(each), append(each, row)
		}
		of = append(of, i)
	}
	return each, of
}

// repeated returns the matrix whose rows are those of m with the given indices.
func repeated(m *mat.Dense, of []int) *mat.Dense {
	_, columns := m.Dims()
	out := mat.NewDense(len(of), columns, nil)
	for i, k := range of {
		out.SetRow(i, m.RawRowView(k))
	}
	return out
}

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

// ellipsoid returns integer combinations of the counts whose noise has nearly the least sum of variances of all
// Gaussian noise. It returns nil if the counts are linearly dependent.
//
// Noise of covariance Σ on the counts has the loss max tᵀΣ⁻¹t/2, over the columns t of counts. The least trace of Σ with
// all tᵀΣ⁻¹t ≤ 1 is the least trace of an ellipsoid around the points t. Its dual is the largest tr(S^½)² over weights w
// of the columns that add up to 1, where S = Σ w·ttᵀ, and Σ is then a multiple of S^½. The weights are found by
// multiplicative updates, until the gap to the dual is below a thousandth.
func ellipsoid(counts [][]int64) [][]int64 {
	m := len(counts)
	points := distinct(counts)
	w := make([]float64, len(points))
	for i := range w {
		w[i] = 1 / float64(len(w))
	}
	inverse := mat.NewSymDense(m, nil) // S^-½
	for range 5000 {
		s := mat.NewSymDense(m, nil)
		for i, t := range points {
			s.SymRankOne(s, w[i], mat.NewVecDense(m, t))
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(s, true) {
			return nil
		}
		values := eigen.Values(nil)
		if values[0] < 1e-12*values[m-1] {
			return nil
		}
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		trace := 0.0
		inverse.Zero()
		for k, v := range values {
			trace += math.Sqrt(v)
			inverse.SymRankOne(inverse, 1/math.Sqrt(v), vectors.ColView(k))
		}
		most := 0.0
		for i, t := range points {
			x := mat.NewVecDense(m, t)
			d := mat.Inner(x, inverse, x) / trace // the average of d over the weights is 1
			most, w[i] = max(most, d), w[i]*d
		}
		if most <= 1+1e-3 {
			break
		}
	}
	// the queries B with BᵀB proportional to S^-½ = Σ⁻¹, up to a factor: the root of the inverse, rounded
	var eigen mat.EigenSym
	if !eigen.Factorize(inverse, true) {
		return nil
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	out := make([][]int64, m)
	for k := range out {
		out[k] = make([]int64, m)
		for j := range m {
			out[k][j] = int64(math.Round(scale * math.Sqrt(values[k]/values[m-1]) * vectors.At(j, k)))
		}
	}
	return out
}

// distinct returns the distinct nonzero columns.
func distinct(counts [][]int64) (out [][]float64) {
	seen := map[string]bool{}
	for k := range counts[0] {
		t, key, zero := make([]float64, len(counts)), make([]byte, len(counts)), true
		for i := range counts {
			t[i], key[i] = float64(counts[i][k]), byte(counts[i][k])
			zero = zero && counts[i][k] == 0
		}
		if !zero && !seen[string(key)] {
			seen[string(key)] = true
			out = append(out, t)
		}
	}
	return out
}
