package exact

import (
	"errors"
	"math/big"
)

// ErrOverflow reports an integer result that does not fit in an int64.
var ErrOverflow = errors.New("integer overflow")

// Sub returns a − b, or ErrOverflow.
func Sub(a, b int64) (int64, error) {
	d := a - b // wraps around on overflow
	if (a^b)&(a^d) < 0 {
		return 0, ErrOverflow // The operands differ in sign, and the difference does not have a's sign.
	}
	return d, nil
}

// Larger returns the larger of two integers. The result is a or b itself, not a copy.
func Larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

// Smaller returns the smaller of two integers. The result is a or b itself, not a copy.
func Smaller(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return b
	}
	return a
}
