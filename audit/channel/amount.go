package channel

import (
	"dither/internal/exact"
	"dither/internal/expsum"
)

// amount is a number with an interval that contains it. If the exact number would have too many terms, only the
// interval is kept.
type amount struct {
	number *expsum.Number // nil if it would have too many terms
	within exact.Interval
}

// mostTerms is the largest product of the numbers of terms of two numbers with different denominators that are
// combined exactly. A larger result would be too long to show.
const mostTerms = 1 << 10

// amountDigits is the precision of the interval of an [amount], in binary digits.
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

// over returns a/b, where b and its interval are above 0.
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

// bounds returns the nearest floats below and above the number, or around its interval if the number is nil.
func (a amount) bounds(w *expsum.Work) (Bounds, error) {
	if a.number == nil {
		lower, upper := a.within.Floats()
		return Bounds{Lower: lower, Upper: upper}, nil
	}
	lower, upper, err := w.Floats(a.number)
	return Bounds{lower, upper, short(a.number)}, err
}

// short returns the text of a number, or "" if the text is longer than shown.
func short(x *expsum.Number) string {
	if x.Terms() > shown || x.Words() > shown {
		return ""
	}
	if text := x.String(); len(text) <= shown {
		return text
	}
	return ""
}
