package together

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// candidate is a way to measure counts: a matrix of integers over the cells of the joint histogram, by row, and a
// matrix that computes the counts from its answers.
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
	for i, rows := range in {
		for j, others := range in[:i] {
			if overlap(rows, others) {
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
