package engine

import (
	"fmt"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// CharDialect writes the parts of [Char] in a dialect: a text constant, an integer constant, the truncated quotient of two
// integers, one of value.DateFields of a day, and an integer as a decimal text.
type CharDialect struct {
	Text     func(string) string
	Integer  func(int64) string
	Quotient func(a, b string) string
	Part     func(field, day string) string
	Decimal  func(integer string) string
}

// Char returns the SQL of a text of a date, a timestamp or a time, given the SQL of its argument: its numbers, filled up
// with zeros, and names from a list. The binder refuses a format without fields, so the text is NULL if the argument is.
//
// Claim: the text does not depend on the engine's language or time zone. Proof. No function that formats a time is used.
// All numbers are computed from the number of the day and the microseconds since midnight. The lists of names are
// constants. ∎
func Char(e *bounded.Expr, x string, d CharDialect) string {
	format, _ := value.ParseFormat(e.Text) // the binder has read it
	day, clock := x, d.Integer(0)
	switch e.Args[0].Type {
	case value.Time:
		day, clock = d.Integer(0), x
	case value.Timestamp:
		of := func(op bounded.Op) string {
			sql, _ := Clock(&bounded.Expr{Op: op}, x, d.Integer, d.Quotient)
			return sql
		}
		day, clock = of(bounded.OpDayOf), of(bounded.OpTimeOf)
	}
	parts := make([]string, len(format))
	for i, p := range format {
		if p.Field == "" {
			parts[i] = d.Text(p.Text)
			continue
		}
		n := d.number(p.Field, day, clock)
		if names, first := p.Names(); names != nil {
			parts[i] = fmt.Sprintf("split_part(%s, ',', CAST(%s - %s AS integer))",
				d.Text(strings.Join(names, ",")), n, d.Integer(first-1))
			continue
		}
		parts[i] = d.Decimal(n)
		if width := p.Width(); width > 1 {
			parts[i] = fmt.Sprintf("lpad(%s, %d, '0')", parts[i], width)
		}
	}
	return "(" + strings.Join(parts, " || ") + ")"
}

// number returns the SQL of value.FormatNumber.
func (d CharDialect) number(field, day, clock string) string {
	n := func(format string, args ...any) string {
		for i, a := range args {
			switch a := a.(type) {
			case int:
				args[i] = d.Integer(int64(a))
			case int64:
				args[i] = d.Integer(a)
			}
		}
		return fmt.Sprintf("("+format+")", args...)
	}
	// weekday is 0 on Mondays: 1 January 1970 was a Thursday, and 7,000,000 more days make every day positive
	weekday := n("(%s + %s) %% %s", day, 7_000_003, 7)
	thursday := n("%s - %s + %s", day, weekday, 3)
	part := func(name string) string { return d.Part(name, day) }
	hour := d.Quotient(clock, d.Integer(value.ClockMicros("hour")))
	switch field {
	case "YYYY":
		return part("year")
	case "YY":
		return n("%s %% %s", part("year"), 100)
	case "CC":
		return d.Quotient(n("%s + %s", part("year"), 99), d.Integer(100))
	case "Q":
		return part("quarter")
	case "MM", "Month", "MONTH", "month", "Mon", "MON", "mon":
		return part("month")
	case "DD":
		return part("day")
	case "DDD":
		return part("doy")
	case "D":
		return n("(%s + %s) %% %s + %s", weekday, 1, 7, 1)
	case "ID":
		return n("%s + %s", weekday, 1)
	case "Day", "DAY", "day", "Dy", "DY", "dy":
		return n("(%s + %s) %% %s", weekday, 1, 7)
	case "WW":
		return n("%s + %s", d.Quotient(n("%s - %s", part("doy"), 1), d.Integer(7)), 1)
	case "W":
		return n("%s + %s", d.Quotient(n("%s - %s", part("day"), 1), d.Integer(7)), 1)
	case "IW":
		return n("%s + %s", d.Quotient(n("%s - %s", d.Part("doy", thursday), 1), d.Integer(7)), 1)
	case "IYYY":
		return d.Part("year", thursday)
	case "HH24":
		return hour
	case "HH12", "HH":
		return n("(%s + %s) %% %s + %s", hour, 11, 12, 1)
	case "AM", "PM", "am", "pm":
		return d.Quotient(hour, d.Integer(12))
	case "MI":
		return n("%s %% %s", d.Quotient(clock, d.Integer(value.ClockMicros("minute"))), 60)
	case "SS":
		return n("%s %% %s", d.Quotient(clock, d.Integer(value.ClockMicros("second"))), 60)
	case "MS":
		return d.Quotient(n("%s %% %s", clock, 1_000_000), d.Integer(1000))
	}
	return n("%s %% %s", clock, 1_000_000)
}
