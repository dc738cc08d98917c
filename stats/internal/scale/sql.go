package scale

import (
	"math/big"

	"dither/internal/exact"
)

// Affine returns the SQL expression of (x − centre)/half.
func Affine(x string, centre, half *big.Rat) string {
	switch centre.Sign() {
	case 1:
		x = "(" + x + " - " + Decimal(centre) + ")"
	case -1:
		x = "(" + x + " + " + Decimal(new(big.Rat).Neg(centre)) + ")"
	}
	if half.Cmp(big.NewRat(1, 1)) != 0 {
		x += " / " + Decimal(half)
		if half.IsInt() && half.Num().IsInt64() { // the quotient of two integers would drop its fraction
			x += ".0"
		}
	}
	return x
}

// Decimal writes a rational as an SQL number. A whole number that does not fit in 64 bits gets a decimal point.
func Decimal(r *big.Rat) string {
	text := exact.FormatRat(r)
	if r.IsInt() && !r.Num().IsInt64() {
		text += ".0"
	}
	return text
}

// RootAbove returns √r rounded up to six decimal places.
func RootAbove(r *big.Rat) *big.Rat {
	const places = 1000000
	scaled := new(big.Rat).Mul(r, big.NewRat(places*places, 1))
	n := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	n.Sqrt(n)
	for new(big.Rat).SetInt(new(big.Int).Mul(n, n)).Cmp(scaled) < 0 {
		n.Add(n, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(n, big.NewInt(places))
}
