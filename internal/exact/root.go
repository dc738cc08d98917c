package exact

import "math/big"

// Sqrt is √x. It panics where x may be negative.
func (x Interval) Sqrt() Interval {
	if x.lo.Sign() < 0 {
		panic("exact: Sqrt of an interval that reaches below 0")
	}
	return Interval{sqrtToward(x.lo, big.ToNegativeInf, x.bits()), sqrtToward(x.hi, big.ToPositiveInf, x.bits())}
}

// sqrtToward bounds √x from one side. What big.Float.Sqrt gives is near √x and no more is asked of it: a relative 2^(4−bits)
// is added or taken off, unless the square, which twice the bits hold exactly, is on the right side already.
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

// Pi is π, to so many bits or a few fewer: by Euler's series π/2 = Σ_k k!/(2k+1)!! = 1 + 1/3 + (1·2)/(3·5) + …, whose terms are
// positive and each less than half of the one before, so that all after one come to less than it.
func Pi(bits uint) Interval {
	side := func(mode big.RoundingMode) *big.Float {
		sum, term := toward(mode, bits), toward(mode, bits).SetInt64(1)
		for k := int64(1); term.MantExp(nil) > -int(bits); k++ {
			sum.Add(sum, term)
			term.Quo(term.Mul(term, new(big.Float).SetInt64(k)), new(big.Float).SetInt64(2*k+1))
		}
		if mode == big.ToPositiveInf {
			sum.Add(sum, double(term))
		}
		return double(sum)
	}
	return Interval{side(big.ToNegativeInf), side(big.ToPositiveInf)}
}
