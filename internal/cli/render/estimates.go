package render

import (
	"fmt"
	"math"
	"strings"

	"dither/curator"
)

// LossOrNone writes the loss of a group of units. l is nil if a δ was spent, because no loss of groups is then
// stated.
func LossOrNone(l *curator.Loss) string {
	if l == nil {
		return "not stated, because a δ was spent"
	}
	return l.String()
}

// CSVKey writes a key for CSV. NULL is the empty field.
func CSVKey(key any) string {
	if key == nil {
		return ""
	}
	return fmt.Sprint(key)
}

// CSVNumber writes a number for CSV, with all digits. An unknown number is the empty field.
func CSVNumber(n *curator.Number) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// cellKey writes the key of a cell, or Σ for a row that is a total over this key.
func cellKey(c curator.Cell) string {
	if c.Summed {
		return "Σ"
	}
	return KeyText(c.Key)
}

// KeyText writes a key as text. NULL is written as NULL, and control characters are replaced.
func KeyText(key any) string {
	if key == nil {
		return "NULL"
	}
	return Printable(fmt.Sprint(key))
}

// cellText writes an estimate with its interval. A constant has none.
func cellText(column curator.Column, e *curator.Estimate) string {
	if column.Mechanism == curator.Constant && e.Value != nil {
		return e.Value.String()
	}
	return withError(e)
}

// withError writes an estimate with its interval: 57.2 ± 1.3, or 57.2 [56.0, 60.1] for an asymmetric interval, or ?
// [0, 77] without a value. A value without an interval is marked: 57 ± 0 if noise and rounding are too small to be
// shown, and "57 (chosen)" for a mode. An interval may have no end on one side: 57 [50, ∞].
func withError(e *curator.Estimate) string {
	switch {
	case e.Bare && e.Value == nil:
		return "NULL"
	case e.Bare:
		return bareText(e.Value) + " (no interval)"
	}
	if e.Value == nil {
		return "? " + interval(e, 4)
	}
	if e.Chosen {
		return e.Value.String() + " (chosen)"
	}
	if e.Low == nil || e.High == nil {
		return Compact(e.Value.Real) + " " + interval(e, 4)
	}
	below, above := e.Value.Real-e.Low.Real, e.High.Real-e.Value.Real
	half := math.Max(below, above)
	if half < 1e-12*math.Max(1, math.Abs(e.Value.Real)) { // a difference of rounding, not an interval
		return e.Value.String() + " ± 0"
	}
	if e.Value.Text != nil {
		return e.Value.String() + " " + interval(e, 0)
	}
	places := Decimals(half)
	if e.Value.Whole != nil && e.Low.Whole != nil && e.High.Whole != nil { // an integer with integer noise
		places = 0
	}
	if math.Abs(above-below) > 0.1*half {
		return Round(e.Value, places) + " " + interval(e, places)
	}
	return Round(e.Value, places) + " ± " + Fixed(half, places)
}

// bareText writes a number without an interval, with six significant digits after the decimal point.
func bareText(n *curator.Number) string {
	if n.Whole != nil || n.Text != nil {
		return n.String()
	}
	return Compact(n.Real)
}

func interval(e *curator.Estimate, places int) string {
	end := func(n *curator.Number, none string) string {
		if n == nil {
			return none
		}
		return strings.TrimSuffix(Round(n, places), ".0000")
	}
	return "[" + end(e.Low, "−∞") + ", " + end(e.High, "∞") + "]"
}

// Round writes a number with the given number of decimal places. Integers and texts are written in full.
func Round(n *curator.Number, places int) string {
	if n.Whole != nil || n.Text != nil {
		return n.String()
	}
	return Fixed(n.Real, places)
}
