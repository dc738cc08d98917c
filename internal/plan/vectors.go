package plan

import (
	"fmt"
	"math/big"
	"strings"

	"dither/internal/bounded"
	"dither/privacy"
)

// VectorSum is a bounded sum with its share of the price, its sensitivity, and the noise that these give.
type VectorSum struct {
	bounded.VectorSum

	L1 *big.Int // the sensitivity over all cells and entries, in grid units
	// the square of the L2 sensitivity; of a Symmetric one under Gaussian noise, entries off the diagonal count
	// twice
	L2Squared *big.Int
	Loss      privacy.Loss // its share of the price
	Noise     Noise
	// of the noise, in grid units; of a Symmetric one under Gaussian noise σ² on the diagonal, and half of that off
	// it
	Parameter *big.Rat
}

// describe writes all that a release of the sums depends on beside the rows that they are of.
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
