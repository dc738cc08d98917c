package exact

import (
	"errors"
	"math/big"
)

// ErrOverflow reports an integer result that 64 signed bits cannot hold.
var ErrOverflow = errors.New("integer overflow")

// Sub returns a − b, or ErrOverflow.
func Sub(a, b int64) (int64, error) {
	d := a - b // wraps
	if (a^b)&(a^d) < 0 {
		return 0, ErrOverflow // the operands differ in sign, and the difference left a's
	}
	return d, nil
}

// Larger is the larger of two integers, one of these themselves.
func Larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

// Smaller is the smaller of two integers, one of these themselves.
func Smaller(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return b
	}
	return a
}
