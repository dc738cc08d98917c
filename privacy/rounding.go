package privacy

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// What conversions give is rounded outward to a short decimal: to a step that is a power of ten and at most
// 10^−digits of the value. What is above 0 and below 10^−smallest is rounded to one of the two.
const (
	digits   = 16
	smallest = 1000
)

// bitsFirst is the precision that a conversion begins with, and bitsLast the one that it does not go beyond: enough for
// 10^−smallest. accuracy is how much narrower than its value an interval must be, in bits, to be taken.
const (
	bitsFirst = 192
	bitsLast  = 1 << 13
	accuracy  = 100
)

// refined evaluates at increasing precision until the result is narrow enough. Whatever the precision, its ends are
// true.
func refined(evaluate func(bits uint) exact.Interval, enough func(exact.Interval) bool) exact.Interval {
	for bits := uint(bitsFirst); ; bits *= 2 {
		if x := evaluate(bits); bits >= bitsLast || enough(x) {
			return x
		}
	}
}

// settled reports whether the upper end is at most 0 or 10^−smallest, or the width is below a share of 2^−accuracy
// of it.
func settled(x exact.Interval) bool {
	hi := x.Hi()
	return hi.Sign() <= 0 || negligible(hi) || x.Width().Cmp(hi.SetMantExp(hi, -accuracy)) <= 0
}

// negligible holds for what is below 2^−3322, which is below 10^−smallest.
func negligible(x *big.Float) bool { return x.MantExp(nil) <= -3322 }

// size is ⌊log₁₀ r⌋ for r > 0, or one less, and does not decrease in r.
func size(r *big.Rat) int {
	exponent := new(big.Float).SetPrec(64).SetMode(big.ToZero).SetRat(r).MantExp(nil)
	return int(math.Floor(float64(exponent-1) * math.Log10(2)))
}

// roundUp is the smallest step not below x: 0 up to 0, and at least 10^−smallest above it. Since a larger x has the
// same steps or a part of them, it does not decrease in x.
func roundUp(x *big.Float) amount {
	if x.Sign() <= 0 {
		return amount{}
	}
	least := exact.DecimalStep(smallest)
	if negligible(x) {
		return amount{least}
	}
	r, _ := x.Rat(nil)
	if up := exact.CeilDecimal(r, digits-size(r)); up.Cmp(least) > 0 {
		return amount{up}
	}
	return amount{least}
}
