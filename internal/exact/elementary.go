package exact

import (
	"math/big"
	"sync"
)

// Sqrt returns √x. It panics if x contains a negative number.
func (x Interval) Sqrt() Interval {
	if x.lo.Sign() < 0 {
		panic("exact: Sqrt of an interval that reaches below 0")
	}
	return Interval{sqrtToward(x.lo, big.ToNegativeInf, x.bits()), sqrtToward(x.hi, big.ToPositiveInf, x.bits())}
}

// sqrtToward returns a bound on √x from the side that mode names. It assumes only that big.Float.Sqrt is near √x.
// It adds or subtracts a relative 2^(4−bits) until the square, which is exact with 2·bits bits, is on the right
// side.
func sqrtToward(x *big.Float, mode big.RoundingMode, bits uint) *big.Float {
	z := toward(mode, bits).Sqrt(x)
	square := func() *big.Float { return new(big.Float).SetPrec(2*bits).Mul(z, z) }
	step := func() *big.Float { return new(big.Float).SetMantExp(z, 4-int(bits)) }
	for mode == big.ToNegativeInf && square().Cmp(x) > 0 {
		z.Sub(z, step())
	}
	for mode == big.ToPositiveInf && square().Cmp(x) < 0 {
		z.Add(z, step())
	}
	return z
}

// Pi returns π, with a precision of bits bits or a few fewer. It computes 20·arctan(1/7) + 8·arctan(3/79) [Euler
// 1779], each by Euler's series
//
//	arctan x = x/(1+x²) · Σ_k Π_{j≤k} 2j/(2j+1) · yᵏ,  y = x²/(1+x²),
//
// whose terms are positive. Here y is 1/50 and 9/6250, so the sum of all terms after any term is less than half of
// that term.
func Pi(bits uint) Interval {
	if known, ok := pis.Load(bits); ok {
		return known.(Interval)
	}
	side := func(mode big.RoundingMode) *big.Float {
		sum := toward(mode, bits)
		for _, part := range []struct{ times, over, y, of int64 }{{20 * 7, 50, 1, 50}, {8 * 237, 6250, 9, 6250}} {
			// x/(1+x²) is 7/50 for x = 1/7, and 237/6250 for x = 3/79
			term := toward(mode, bits).Quo(new(big.Float).SetInt64(part.times), new(big.Float).SetInt64(part.over))
			for k := int64(1); term.MantExp(nil) > -int(bits); k++ {
				sum.Add(sum, term)
				term.Mul(term, new(big.Float).SetInt64(2*k*part.y))
				term.Quo(term, new(big.Float).SetInt64((2*k+1)*part.of))
			}
			if mode == big.ToPositiveInf {
				sum.Add(sum, double(term))
			}
		}
		return sum
	}
	found := Interval{side(big.ToNegativeInf), side(big.ToPositiveInf)}
	pis.Store(bits, found)
	return found
}

var pis sync.Map // from precision to π, because the same few precisions recur

// Log returns ln x for x > 0. It panics if x contains 0 or a negative number.
func (x Interval) Log() Interval {
	if x.lo.Sign() <= 0 {
		panic("exact: Log of an interval that reaches 0")
	}
	bits := x.bits()
	return Interval{logToward(x.lo, big.ToNegativeInf, bits), logToward(x.hi, big.ToPositiveInf, bits)}
}

// logToward returns a bound on ln x from the side that mode names. For x < 1 it negates a bound on ln 1/x from the
// other side.
func logToward(x *big.Float, mode big.RoundingMode, bits uint) *big.Float {
	one, other := big.NewFloat(1), big.ToNegativeInf
	if mode == other {
		other = big.ToPositiveInf
	}
	if x.Cmp(one) >= 0 {
		return log1p(toward(mode, bits+8).Sub(x, one), mode, bits)
	}
	inverse := toward(other, bits+8).Quo(one, x)
	return toward(mode, bits).Neg(log1p(inverse.Sub(inverse, one), other, bits))
}

// Expm1 returns eˣ − 1 for x from 0 to 2²⁰. It keeps relative precision for small x. It panics elsewhere.
func (x Interval) Expm1() Interval {
	if x.lo.Sign() < 0 {
		panic("exact: Expm1 of an interval that reaches below 0")
	}
	bits := x.bits()
	side := func(x *big.Float, mode big.RoundingMode) *big.Float {
		one := big.NewFloat(1)
		if x.Cmp(big.NewFloat(0.5)) > 0 {
			e := expToward(x, mode, bits+2)
			return toward(mode, bits).Sub(e, one)
		}
		// Taylor's series: all terms are positive, and each is less than half of the one before.
		sum, term := toward(mode, bits), toward(mode, bits).Set(x)
		for k := int64(2); term.Sign() > 0 && (k == 2 || term.MantExp(nil) > sum.MantExp(nil)-int(bits)-2); k++ {
			sum.Add(sum, term)
			term.Quo(term.Mul(term, x), new(big.Float).SetInt64(k))
		}
		if mode == big.ToPositiveInf {
			sum.Add(sum, double(term))
		}
		return sum
	}
	return Interval{side(x.lo, big.ToNegativeInf), side(x.hi, big.ToPositiveInf)}
}
