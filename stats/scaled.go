package stats

import (
	"math/big"

	"dither/internal/exact"
)

// affineSQL is (x − centre)/half.
func affineSQL(x string, centre, half *big.Rat) string {
	switch centre.Sign() {
	case 1:
		x = "(" + x + " - " + sqlRat(centre) + ")"
	case -1:
		x = "(" + x + " + " + sqlRat(new(big.Rat).Neg(centre)) + ")"
	}
	if half.Cmp(big.NewRat(1, 1)) != 0 {
		x += " / " + sqlRat(half)
	}
	return x
}

// sqlRat is a number in a question: a whole one that is beyond 64 bits has a decimal point, as SQL wants it.
func sqlRat(r *big.Rat) string {
	text := exact.FormatRat(r)
	if r.IsInt() && !r.Num().IsInt64() {
		text += ".0"
	}
	return text
}

// rootAbove is a decimal that is at least √r, and above it by less than 1e-6.
func rootAbove(r *big.Rat) *big.Rat {
	const places = 1000000
	scaled := new(big.Rat).Mul(r, big.NewRat(places*places, 1))
	n := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	n.Sqrt(n)
	for new(big.Rat).SetInt(new(big.Int).Mul(n, n)).Cmp(scaled) < 0 {
		n.Add(n, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(n, big.NewInt(places))
}
