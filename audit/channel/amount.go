package channel

import (
	"dither/internal/exact"
	"dither/internal/expsum"
)

// amount is a number, and an interval that holds it: where sums have too many denominators in common to be computed with
// exactly, the interval is what is left.
type amount struct {
	number *expsum.Number // nil where it is too large
	within exact.Interval
}

// mostTerms bounds, as a product, the terms of two numbers of different denominators that are computed with: what has more is too long to be shown anyway.
const mostTerms = 1 << 10

// amountBits is the precision of intervals, in binary digits.
const amountBits = 192

func amountOf(x *expsum.Number) amount { return amount{x, x.Interval(amountBits)} }

func (a amount) plus(b amount) amount {
	return amount{both(a, b, (*expsum.Number).Add), a.within.Add(b.within)}
}

func (a amount) less(b amount) amount {
	return amount{both(a, b, (*expsum.Number).Sub), a.within.Sub(b.within)}
}

// over is a/b, b > 0 being a number whose interval is above 0.
func (a amount) over(b amount) amount {
	return amount{both(a, b, (*expsum.Number).Quo), a.within.Quo(b.within)}
}

func both(a, b amount, operation func(x, y *expsum.Number) (*expsum.Number, error)) *expsum.Number {
	if a.number == nil || b.number == nil || !a.number.Alike(b.number) && a.number.Terms()*b.number.Terms() > mostTerms {
		return nil
	}
	x, err := operation(a.number, b.number)
	if err != nil {
		return nil
	}
	return x
}

func (a amount) bounds() Bounds {
	if a.number == nil {
		lower, upper := a.within.Floats()
		return Bounds{Lower: lower, Upper: upper}
	}
	lower, upper := a.number.Floats()
	return Bounds{lower, upper, short(a.number)}
}

// short is the text of a number, if it is short.
func short(x *expsum.Number) string {
	if text := x.String(); len(text) <= shown {
		return text
	}
	return ""
}
