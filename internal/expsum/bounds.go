package expsum

import (
	"errors"
	"math"
	"math/big"

	"dither/internal/exact"
)

// ErrLog reports the logarithm of a number that is not above 0.
var ErrLog = errors.New("logarithm of a number that is not above 0")

// firstBits is the precision, in binary digits, of the first attempt at computing bounds.
const firstBits = 80

// guardBits is the number of additional binary digits for the rounding errors of sums without cancellation.
const guardBits = 16

// Interval returns an interval that contains x and is narrower than 2^−digits·|x|, however many digits cancel. If
// that takes too long, it returns ErrSize.
func (w *Work) Interval(x *Number, digits uint) (exact.Interval, error) {
	for bits := digits + guardBits; ; bits *= 2 {
		y, err := w.around(x, bits)
		if err != nil || narrow(y, digits) {
			return y, err
		}
	}
}

// narrow reports whether an interval has a relative width below 2^−digits. Every search for a narrow interval ends,
// because a number with terms is not 0.
func narrow(x exact.Interval, digits uint) bool {
	lo, hi, width := x.Lo(), x.Hi(), x.Width()
	if width.Sign() == 0 {
		return true
	}
	return lo.Sign()*hi.Sign() > 0 && width.MantExp(nil) <= min(lo.MantExp(nil), hi.MantExp(nil))-1-int(digits)
}

// around returns an interval that contains x, computed with the given number of binary digits. Cancellation may
// make it any wider.
func (w *Work) around(x *Number, bits uint) (exact.Interval, error) {
	num, err := x.num.interval(w, bits)
	if err != nil || x.den.isOne() {
		return num, err
	}
	den, err := x.den.interval(w, bits)
	if err != nil {
		return exact.Interval{}, err
	}
	return num.Quo(den), nil
}

// Floats returns a float64 not above x and one not below it. If x is a float64, both are x. Otherwise they are
// adjacent. Either may be infinite. If that takes too long, the error is ErrSize.
func (w *Work) Floats(x *Number) (lower, upper float64, err error) {
	if r, ok := x.Rat(); ok {
		return exact.FloatDown(r), exact.FloatUp(r), nil
	}
	return narrowed(func(bits uint) (exact.Interval, error) { return w.around(x, bits) })
}

// narrowed calls the function at with increasing precision until no float64 lies strictly inside the interval. On
// an error it also returns the last bounds that it found, or 0 and 0 if there are none.
func narrowed(at func(bits uint) (exact.Interval, error)) (lower, upper float64, err error) {
	for bits := uint(firstBits); ; bits *= 2 {
		x, err := at(bits)
		if err != nil {
			return lower, upper, err
		}
		if lower, upper = x.Floats(); upper <= math.Nextafter(lower, math.Inf(1)) {
			return lower, upper, nil
		}
	}
}

// Log returns bounds on ln x, as Floats does. It returns ErrLog if x ≤ 0, and ErrSize if the computation takes too
// long.
func (w *Work) Log(x *Number) (lower, upper float64, err error) {
	switch sign, err := w.Sign(x); {
	case err != nil:
		return 0, 0, err
	case sign <= 0:
		return 0, 0, ErrLog
	}
	unity := Rat(big.NewRat(1, 1))
	if x.den.isOne() && len(x.num) == 1 && x.num[0].coefficient.Cmp(unity.num[0].coefficient) == 0 {
		return exact.FloatDown(x.num[0].exponent), exact.FloatUp(x.num[0].exponent), nil
	}
	// ln x = ln(1 + (x − 1)) keeps the precision if x is near 1.
	order, err := w.Cmp(x, unity)
	if err != nil {
		return 0, 0, err
	}
	if order < 0 {
		inverse, err := w.Quo(unity, x)
		if err != nil {
			return 0, 0, err
		}
		lower, upper, err = w.Log(inverse)
		return -upper + 0, -lower + 0, err // + 0 turns −0 into 0
	}
	more, err := w.Sub(x, unity)
	if err != nil {
		return 0, 0, err
	}
	return narrowed(func(bits uint) (exact.Interval, error) {
		y, err := w.Interval(more, bits-guardBits)
		if err == nil {
			err = w.spend(powerCost(bits))
		}
		if err != nil {
			return exact.Interval{}, err
		}
		return y.Log1p(), nil
	})
}

// LogText returns ln x as an algebraic text if x is a single positive term a·e^r: "0", "1/2", "ln 3", "1/2 + ln 3",
// "1 - ln 2". Otherwise ok is false.
func (x *Number) LogText() (text string, ok bool) {
	if !x.den.isOne() || len(x.num) != 1 || x.num[0].coefficient.Sign() < 0 {
		return "", false
	}
	a, r := x.num[0].coefficient, x.num[0].exponent
	log, sign := "", "+"
	switch a.Cmp(big.NewRat(1, 1)) {
	case 0:
		return ratText(r), true
	case -1:
		if r.Sign() == 0 || a.Num().Cmp(big.NewInt(1)) == 0 { // -ln 2 is plainer than ln(1/2)
			a, sign = new(big.Rat).Inv(a), "-"
		}
	}
	if log = "ln " + a.RatString(); !a.IsInt() {
		log = "ln(" + a.RatString() + ")"
	}
	switch {
	case r.Sign() == 0 && sign == "+":
		return log, true
	case r.Sign() == 0:
		return sign + log, true
	}
	return ratText(r) + " " + sign + " " + log, true
}
