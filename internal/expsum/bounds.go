package expsum

import (
	"errors"
	"math"
	"math/big"

	"dither/internal/exact"
)

// ErrLog reports a logarithm of a number that is not above 0.
var ErrLog = errors.New("logarithm of a number that is not above 0")

// Interval holds x. It is computed with at least so many binary digits, of which cancellation may take some.
func (x *Number) Interval(bits uint) exact.Interval {
	num := x.num.interval(bits)
	if x.den.isOne() {
		return num
	}
	return num.Quo(x.den.interval(bits))
}

// The precisions, in binary digits, at which bounds are sought: until they are two floats that nothing lies between.
const (
	firstBits = 80
	lastBits  = 1 << 12
)

// Floats are a float not above x and one not below it: x itself where it is a float, and else, as a rule, the two next to it. Either may be infinite.
func (x *Number) Floats() (lower, upper float64) {
	if r, ok := x.Rat(); ok {
		return exact.FloatDown(r), exact.FloatUp(r)
	}
	return narrowed(x.Interval)
}

// Log is a float not above ln x and one not below it, as a rule with nothing between; ErrLog where x ≤ 0; or ErrSize.
func (x *Number) Log() (lower, upper float64, err error) {
	if x.Sign() <= 0 {
		return 0, 0, ErrLog
	}
	if x.den.isOne() && len(x.num) == 1 && x.num[0].coefficient.Cmp(big.NewRat(1, 1)) == 0 {
		return exact.FloatDown(x.num[0].exponent), exact.FloatUp(x.num[0].exponent), nil
	}
	// ln x = ln(1 + (x − 1)) keeps the digits of an x near 1.
	unity := Rat(big.NewRat(1, 1))
	order, err := x.Cmp(unity)
	if err != nil {
		return 0, 0, err
	}
	if order < 0 {
		inverse, err := unity.Quo(x)
		if err != nil {
			return 0, 0, err
		}
		lower, upper, err = inverse.Log()
		return -upper + 0, -lower + 0, err // + 0: no −0
	}
	more, err := x.Sub(unity)
	if err != nil {
		return 0, 0, err
	}
	lower, upper = narrowed(func(bits uint) exact.Interval {
		for ; ; bits *= 2 {
			if y := more.Interval(bits); y.Lo().Sign() >= 0 { // as it is in the end: x ≥ 1, and is x = 1 only if more has no term
				return y.Log1p()
			}
		}
	})
	return lower, upper, nil
}

// narrowed asks for an interval at more and more digits.
func narrowed(at func(bits uint) exact.Interval) (lower, upper float64) {
	for bits := uint(firstBits); ; bits *= 2 {
		lower, upper = at(bits).Floats()
		if upper <= math.Nextafter(lower, math.Inf(1)) || bits >= lastBits {
			return lower, upper
		}
	}
}

// LogText writes ln x in words of algebra where x is a single term a·e^r above 0: "0", "1/2", "ln 3", "1/2 + ln 3", "1 - ln 2". ok is false elsewhere.
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
