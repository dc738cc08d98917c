package exact

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
)

// ErrOverflow reports an integer result that 64 signed bits cannot hold.
var ErrOverflow = errors.New("integer overflow")

// Add returns a + b, or ErrOverflow.
func Add(a, b int64) (int64, error) {
	s := a + b // wraps
	if (a^s)&(b^s) < 0 {
		return 0, ErrOverflow // the operands agree in sign, and the sum does not
	}
	return s, nil
}

// Sub returns a − b, or ErrOverflow.
func Sub(a, b int64) (int64, error) {
	d := a - b // wraps
	if (a^b)&(a^d) < 0 {
		return 0, ErrOverflow // the operands differ in sign, and the difference left a's
	}
	return d, nil
}

// Neg returns −a, or ErrOverflow for the least integer.
func Neg(a int64) (int64, error) {
	if a == math.MinInt64 {
		return 0, ErrOverflow
	}
	return -a, nil
}

// Mul returns a · b, or ErrOverflow.
func Mul(a, b int64) (int64, error) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	limit := uint64(math.MaxInt64)
	if negative {
		limit = 1 << 63
	}
	if hi != 0 || lo > limit {
		return 0, ErrOverflow
	}
	if negative {
		lo = -lo
	}
	return int64(lo), nil // two's complement: at most 2⁶³ − 1, or the negative of at most 2⁶³
}

// magnitude is |a|, which for the least integer is 2⁶³.
func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
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
