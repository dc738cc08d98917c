package marginal

import (
	"fmt"
	"math"

	"dither/internal/rounding"
)

// Whole returns a marginal as non-negative whole numbers, with the cells of [Estimate.Marginal].
//
// It is post-processing and costs nothing. It rounds the total first. A marginal of one attribute divides the total. A
// marginal of more attributes is divided by its last two, in each cell of the others: the numbers near the estimates
// whose sums are those of the marginals without the one or the other ([rounding.Table]). So all marginals have the same
// total, and each agrees exactly with the marginals without its last attribute, and without its last but one, in the order
// of the domain. It follows that marginals of up to two attributes agree on all attributes that they share. Larger ones
// agree on each single attribute, and on their common first attributes with one more. They may differ on others:
// whole numbers of 0 or more that agree on all pairs of three attributes need not exist.
//
// The numbers are biased where estimates are near 0 or negative, and they have no variance. The variances of
// [Estimate.Marginal] are those of the unbiased estimates. An interval of two standard deviations around a whole number,
// widened by one half per attribute, is conservative in simulations, but is not proved.
func (e *Estimate) Whole(attributes ...string) ([]int64, error) {
	members, err := e.plan.spanned(attributes)
	if err != nil {
		return nil, err
	}
	return (&rounder{e, map[subset][]int64{}}).cells(members)
}

// rounder rounds the marginals of an estimate.
type rounder struct {
	*Estimate
	known map[subset][]int64
}

// cells returns the whole numbers of a marginal. Its attributes are in the order of the domain.
func (r *rounder) cells(members []int) ([]int64, error) {
	if out, known := r.known[of(members...)]; known {
		return out, nil
	}
	out, err := r.round(members)
	r.known[of(members...)] = out
	return out, err
}

func (r *rounder) round(members []int) ([]int64, error) {
	var names []string
	for _, m := range members {
		names = append(names, r.plan.Domain().attributes[m].Name)
	}
	t, err := r.Marginal(names...)
	if err != nil {
		return nil, err
	}
	n := len(members)
	if n == 0 {
		total := math.Round(max(0, t.Values[0]))
		if !(total <= rounding.MaxSum) {
			return nil, fmt.Errorf("marginal: the total %v is too large for whole numbers: use the estimates", total)
		}
		return []int64{int64(total)}, nil
	}
	rows, err := r.cells(members[:n-1])
	if err != nil {
		return nil, err
	}
	if n == 1 {
		return rounding.Divide(rows[0], t.Values, false), nil
	}
	columns, err := r.cells(append(append([]int(nil), members[:n-2]...), members[n-1]))
	if err != nil {
		return nil, err
	}
	out := make([]int64, 0, len(t.Values))
	height, width := t.Sizes[n-2], t.Sizes[n-1]
	for i := range len(t.Values) / (height * width) {
		block := rounding.Table{
			Rows: rows[i*height : (i+1)*height], Columns: columns[i*width : (i+1)*width],
			Values: t.Values[i*height*width : (i+1)*height*width],
		}
		out = append(out, block.Solve()...)
	}
	return out, nil
}
