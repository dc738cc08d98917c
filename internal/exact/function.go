package exact

import "math"

// Each function below returns a bound on a transcendental function, from the side that its name states. Package
// math's functions have an error below 1 ulp according to their authors (FreeBSD's msun, the origin of Go's
// portable code). For the assembly of some processors, the error is not stated. So each result is widened by slack,
// and property tests compare it with a 200-bit evaluation over the whole range. Results that are exact by
// definition (e⁰, ln 1) are not widened.

// slack is the relative widening, 2⁻⁵⁰. It is between 4 and 8 ulps, compared with measured errors below 1.6 ulps.
// least is added for results so small that slack is less than an ulp.
const (
	slack = 0x1p-50
	least = 4 * math.SmallestNonzeroFloat64
)

// ExpUp returns an upper bound on eˣ.
func ExpUp(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return math.Exp(x)
	}
	return widenUp(exp(x))
}

// ExpDown returns a lower bound on eˣ, at least 0.
func ExpDown(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return math.Exp(x)
	}
	return max(0, widenDown(exp(x)))
}

// Expm1Up returns an upper bound on eˣ − 1.
func Expm1Up(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return math.Expm1(x)
	}
	return widenUp(math.Expm1(x))
}

// Expm1Down returns a lower bound on eˣ − 1, at least −1.
func Expm1Down(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return math.Expm1(x)
	}
	return max(-1, widenDown(math.Expm1(x)))
}

// LogUp returns an upper bound on ln x. It is −Inf for x = 0, and NaN for x < 0.
func LogUp(x float64) float64 {
	if exactLog(x) {
		return math.Log(x)
	}
	return widenUp(log(x))
}

// LogDown returns a lower bound on ln x. It is −Inf for x = 0, and NaN for x < 0.
func LogDown(x float64) float64 {
	if exactLog(x) {
		return math.Log(x)
	}
	return widenDown(log(x))
}

func exactLog(x float64) bool { return x <= 0 || x == 1 || math.IsInf(x, 1) }

// exp returns eˣ. Go 1.26's assembly for amd64 overflows for x above 1023.5·ln 2 = 709.44, although eˣ is finite up
// to 709.78. For x around there, exp computes eˣ⁻¹·e instead, because x − 1 is exact.
func exp(x float64) float64 {
	if x > 709 && x < 710 {
		return math.Exp(x-1) * math.E
	}
	return math.Exp(x)
}

// log returns ln x for x > 0. Go 1.26's assembly for amd64 treats the bits of a subnormal as a normalised mantissa:
// it computes ln 2⁻¹⁰⁷⁴ as −709.09 instead of −744.44. So log first scales subnormal arguments, which is exact.
func log(x float64) float64 {
	if x < 0x1p-1022 {
		return math.Log(x*0x1p64) - 64*math.Ln2
	}
	return math.Log(x)
}

// widenUp increases a computed y by the slack. NaN stays NaN. +Inf stays +Inf, which is an upper bound after an
// overflow.
func widenUp(y float64) float64 {
	return AddUp(y, AddUp(MulUp(math.Abs(y), slack), least))
}

// widenDown decreases a computed y by the slack. NaN stays NaN. +Inf comes from an overflow, so widenDown replaces
// it by the largest float first.
func widenDown(y float64) float64 {
	y = min(y, math.MaxFloat64)
	return SubDown(y, AddUp(MulUp(math.Abs(y), slack), least))
}
