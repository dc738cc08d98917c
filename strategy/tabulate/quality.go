package tabulate

import (
	"cmp"
	"math"
	"slices"
)

// SizeClass summarises the errors of the cells of one table whose values have the same number of digits before the
// decimal point.
type SizeClass struct {
	From, To float64 // From ≤ |value| < To
	Cells    int
	// the root of the mean variance of the least-squares estimates
	Expected float64
	// Expected, times the root of the ratio between the measured numbers' mean squared distances from the fit and its
	// expected value. It estimates the error from the released numbers
	Estimated float64
	Margin    float64 // the mean margin of error
	Relative  float64 // the mean of the margin divided by |value|; +Inf if a value is 0
	Moved     float64 // the root of the mean squared distance between the values and the estimates
}

// Quality summarises the errors of one table by size class, from small values to large ones.
func (r *Result) Quality(i int) (out []SizeClass) {
	t := &r.Tables[i]
	ratio := math.Sqrt(r.ratio(r.Plan.Tables[i].Group))
	for _, c := range t.Cells {
		v, _ := c.Value.Float64()
		v = math.Abs(v)
		from, to := 0.0, 10.0
		for v >= to {
			from, to = to, 10*to
		}
		at := slices.IndexFunc(out, func(s SizeClass) bool { return s.From == from })
		if at < 0 {
			out, at = append(out, SizeClass{From: from, To: to}), len(out)
		}
		s := &out[at]
		s.Cells++
		s.Expected += c.StdDev * c.StdDev
		s.Margin += c.Margin
		s.Relative += c.Margin / v
		s.Moved += (c.Estimate - float64From(c)) * (c.Estimate - float64From(c))
	}
	for i := range out {
		s := &out[i]
		n := float64(s.Cells)
		s.Expected, s.Margin, s.Relative, s.Moved = math.Sqrt(s.Expected/n), s.Margin/n, s.Relative/n, math.Sqrt(s.Moved/n)
		s.Estimated = s.Expected * ratio
	}
	slices.SortFunc(out, func(a, b SizeClass) int { return cmp.Compare(a.From, b.From) })
	return out
}

func float64From(c Cell) float64 {
	v, _ := c.Value.Float64()
	return v
}

// ratio returns the mean of the residual ratios of a group's measured parts.
func (r *Result) ratio(group int) float64 {
	sum := 0.0
	for _, x := range r.Residuals[group] {
		sum += x / float64(len(r.Residuals[group]))
	}
	return sum
}

// Worst returns the indices of the cells of a table with the largest margins of error relative to their values, among
// cells that are not marked and whose values are not 0.
func (r *Result) Worst(i, most int) []int {
	t := &r.Tables[i]
	relative := func(c int) float64 { return t.Cells[c].Margin / math.Abs(float64From(t.Cells[c])) }
	var out []int
	for c := range t.Cells {
		if !t.Cells[c].Marked && t.Cells[c].Value.Sign() != 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(relative(b), relative(a)) })
	return out[:min(len(out), most)]
}

// Marked returns the number of marked cells of a table.
func (t *TableResult) Marked() (n int) {
	for _, c := range t.Cells {
		if c.Marked {
			n++
		}
	}
	return n
}
