package exact

import (
	"math/big"
	"sync"
)

// Sqrt is √x. It panics if x may be negative.
func (x Interval) Sqrt() Interval {
	if x.lo.Sign() < 0 {
		panic("exact: Sqrt of an interval that reaches below 0")
	}
	return Interval{sqrtToward(x.lo, big.ToNegativeInf, x.bits()), sqrtToward(x.hi, big.ToPositiveInf, x.bits())}
}

// sqrtToward bounds √x from one side. It assumes only that big.Float.Sqrt is near √x: it adds or subtracts a
// relative 2^(4−bits), unless the square, which twice the bits hold exactly, is already on the right side.
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

// Pi is π, to bits bits or a few fewer: 20·arctan(1/7) + 8·arctan(3/79) [Euler 1779], each by Euler's series
//
//	arctan x = x/(1+x²) · Σ_k Π_{j≤k} 2j/(2j+1) · yᵏ,  y = x²/(1+x²),
//
// whose terms are positive. Here y is 1/50 and 9/6250, so that all terms after one come to less than half of it.
func Pi(bits uint) Interval {
	if known, ok := pis.Load(bits); ok {
		return known.(Interval)
	}
	side := func(mode big.RoundingMode) *big.Float {
		sum := toward(mode, bits)
		for _, part := range []struct{ times, over, y, of int64 }{{20 * 7, 50, 1, 50}, {8 * 237, 6250, 9, 6250}} {
			// x/(1+x²) is 7/50 and 237/6250
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

var pis sync.Map // precision → π: few precisions are used, repeatedly

// Log is ln x for x > 0. It panics if x may not be positive.
func (x Interval) Log() Interval {
	if x.lo.Sign() <= 0 {
		panic("exact: Log of an interval that reaches 0")
	}
	bits := x.bits()
	return Interval{logToward(x.lo, big.ToNegativeInf, bits), logToward(x.hi, big.ToPositiveInf, bits)}
}

// logToward bounds ln x from one side: below 1 it is less a bound of ln 1/x from the other.
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

// Expm1 is eˣ − 1 for x from 0 to 2²⁰, with its digits where x is small. It panics elsewhere.
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
		// Taylor's series, of positive terms each less than half of the one before.
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
