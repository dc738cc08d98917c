// Package rounding rounds numbers to integers with given sums.
package rounding

import (
	"cmp"
	"math"
	"slices"

	"dither/internal/simplex"
)

// Divide returns integers near x that add up to the total. Unless signed is set, they are not negative, and neither may
// the total be. It then first finds the nearest non-negative numbers with that total, in the sum of squares. Then it rounds all down except as many as the total
// requires: those with the largest remainders.
func Divide(total int64, x []float64, signed bool) []int64 {
	shift := 0.0
	if signed {
		for _, v := range x {
			shift += v / float64(len(x))
		}
		shift -= float64(total) / float64(len(x))
	} else {
		shift = simplex.Level(x, float64(total))
	}
	out, order := make([]int64, len(x)), make([]int, len(x))
	rest := make([]float64, len(x))
	left := total
	for i, v := range x {
		v -= shift
		if !signed {
			v = math.Max(0, v)
		}
		out[i], order[i] = int64(math.Floor(v)), i
		rest[i] = v - math.Floor(v)
		left -= out[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for i := 0; left > 0; i++ {
		out[order[i%len(order)]]++
		left--
	}
	for i := len(order) - 1; left < 0; i-- { // the rounding of floats can make the sum too large by one
		if at := order[(i%len(order)+len(order))%len(order)]; signed || out[at] > 0 {
			out[at]--
			left++
		}
	}
	return out
}
