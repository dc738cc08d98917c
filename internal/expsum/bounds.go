package expsum

import (
	"errors"
	"math"
	"math/big"

	"dither/internal/exact"
)

// ErrLog reports a logarithm of a number that is not above 0.
var ErrLog = errors.New("logarithm of a number that is not above 0")

// firstBits is the precision, in binary digits, of the first attempt at bounds.
const firstBits = 80

// guardBits are the digits beyond those that are wanted: what sums without cancellation lose.
const guardBits = 16

// Interval contains x, and is narrower than 2^−digits·|x|, however many digits cancel; or the error is ErrSize.
func (w *Work) Interval(x *Number, digits uint) (exact.Interval, error) {
	for bits := digits + guardBits; ; bits *= 2 {
		y, err := w.around(x, bits)
		if err != nil || narrow(y, digits) {
			return y, err
		}
	}
}

// narrow reports an interval of that many digits. It ends every search: x is 0 only if it has no terms.
func narrow(x exact.Interval, digits uint) bool {
	lo, hi, width := x.Lo(), x.Hi(), x.Width()
	if width.Sign() == 0 {
		return true
	}
	return lo.Sign()*hi.Sign() > 0 && width.MantExp(nil) <= min(lo.MantExp(nil), hi.MantExp(nil))-1-int(digits)
}

// around holds x. It is computed with so many binary digits, of which cancellation may take any number.
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

// Floats are a float not above x and one not below it: x itself if it is a float, otherwise the two next to it. Either
// may be infinite. If that takes too long, the error is ErrSize.
func (w *Work) Floats(x *Number) (lower, upper float64, err error) {
	if r, ok := x.Rat(); ok {
		return exact.FloatDown(r), exact.FloatUp(r), nil
	}
	return narrowed(func(bits uint) (exact.Interval, error) { return w.around(x, bits) })
}

// narrowed asks for an interval at more and more digits, until there is no float within. With an error come the last floats that are bounds, or 0 and 0.
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

// Log are the floats next to ln x, as those of Floats; ErrLog where x ≤ 0; or ErrSize.
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
	// ln x = ln(1 + (x − 1)) keeps the digits of an x near 1.
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
		return -upper + 0, -lower + 0, err // + 0: no −0
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

// LogText writes ln x algebraically if x is a single positive term a·e^r: "0", "1/2", "ln 3", "1/2 + ln 3", "1 - ln
// 2". Otherwise ok is false.
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
		if r.Sign() == 0 || a.Num().Cmp(big.NewInt(1)) == 0 { // -ln 2 says as much as ln(1/2), and more plainly
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
