package privacy

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// The results of conversions are rounded to the safe side, to a multiple of a power of ten that is at most
// 10^−digits of the value. A positive value below 10^−smallest is rounded to 0 or to 10^−smallest.
const (
	digits   = 16
	smallest = 1000
)

// A conversion begins at a precision of bitsFirst bits. It does not go beyond bitsLast bits, which is enough for
// 10^−smallest. An interval is narrow enough if its width is below 2^−accuracy of its value.
const (
	bitsFirst = 192
	bitsLast  = 1 << 13
	accuracy  = 100
)

// refined evaluates at increasing precision until the function enough accepts the interval, or bitsLast is reached.
// At every precision the interval contains the exact value.
func refined(evaluate func(bits uint) exact.Interval, enough func(exact.Interval) bool) exact.Interval {
	for bits := uint(bitsFirst); ; bits *= 2 {
		if x := evaluate(bits); bits >= bitsLast || enough(x) {
			return x
		}
	}
}

// settled reports whether the upper end is at most 0, is negligible, or exceeds the width by a factor of
// 2^accuracy.
func settled(x exact.Interval) bool {
	hi := x.Hi()
	return hi.Sign() <= 0 || negligible(hi) || x.Width().Cmp(hi.SetMantExp(hi, -accuracy)) <= 0
}

// negligible reports whether x is below 2^−3322, which is below 10^−smallest.
func negligible(x *big.Float) bool { return x.MantExp(nil) <= -3322 }

// size returns ⌊log₁₀ r⌋ for r > 0, or one less. It never decreases as r increases.
func size(r *big.Rat) int {
	exponent := new(big.Float).SetPrec(64).SetMode(big.ToZero).SetRat(r).MantExp(nil)
	return int(math.Floor(float64(exponent-1) * math.Log10(2)))
}

// roundUp returns the smallest multiple of the rounding step that is at least x. It returns 0 for x ≤ 0, and at
// least 10^−smallest for x > 0. The result never decreases as x increases, because the steps of a larger x are
// among those of a smaller one.
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
