package channel

import (
	"dither/internal/exact"
	"dither/internal/expsum"
)

// amount is a number with an interval that contains it. If exact sums would have too many common denominators, only the
// interval remains.
type amount struct {
	number *expsum.Number // nil if it is too large
	within exact.Interval
}

// mostTerms bounds, as a product, the terms of two numbers of different denominators that are computed with: what has
// more is too long to be shown anyway.
const mostTerms = 1 << 10

// amountDigits is how many binary digits of a number an interval tells.
const amountDigits = 176

func amountOf(w *expsum.Work, x *expsum.Number) (amount, error) {
	within, err := w.Interval(x, amountDigits)
	return amount{x, within}, err
}

func (a amount) plus(w *expsum.Work, b amount) amount {
	return amount{both(a, b, w.Add), a.within.Add(b.within)}
}

func (a amount) less(w *expsum.Work, b amount) amount {
	return amount{both(a, b, w.Sub), a.within.Sub(b.within)}
}

// over is a/b, b being above 0, and so its interval.
func (a amount) over(w *expsum.Work, b amount) amount {
	return amount{both(a, b, w.Quo), a.within.Quo(b.within)}
}

func both(a, b amount, operation func(x, y *expsum.Number) (*expsum.Number, error)) *expsum.Number {
	if a.number == nil || b.number == nil || !a.number.Alike(b.number) &&
		a.number.Terms()*b.number.Terms() > mostTerms {
		return nil
	}
	x, err := operation(a.number, b.number)
	if err != nil {
		return nil
	}
	return x
}

// bounds are the floats next to the number; where it is too large, those around its interval.
func (a amount) bounds(w *expsum.Work) (Bounds, error) {
	if a.number == nil {
		lower, upper := a.within.Floats()
		return Bounds{Lower: lower, Upper: upper}, nil
	}
	lower, upper, err := w.Floats(a.number)
	return Bounds{lower, upper, short(a.number)}, err
}

// short is the text of a number, if it is short.
func short(x *expsum.Number) string {
	if x.Terms() > shown || x.Words() > shown {
		return ""
	}
	if text := x.String(); len(text) <= shown {
		return text
	}
	return ""
}
