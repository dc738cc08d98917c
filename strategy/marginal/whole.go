package marginal

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"dither/internal/simplex"
)

// maxCount is the largest total of a table of whole numbers: floating-point numbers hold all integers up to it.
const maxCount = 1 << 53

// Whole returns a marginal as non-negative whole numbers, with the cells of [Estimate.Marginal].
//
// It is post-processing and costs nothing. It rounds the total first, and then divides it from the top down, one
// attribute of the domain after the other: the cells below each parent become the non-negative numbers nearest to the
// estimates that add up to the parent, rounded by largest remainder. So all marginals have the same total, and marginals
// with the same first attributes agree on these exactly. Marginals that have other attributes in common may differ.
//
// The numbers are biased where estimates are near 0 or negative, and they have no variance. The variances of
// [Estimate.Marginal] are those of the unbiased estimates. An interval of two standard deviations around a whole number,
// widened by one half per attribute, is conservative in simulations, but is not proved.
func (e *Estimate) Whole(attributes ...string) ([]int64, error) {
	members, err := e.plan.spanned(attributes)
	if err != nil {
		return nil, err
	}
	var names []string
	parents := []int64{0}
	for level := 0; level <= len(members); level++ {
		if level > 0 {
			names = append(names, e.plan.Domain().attributes[members[level-1]].Name)
		}
		t, err := e.Marginal(names...)
		if err != nil {
			return nil, err
		}
		if level == 0 {
			total := math.Round(max(0, t.Values[0]))
			if !(total <= maxCount) {
				return nil, fmt.Errorf("marginal: the total %v is too large for whole numbers: use the estimates", total)
			}
			parents[0] = int64(total)
			continue
		}
		cells := make([]int64, 0, len(t.Values))
		width := len(t.Values) / len(parents)
		for i, parent := range parents {
			cells = append(cells, divide(parent, t.Values[i*width:(i+1)*width])...)
		}
		parents = cells
	}
	return parents, nil
}

// divide returns non-negative whole numbers near the values that add up to the total.
func divide(total int64, values []float64) []int64 {
	shares := simplex.Project(values, float64(total))
	out, rest := make([]int64, len(shares)), total
	order := make([]int, len(shares))
	for i, s := range shares {
		order[i] = i
		out[i] = min(int64(s), rest)
		rest -= out[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(shares[b]-math.Floor(shares[b]), shares[a]-math.Floor(shares[a]))
	})
	for i := 0; rest > 0; i = (i + 1) % len(order) {
		out[order[i]]++
		rest--
	}
	return out
}
