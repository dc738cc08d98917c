package expsum

import (
	"math"

	"dither/internal/exact"
)

// Each method of Number below does one operation with a work limit of its own. See the methods of Work.

// Add returns x + y, or ErrSize.
func (x *Number) Add(y *Number) (*Number, error) { return atOnce().Add(x, y) }

// Sub returns x − y, or ErrSize.
func (x *Number) Sub(y *Number) (*Number, error) { return atOnce().Sub(x, y) }

// Mul returns x · y, or ErrSize.
func (x *Number) Mul(y *Number) (*Number, error) { return atOnce().Mul(x, y) }

// Quo returns x / y. It returns ErrZero if y is 0, or ErrSize.
func (x *Number) Quo(y *Number) (*Number, error) { return atOnce().Quo(x, y) }

// Cmp compares two numbers and returns −1, 0 or 1, or ErrSize.
func (x *Number) Cmp(y *Number) (int, error) { return atOnce().Cmp(x, y) }

// Log returns bounds on ln x: see Work.Log.
func (x *Number) Log() (lower, upper float64, err error) { return atOnce().Log(x) }

// Sign returns the sign of x as −1, 0 or 1. It has no work limit, so x must not come from an untrusted source.
func (x *Number) Sign() int {
	sign, _ := NewWork(math.MaxInt64).Sign(x) // more units than any number needs
	return sign
}

// Floats returns a lower and an upper bound on x: see Work.Floats. If finding adjacent floats takes too long, the
// bounds are wider, but valid.
func (x *Number) Floats() (lower, upper float64) {
	lower, upper, err := atOnce().Floats(x)
	if err != nil && lower == 0 && upper == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	return lower, upper
}

// Interval returns an interval that contains x: see Work.Interval.
func (x *Number) Interval(digits uint) (exact.Interval, error) { return atOnce().Interval(x, digits) }
