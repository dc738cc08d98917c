package exact

import "math"

// The functions below bound a real result from the side their name says: …Up returns a float not below the real
// result of the operation on the operands, …Down one not above it. Each takes the correctly rounded result and, by an
// error term that is computed exactly, moves it by one float only where it lies on the wrong side; where the error term
// itself might underflow, it moves always. So the result is at most one float wider than need be, and exact results
// stay as they are.
//
// Finite operands never give an infinity on the wrong side: a sum beyond the largest finite float is that float rounded
// down, and +Inf rounded up. Infinite operands, NaN and division by zero behave as in IEEE 754.

// tiny is the magnitude below which the error of a product or a quotient may be no float. The error of a product p is a
// multiple of 2^−106·|p|, that of a quotient a/b leaves a remainder that is a multiple of 2^−106·|a|, and the
// least positive float is 2^−1074: beyond 2^−968 both are floats.
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
	p := float64(a * b) // the conversion keeps the compiler from fusing
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
		e = math.FMA(-q, b, a) * math.Copysign(1, b) // has the sign of a/b − q
	}
	return settle(q, e, direction)
}

// settle returns f moved by one float in a direction (an infinity), unless its error e, which has the sign of the real
// result less f, shows that f is on that side already. A NaN or an infinity stands for an unknown error. An infinite f
// is an overflow of finite operands.
func settle(f, e, direction float64) float64 {
	unknown := math.IsNaN(e) || math.IsInf(e, 0)
	switch {
	case math.IsInf(f, 0) && f == direction:
		return f
	case math.IsInf(f, 0):
		return math.Nextafter(f, direction) // the largest finite float, or the least
	case unknown && f == 0 && math.Signbit(f) != math.Signbit(direction):
		return f // an underflow: the real result has the sign of the zero
	case unknown, e > 0 && direction > 0, e < 0 && direction < 0:
		return math.Nextafter(f, direction)
	}
	return f
}
