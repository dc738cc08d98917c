package engine

import (
	"fmt"
	"time"

	"dither/internal/bounded"
	"dither/internal/value"
)

// Clock returns the SQL of a function of a timestamp or a time, given the SQL of its argument. A dialect provides two
// functions: integer writes a constant, and quotient writes the truncated quotient of two integers. The boolean is
// false for any other operation.
//
// Claim: no engine needs a calendar or a time zone for these functions, and all engines compute the same values. Proof.
// A timestamp is at least value.MinMicro, so adding `many` days makes it positive. For positive integers the truncated
// quotient and the remainder are those of a division that rounds down. The days that were added are a multiple of
// every unit, and are subtracted again. All numbers are below 2^62 in magnitude. ∎
func Clock(e *bounded.Expr, x string, integer func(int64) string, quotient func(a, b string) string) (string, bool) {
	const many = 1_000_000
	shifted := fmt.Sprintf("(%s + %s)", x, integer(many*value.DayMicros))
	day := integer(value.DayMicros)
	switch e.Op {
	case bounded.OpDayOf:
		return fmt.Sprintf("(%s - %s)", quotient(shifted, day), integer(many)), true
	case bounded.OpTimeOf:
		return fmt.Sprintf("(%s %% %s)", shifted, day), true
	case bounded.OpStartOf:
		return fmt.Sprintf("(%s * %s)", x, day), true
	case bounded.OpTimeTrunc:
		length := integer(value.ClockMicros(e.Text))
		return fmt.Sprintf("(%s * %s - %s)", quotient(shifted, length), length, integer(many*value.DayMicros)), true
	case bounded.OpTimePart:
		hour, minute := integer(value.ClockMicros("hour")), integer(value.ClockMicros("minute"))
		switch e.Text {
		case "hour":
			return quotient(x, hour), true
		case "minute":
			return fmt.Sprintf("(%s %% %s)", quotient(x, minute), integer(60)), true
		}
		return fmt.Sprintf("(%s %% %s)", x, minute), true
	}
	return "", false
}

// Offset returns the SQL of the offset of a zone from UTC, in microseconds, at a moment from value.FirstShift up to
// value.LastShift. The function before writes the condition that the moment is before a constant moment. The SQL is a
// tree of conditions, of which a row evaluates about ten.
func Offset(zone *time.Location, before, integer func(int64) string) string {
	return offset(value.Shifts(zone), before, integer)
}

func offset(shifts []value.Shift, before, integer func(int64) string) string {
	if len(shifts) == 1 {
		return integer(shifts[0].Offset)
	}
	middle := len(shifts) / 2
	return "(CASE WHEN " + before(shifts[middle].From) + " THEN " + offset(shifts[:middle], before, integer) + " ELSE " +
		offset(shifts[middle:], before, integer) + " END)"
}
