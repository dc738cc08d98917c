package exact

import (
	"math"
	"math/big"
)

// Hull returns the narrowest interval that contains x and y.
func Hull(x, y Interval) Interval {
	lo, hi := x.lo, x.hi
	if y.lo.Cmp(lo) < 0 {
		lo = y.lo
	}
	if y.hi.Cmp(hi) > 0 {
		hi = y.hi
	}
	return Interval{lo, hi}
}

// Middle returns a point of x near its middle.
func (x Interval) Middle() *big.Float {
	sum := new(big.Float).SetPrec(x.bits()+1).Add(x.lo, x.hi)
	return sum.SetMantExp(sum, -1)
}

// Floats returns the largest float64 not above x and the smallest not below it. Either may be infinite, and is then
// still a bound on x.
func (x Interval) Floats() (lower, upper float64) {
	lower, _ = x.lo.Float64()
	if !math.IsInf(lower, -1) && (math.IsInf(lower, 1) || new(big.Float).SetFloat64(lower).Cmp(x.lo) > 0) {
		lower = math.Nextafter(lower, math.Inf(-1))
	}
	upper, _ = x.hi.Float64()
	if !math.IsInf(upper, 1) && (math.IsInf(upper, -1) || new(big.Float).SetFloat64(upper).Cmp(x.hi) < 0) {
		upper = math.Nextafter(upper, math.Inf(1))
	}
	return lower + 0, upper + 0 // + 0 turns −0 into 0
}
