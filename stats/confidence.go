package stats

import (
	"math/big"

	"dither/internal/exact"
)

// confidenceOf reads a confidence, of which "" is 0.95, and gives 1 less it. The text becomes the shortest of its number.
func confidenceOf(text *string) (alpha float64, err error) {
	if *text == "" {
		*text = "0.95"
	}
	r, err := exact.ParseDecimal(*text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return 0, misuse("such as 0.95", "a confidence is a decimal between 0 and 1, not %q", *text)
	}
	*text = exact.FormatRat(r)
	alpha, _ = r.Sub(big.NewRat(1, 1), r).Float64()
	return alpha, nil
}
