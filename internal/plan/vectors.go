package plan

import (
	"fmt"
	"math/big"
	"strings"

	"dither/internal/bounded"
	"dither/privacy"
)

// VectorSum is a sum of vectors with its share of the price, its sensitivity and its noise.
type VectorSum struct {
	bounded.VectorSum

	L1 *big.Int // the L1 sensitivity over all cells and entries, in grid units
	// The square of the L2 sensitivity. For a Symmetric sum under Gaussian noise, entries off the diagonal count
	// twice.
	L2Squared *big.Int
	Loss      privacy.Loss // the sum's share of the price
	Noise     Noise
	// The noise's parameter, in grid units. For a Symmetric sum under Gaussian noise, it is the variance on the
	// diagonal, and half of it is the variance off the diagonal.
	Parameter *big.Rat
}

// describeVectors writes everything that the release of the sums depends on, except the statement's rows.
func describeVectors(v *bounded.Vectors, w *strings.Builder, coordinates []*bounded.Measure, sums []*VectorSum) {
	for _, m := range coordinates {
		fmt.Fprintf(w, "coordinate %s\n", m)
	}
	for _, k := range v.Blocks {
		fmt.Fprintf(w, "block %s\n", k)
	}
	for _, c := range v.Centres {
		fmt.Fprintf(w, "centre %s\n", strings.Trim(fmt.Sprint(c), "[]"))
	}
	for _, s := range sums {
		fmt.Fprintf(
			w,
			"sum %s %d %d l1=%s l2squared=%s %s %s %s\n",
			s.Kind,
			s.I,
			s.J,
			s.L1,
			s.L2Squared,
			s.Noise,
			s.Parameter.RatString(),
			s.Loss,
		)
	}
}
