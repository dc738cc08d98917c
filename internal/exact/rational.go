package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// FloorRat returns ⌊r⌋, the largest integer not above r.
func FloorRat(r *big.Rat) *big.Int {
	// Div is Euclidean division, which is the floor because the denominator is positive
	return new(big.Int).Div(r.Num(), r.Denom())
}

// CeilRat returns ⌈r⌉, the smallest integer not below r.
func CeilRat(r *big.Rat) *big.Int {
	n := new(big.Int).Neg(r.Num())
	n.Div(n, r.Denom())
	return n.Neg(n)
}

// FloatDown returns the largest float64 not above r. It is −Inf if r is below every finite float64.
func FloatDown(r *big.Rat) float64 {
	// The nearest float64, or ±Inf. The second result, "exact", is unreliable: Go 1.26 returns 0 and true for
	// 2⁻¹⁰⁷⁶.
	f, _ := r.Float64()
	if compare(f, r) <= 0 {
		return f
	}
	return math.Nextafter(f, math.Inf(-1))
}

// FloatUp returns the smallest float64 not below r. It is +Inf if r is above every finite float64.
func FloatUp(r *big.Rat) float64 {
	f, _ := r.Float64()
	if compare(f, r) >= 0 {
		return f
	}
	return math.Nextafter(f, math.Inf(1))
}

// compare returns the sign of f − r. f must not be NaN.
func compare(f float64, r *big.Rat) int {
	switch {
	case math.IsInf(f, 1):
		return 1
	case math.IsInf(f, -1):
		return -1
	}
	if f == 0 {
		return -r.Sign()
	}
	// f is m·2^e for an integer m, so f − r has the sign of m·2^e·denominator − numerator. This avoids reducing a
	// fraction.
	fraction, e := math.Frexp(f)
	m := int64(fraction * (1 << 53))
	zeros := bits.TrailingZeros64(uint64(m))
	m, e = m>>zeros, e-53+zeros
	left, right := big.NewInt(m), r.Num()
	if left.Mul(left, r.Denom()); e >= 0 {
		left.Lsh(left, uint(e))
	} else {
		right = new(big.Int).Lsh(right, uint(-e))
	}
	return left.Cmp(right)
}

// FloorDecimal returns the largest multiple of 10^−places not above r. places may be negative.
func FloorDecimal(r *big.Rat, places int) *big.Rat { return onGrid(r, places, FloorRat) }

// CeilDecimal returns the smallest multiple of 10^−places not below r. places may be negative.
func CeilDecimal(r *big.Rat, places int) *big.Rat { return onGrid(r, places, CeilRat) }

func onGrid(r *big.Rat, places int, round func(*big.Rat) *big.Int) *big.Rat {
	step := DecimalStep(places)
	return step.Mul(step, new(big.Rat).SetInt(round(new(big.Rat).Quo(r, step))))
}

// DecimalStep returns 10^−places, exactly.
func DecimalStep(places int) *big.Rat {
	step := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(places, -places))), nil))
	if places > 0 {
		step.Inv(step)
	}
	return step
}

// FloorDigits rounds r > 0 down to the given number of significant decimal digits.
func FloorDigits(r *big.Rat, digits int) *big.Rat { return FloorDecimal(r, places(r, digits)) }

// CeilDigits rounds r > 0 up to the given number of significant decimal digits.
func CeilDigits(r *big.Rat, digits int) *big.Rat { return CeilDecimal(r, places(r, digits)) }

// Shortened rounds a number in text form to six significant digits, where round is FloorDigits or CeilDigits. It
// returns the text unchanged if it has at most 8 bytes, is not a number, or is not above 0.
func Shortened(text string, round func(*big.Rat, int) *big.Rat) string {
	r, err := ParseRat(text)
	if len(text) <= 8 || err != nil || r.Sign() <= 0 {
		return text
	}
	return FormatRat(round(r, 6))
}

// places returns the number of decimal places that show the given number of significant digits of r > 0.
func places(r *big.Rat, digits int) int {
	one, ten := big.NewRat(1, 1), big.NewRat(10, 1)
	x := new(big.Rat).Set(r)
	for ; x.Cmp(ten) >= 0; x.Quo(x, ten) {
		digits--
	}
	for ; x.Cmp(one) < 0; x.Mul(x, ten) {
		digits++
	}
	return digits - 1
}
