package exact

import "math/big"

// Log1p returns ln(1 + x) for x ≥ 0. It panics if x contains a negative number.
func (x Interval) Log1p() Interval {
	if x.lo.Sign() < 0 {
		panic("exact: Log1p of an interval that reaches below 0")
	}
	bits := x.bits()
	return Interval{log1p(x.lo, big.ToNegativeInf, bits), log1p(x.hi, big.ToPositiveInf, bits)}
}

// log1p returns a bound on ln(1+x) for x ≥ 0, from the side that mode names. With 1 + x = m·2ᵉ, 1 ≤ m < 2, the
// value is e·ln 2 + 2·artanh((m−1)/(m+1)). For x < 1 the argument of artanh is x/(2+x), which keeps the precision
// of small results. All terms are positive and increase in x, except the denominators, which are rounded to the
// other side.
func log1p(x *big.Float, mode big.RoundingMode, bits uint) *big.Float {
	other := big.ToNegativeInf
	if mode == other {
		other = big.ToPositiveInf
	}
	one, two := big.NewFloat(1), big.NewFloat(2)
	if x.Cmp(one) < 0 {
		t := toward(mode, bits).Quo(x, toward(other, bits).Add(x, two))
		return double(artanh(t, mode, bits))
	}
	m := toward(mode, bits).Add(x, one)
	exponent := m.MantExp(m) - 1
	m.SetMantExp(m, 1)
	t := toward(mode, bits).Sub(m, one)
	t.Quo(t, toward(other, bits).Add(m, one))
	ln2 := double(artanh(toward(mode, bits).Quo(one, big.NewFloat(3)), mode, bits)) // ln 2 = 2·artanh(1/3)
	z := toward(mode, bits).Mul(ln2, new(big.Float).SetInt64(int64(exponent)))
	return z.Add(z, double(artanh(t, mode, bits)))
}

func double(x *big.Float) *big.Float { return x.SetMantExp(x, 1) }

// artanh returns a bound on Σ t²ᵏ⁺¹/(2k+1) for 0 ≤ t < 0.4, from the side that mode names. Every term is positive,
// so a partial sum is a lower bound. The terms from a power p = t²ᵏ⁺¹ on sum to at most p/(1−t²) < 2p, which the
// upper bound adds.
func artanh(t *big.Float, mode big.RoundingMode, bits uint) *big.Float {
	sum, power, square := toward(mode, bits), toward(mode, bits).Set(t), toward(mode, bits).Mul(t, t)
	for k := int64(1); power.Sign() > 0 && (k == 1 || power.MantExp(nil) > sum.MantExp(nil)-int(bits)-2); k += 2 {
		sum.Add(sum, toward(mode, bits).Quo(power, new(big.Float).SetInt64(k)))
		power.Mul(power, square)
	}
	if mode == big.ToPositiveInf {
		sum.Add(sum, double(power))
	}
	return sum
}

// maxExponent is the largest magnitude of Exp's argument.
const maxExponent = 1 << 20

// Exp returns eˣ for |x| ≤ 2²⁰. It panics for larger |x|.
func (x Interval) Exp() Interval {
	return Interval{expToward(x.lo, big.ToNegativeInf, x.bits()), expToward(x.hi, big.ToPositiveInf, x.bits())}
}

// expToward returns a bound on eˣ, from the side that mode names. For x < 0 it is the reciprocal of a bound on e⁻ˣ
// from the other side.
func expToward(x *big.Float, mode big.RoundingMode, bits uint) *big.Float {
	if new(big.Float).Abs(x).Cmp(big.NewFloat(maxExponent)) > 0 {
		panic("exact: Exp beyond its range")
	}
	// Each squaring loses up to one bit, and there are at most 30 squarings.
	inner := bits + 40
	switch {
	case x.Sign() >= 0:
		return toward(mode, bits).Set(exp0(x, mode, inner))
	case mode == big.ToNegativeInf:
		return toward(mode, bits).Quo(big.NewFloat(1), exp0(new(big.Float).Neg(x), big.ToPositiveInf, inner))
	}
	return toward(mode, bits).Quo(big.NewFloat(1), exp0(new(big.Float).Neg(x), big.ToNegativeInf, inner))
}

// exp0 returns a bound on eˣ for x ≥ 0, from the side that mode names. It evaluates Taylor's series at y = x/2ˢ <
// 2⁻⁸ and squares the result s times. Every term is positive. The terms from yᵏ/k! on sum to less than twice the
// first of them.
func exp0(x *big.Float, mode big.RoundingMode, bits uint) *big.Float {
	s := max(x.MantExp(nil)+8, 0)
	y := toward(mode, bits).Set(x)
	y.SetMantExp(y, -s)
	sum, term := toward(mode, bits), toward(mode, bits).SetInt64(1)
	for k := int64(1); term.Sign() > 0 && term.MantExp(nil) > -int(bits)-2; k++ {
		sum.Add(sum, term)
		term.Quo(term.Mul(term, y), new(big.Float).SetInt64(k))
	}
	if mode == big.ToPositiveInf {
		sum.Add(sum, double(term))
	}
	for range s {
		sum.Mul(sum, sum)
	}
	return sum
}
