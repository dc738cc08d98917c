// Package simplex projects numbers onto the non-negative numbers with a given sum.
package simplex

import (
	"cmp"
	"slices"
)

// Level returns the number τ for which the sum of max(0, v − τ) over the values v is the total, up to the rounding of
// floats [Held, Wolfe & Crowder 1974]. There is at least one value. The values and the total are finite. If the total
// is not above 0, Level returns the largest value. If the total is too small to be subtracted from the largest value in
// floats, it also returns the largest value.
func Level(values []float64, total float64) float64 {
	falling := slices.Clone(values)
	slices.SortFunc(falling, func(a, b float64) int { return cmp.Compare(b, a) })
	level := falling[0]
	if total <= 0 {
		return level
	}
	sum := 0.0
	for i, v := range falling {
		sum += v
		if next := (sum - total) / float64(i+1); v > next {
			level = next
		}
	}
	return level
}

// Project returns the point nearest to the values among those with non-negative coordinates whose sum is the total:
// max(0, v − τ), with the τ of [Level].
func Project(values []float64, total float64) []float64 {
	level := Level(values, total)
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = max(0, v-level)
	}
	return out
}
