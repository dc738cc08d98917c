package expsum

import (
	"math/big"
	"strings"

	"dither/internal/exact"
)

// String returns x as text that Parse can read: "1/3", "0.25", "exp(1)/(200 + exp(1))".
func (x *Number) String() string {
	if x.den.isOne() {
		return x.num.String()
	}
	num := x.num.String()
	if len(x.num) > 1 {
		num = "(" + num + ")"
	}
	return num + "/(" + x.den.String() + ")"
}

func (s sum) String() string {
	if len(s) == 0 {
		return "0"
	}
	var b strings.Builder
	for i, t := range s {
		c := t.coefficient
		switch {
		case i == 0 && c.Sign() < 0:
			b.WriteString("-")
		case i > 0 && c.Sign() < 0:
			b.WriteString(" - ")
		case i > 0:
			b.WriteString(" + ")
		}
		b.WriteString(term{new(big.Rat).Abs(c), t.exponent}.String())
	}
	return b.String()
}

// String returns a term with a coefficient above 0 as text.
func (t term) String() string {
	power := "exp(" + ratText(t.exponent) + ")"
	switch {
	case t.exponent.Sign() == 0:
		return ratText(t.coefficient)
	case t.coefficient.Cmp(big.NewRat(1, 1)) == 0:
		return power
	}
	return ratText(t.coefficient) + "*" + power
}

// ratText returns a rational as text: as a decimal if that is short, such as 0.25, and otherwise as a fraction.
func ratText(r *big.Rat) string {
	if text := exact.FormatRat(r); len(text) <= len(r.RatString()) || len(text) <= shortDecimal {
		return text
	}
	return r.RatString()
}

const shortDecimal = 20
