package exact

import "math"

// The functions below bound a transcendental function from the side that their name says. The error of package math's
// functions is below 1 ulp according to their authors (FreeBSD's msun, from which Go's portable code comes), or not
// stated (the assembly of some processors). So each result is widened by slack, and the property tests compare it with
// a 200-bit evaluation over the whole range. Results that are exact by definition (e⁰, ln 1) are not widened.

// slack is the relative widening, 2⁻⁵⁰: between 4 and 8 ulps, compared with measured errors below 1.6 ulps. least
// is added for results so small that an ulp is a larger share of them.
const (
	slack = 0x1p-50
	least = 4 * math.SmallestNonzeroFloat64
)

// ExpUp returns a float not below eˣ.
func ExpUp(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return math.Exp(x)
	}
	return widenUp(exp(x))
}

// ExpDown returns a float not above eˣ, and never below 0.
func ExpDown(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return math.Exp(x)
	}
	return max(0, widenDown(exp(x)))
}

// Expm1Up returns a float not below eˣ − 1.
func Expm1Up(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return math.Expm1(x)
	}
	return widenUp(math.Expm1(x))
}

// Expm1Down returns a float not above eˣ − 1, and never below −1.
func Expm1Down(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return math.Expm1(x)
	}
	return max(-1, widenDown(math.Expm1(x)))
}

// LogUp returns a float not below ln x: −Inf at 0, NaN below it.
func LogUp(x float64) float64 {
	if exactLog(x) {
		return math.Log(x)
	}
	return widenUp(log(x))
}

// LogDown returns a float not above ln x: −Inf at 0, NaN below it.
func LogDown(x float64) float64 {
	if exactLog(x) {
		return math.Log(x)
	}
	return widenDown(log(x))
}

func exactLog(x float64) bool { return x <= 0 || x == 1 || math.IsInf(x, 1) }

// exp is eˣ. Go 1.26's assembly for amd64 overflows from 1023.5·ln 2 = 709.44 on, but should do so from 709.78 on; in
// between this computes eˣ⁻¹, whose argument is exact.
func exp(x float64) float64 {
	if x > 709 && x < 710 {
		return math.Exp(x-1) * math.E
	}
	return math.Exp(x)
}

// log is ln x for x > 0. Go 1.26's assembly for amd64 treats a subnormal's bits as a normalised mantissa: its ln
// 2⁻¹⁰⁷⁴ is −709.09 instead of −744.44. So such arguments are first scaled, exactly.
func log(x float64) float64 {
	if x < 0x1p-1022 {
		return math.Log(x*0x1p64) - 64*math.Ln2
	}
	return math.Log(x)
}

// widenUp moves a computed y up by the slack. NaN stays; +Inf is an overflow, and an upper bound of it.
func widenUp(y float64) float64 {
	return AddUp(y, AddUp(MulUp(math.Abs(y), slack), least))
}

// widenDown moves a computed y down by the slack. NaN stays; from +Inf, an overflow, it starts at the largest float.
func widenDown(y float64) float64 {
	y = min(y, math.MaxFloat64)
	return SubDown(y, AddUp(MulUp(math.Abs(y), slack), least))
}
