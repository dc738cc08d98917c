package request

import (
	"math/big"

	"dither/internal/exact"
)

// Confidence parses a confidence level and returns α = 1 − confidence. An empty text means 0.95. Confidence
// replaces the text by the shortest form of the number.
func Confidence(text *string) (alpha float64, err error) {
	if *text == "" {
		*text = "0.95"
	}
	r, err := exact.ParseDecimal(*text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return 0, Misuse("such as 0.95", "the confidence must be a decimal between 0 and 1, not %q", *text)
	}
	*text = exact.FormatRat(r)
	alpha, _ = r.Sub(big.NewRat(1, 1), r).Float64()
	return alpha, nil
}
