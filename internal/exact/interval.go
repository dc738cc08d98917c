package exact

import "math/big"

// Interval encloses a real number between two floats, ends included. The ends are finite, of any magnitude, and
// have the precision with which the interval was created. Every operation rounds its lower end down and its upper
// end up. So the result contains every value that the operation has on members of the operands. An Interval is
// immutable.
//
// Package math/big rounds the four basic operations correctly in the direction of the result's mode, so no error
// terms are needed. Only exponents beyond ±2³¹ would break this, and callers stay far from them.
type Interval struct {
	lo, hi *big.Float
}

// toward returns a new float that rounds in the direction of mode.
func toward(mode big.RoundingMode, bits uint) *big.Float {
	return new(big.Float).SetPrec(bits).SetMode(mode)
}

// IntervalOf returns the narrowest interval around r whose ends have bits bits.
func IntervalOf(r *big.Rat, bits uint) Interval {
	return Interval{toward(big.ToNegativeInf, bits).SetRat(r), toward(big.ToPositiveInf, bits).SetRat(r)}
}

// PointOf returns the interval that contains only the float x, rounded to bits bits.
func PointOf(x *big.Float, bits uint) Interval {
	p := new(big.Float).SetPrec(bits).Set(x)
	return Interval{p, p}
}

// Lo returns a copy of the lower end.
func (x Interval) Lo() *big.Float { return new(big.Float).Set(x.lo) }

// Hi returns a copy of the upper end.
func (x Interval) Hi() *big.Float { return new(big.Float).Set(x.hi) }

// Width returns hi − lo, rounded up.
func (x Interval) Width() *big.Float { return toward(big.ToPositiveInf, x.bits()).Sub(x.hi, x.lo) }

func (x Interval) bits() uint { return max(x.lo.Prec(), x.hi.Prec()) }

// Add returns x + y.
func (x Interval) Add(y Interval) Interval {
	return Interval{
		toward(big.ToNegativeInf, x.bits()).Add(x.lo, y.lo),
		toward(big.ToPositiveInf, x.bits()).Add(x.hi, y.hi),
	}
}

// Sub returns x − y.
func (x Interval) Sub(y Interval) Interval {
	return Interval{
		toward(big.ToNegativeInf, x.bits()).Sub(x.lo, y.hi),
		toward(big.ToPositiveInf, x.bits()).Sub(x.hi, y.lo),
	}
}

// Mul returns x · y.
func (x Interval) Mul(y Interval) Interval { return x.corners(y, (*big.Float).Mul) }

// Quo returns x / y. It panics if y contains 0.
func (x Interval) Quo(y Interval) Interval {
	if y.lo.Sign() <= 0 && y.hi.Sign() >= 0 {
		panic("exact: division by an interval that holds 0")
	}
	return x.corners(y, (*big.Float).Quo)
}

// corners returns the result of an operation that is monotone in each operand. Its extremes are at the ends of the
// operands.
func (x Interval) corners(y Interval, operation func(z, a, b *big.Float) *big.Float) Interval {
	extreme := func(mode big.RoundingMode, beyond int) *big.Float {
		var found *big.Float
		for _, a := range []*big.Float{x.lo, x.hi} {
			for _, b := range []*big.Float{y.lo, y.hi} {
				if z := operation(toward(mode, x.bits()), a, b); found == nil || z.Cmp(found) == beyond {
					found = z
				}
			}
		}
		return found
	}
	return Interval{extreme(big.ToNegativeInf, -1), extreme(big.ToPositiveInf, 1)}
}
