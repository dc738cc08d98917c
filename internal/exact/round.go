package exact

import "math"

// Each function below rounds an operation on floats to the side that its name states: …Up returns a float that is
// at least the real result, …Down one that is at most the real result. Each takes the correctly rounded result and
// computes its error term exactly. It moves the result by one float only if it is on the wrong side. If the error
// term might underflow, it always moves the result. So the result is at most one float wider than necessary, and
// exact results stay unchanged.
//
// Finite operands never give an infinity on the wrong side. A sum beyond the largest finite float is rounded down
// to that float, and rounded up to +Inf. Infinite operands, NaN and division by zero behave as in IEEE 754.

// tiny is the magnitude below which the error term of a product or a quotient may not be a float. The error of a
// product p is a multiple of 2^−106·|p|. A quotient a/b leaves a remainder that is a multiple of 2^−106·|a|. The
// least positive float is 2^−1074. So the error is a float if |p| is at least 2^−968, and the remainder is one if
// |a| is.
const tiny = 0x1p-960

// AddUp returns a + b rounded up.
func AddUp(a, b float64) float64 { return addTo(a, b, math.Inf(1)) }

// AddDown returns a + b rounded down.
func AddDown(a, b float64) float64 { return addTo(a, b, math.Inf(-1)) }

// SubUp returns a − b rounded up.
func SubUp(a, b float64) float64 { return addTo(a, -b, math.Inf(1)) }

// SubDown returns a − b rounded down.
func SubDown(a, b float64) float64 { return addTo(a, -b, math.Inf(-1)) }

// MulUp returns a · b rounded up.
func MulUp(a, b float64) float64 { return mulTo(a, b, math.Inf(1)) }

// MulDown returns a · b rounded down.
func MulDown(a, b float64) float64 { return mulTo(a, b, math.Inf(-1)) }

// DivUp returns a / b rounded up.
func DivUp(a, b float64) float64 { return divTo(a, b, math.Inf(1)) }

// DivDown returns a / b rounded down.
func DivDown(a, b float64) float64 { return divTo(a, b, math.Inf(-1)) }

func addTo(a, b, direction float64) float64 {
	s := a + b
	if math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsNaN(s) {
		return s
	}
	// TwoSum [Knuth, TAOCP 2, 4.2.2, Theorem B]: s + e = a + b exactly, with or without underflow.
	t := s - a
	e := (a - (s - t)) + (b - t)
	return settle(s, e, direction)
}

func mulTo(a, b, direction float64) float64 {
	p := float64(a * b) // the conversion prevents the compiler from fusing operations
	if math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsNaN(p) || a == 0 || b == 0 {
		return p
	}
	e := math.NaN()
	if math.Abs(p) > tiny {
		e = math.FMA(a, b, -p) // exactly a·b − p
	}
	return settle(p, e, direction)
}

func divTo(a, b, direction float64) float64 {
	q := a / b
	if math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsNaN(q) || a == 0 || b == 0 {
		return q
	}
	e := math.NaN()
	if math.Abs(a) > tiny && math.Abs(q) > tiny {
		e = math.FMA(-q, b, a) * math.Copysign(1, b) // e has the sign of a/b − q
	}
	return settle(q, e, direction)
}

// settle returns f, moved by one float in the given direction (an infinity), unless f is on that side of the real
// result already. e has the sign of the real result minus f. An e that is NaN or infinite means that the sign is
// unknown. An infinite f results from an overflow of finite operands.
func settle(f, e, direction float64) float64 {
	unknown := math.IsNaN(e) || math.IsInf(e, 0)
	switch {
	case math.IsInf(f, 0) && f == direction:
		return f
	case math.IsInf(f, 0):
		return math.Nextafter(f, direction) // the largest finite float, or the least
	case unknown && f == 0 && math.Signbit(f) != math.Signbit(direction):
		return f // underflow: the real result has the sign of the zero
	case unknown, e > 0 && direction > 0, e < 0 && direction < 0:
		return math.Nextafter(f, direction)
	}
	return f
}
