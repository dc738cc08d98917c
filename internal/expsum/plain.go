package expsum

import (
	"math"

	"dither/internal/exact"
)

// The methods of Number do one operation each, with a limit of its own.

// Add is x + y; or ErrSize.
func (x *Number) Add(y *Number) (*Number, error) { return atOnce().Add(x, y) }

// Sub is x − y; or ErrSize.
func (x *Number) Sub(y *Number) (*Number, error) { return atOnce().Sub(x, y) }

// Mul is x · y; or ErrSize.
func (x *Number) Mul(y *Number) (*Number, error) { return atOnce().Mul(x, y) }

// Quo is x / y; ErrZero where y is 0; or ErrSize.
func (x *Number) Quo(y *Number) (*Number, error) { return atOnce().Quo(x, y) }

// Cmp compares two numbers: −1, 0 or 1; or ErrSize.
func (x *Number) Cmp(y *Number) (int, error) { return atOnce().Cmp(x, y) }

// Log is Work.Log.
func (x *Number) Log() (lower, upper float64, err error) { return atOnce().Log(x) }

// Sign is −1, 0 or 1, without a limit: it is for numbers that no stranger wrote.
func (x *Number) Sign() int {
	sign, _ := NewWork(math.MaxInt64).Sign(x) // more than any number takes
	return sign
}

// Floats are those of Work.Floats. Where finding them takes too long they are further apart, but around x all the same.
func (x *Number) Floats() (lower, upper float64) {
	lower, upper, err := atOnce().Floats(x)
	if err != nil && lower == 0 && upper == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	return lower, upper
}

// Interval is that of Work.Interval.
func (x *Number) Interval(digits uint) (exact.Interval, error) { return atOnce().Interval(x, digits) }
