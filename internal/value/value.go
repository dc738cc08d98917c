// Package value holds SQL scalars: the cells of tables, the declared values of policies and the constants of plans.
// There are eight types, each with NULL. Values are compared and written in the same way everywhere.
package value

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// Type is the type of a column or an expression.
type Type int

// The types. Columns have the first six types. The results of expressions may also have the other two.
const (
	Integer Type = iota + 1 // 64-bit signed
	Real                    // IEEE 754 double precision, finite
	Text                    // UTF-8, compared by bytes
	Boolean
	Date // days since 1970-01-01, in the proleptic Gregorian calendar
	// microseconds since 1970-01-01 00:00:00, as clocks in the policy's zone show the time; every day has 24 hours
	Timestamp
	Time     // a time of day: microseconds since the start of the day
	Interval // a difference of two timestamps, in microseconds
)

var typeNames = map[Type]string{
	Integer: "integer", Real: "real", Text: "text", Boolean: "boolean", Date: "date",
	Timestamp: "timestamp", Time: "time", Interval: "interval",
}

// Whole reports whether the values of a type are integers, in Value.Int: the numbers, the days or the microseconds.
func (t Type) Whole() bool {
	return t == Integer || t == Date || t == Timestamp || t == Time || t == Interval
}

// String returns the name of the type, which ParseType reads.
func (t Type) String() string {
	if name, ok := typeNames[t]; ok {
		return name
	}
	return fmt.Sprintf("Type(%d)", int(t))
}

// ParseType returns the type with a name that String returns. It returns false for any other name.
func ParseType(name string) (Type, bool) {
	for t, n := range typeNames {
		if n == name {
			return t, true
		}
	}
	return 0, false
}

// Value is one scalar. Only the field for its Type is used, and a Date has its day number in Int. A Timestamp, a
// Time and an Interval have their microseconds there. NULL is a Value with Null set. The zero Value has no type.
type Value struct {
	Type Type
	Null bool
	Int  int64
	Real float64
	Text string
	Bool bool
}

// NullOf returns NULL of type t.
func NullOf(t Type) Value { return Value{Type: t, Null: true} }

// OfInt returns an Integer value.
func OfInt(n int64) Value { return Value{Type: Integer, Int: n} }

// OfReal returns a Real value.
func OfReal(x float64) Value { return Value{Type: Real, Real: x} }

// OfText returns a Text value.
func OfText(s string) Value { return Value{Type: Text, Text: s} }

// OfBool returns a Boolean value.
func OfBool(b bool) Value { return Value{Type: Boolean, Bool: b} }

// OfDay returns a Date value. day counts days since 1970-01-01.
func OfDay(day int64) Value { return Value{Type: Date, Int: day} }

// OfMicro returns a Timestamp value. micro counts microseconds since 1970-01-01 00:00:00.
func OfMicro(micro int64) Value { return Value{Type: Timestamp, Int: micro} }

// The first and the last day that a Date may be: those of the years 1 to 9999.
const (
	MinDay = -719162
	MaxDay = 2932896
)

// MaxTextBytes is the largest number of bytes of a text cell. It bounds the cost of every function of a text.
const MaxTextBytes = 4096

// ErrSyntax reports that a text is not the spelling of a value of the type.
var ErrSyntax = errors.New("does not spell a value of the type")

// Parse parses the text of a value of type t. It returns ErrSyntax for any text that is not listed here:
//
//   - Integer: a decimal integer of 64 bits.
//   - Real: a decimal number; or "NaN", "Inf" or "Infinity" in any case, with or without a sign.
//   - Boolean: "true", "false", "t", "f", "1" or "0" in any case.
//   - Date: YYYY-MM-DD in the years 0001 to 9999.
//   - Timestamp: as [ParseTimestamp], without an offset from UTC, because the offset would need a zone.
//   - Time: HH:MM, with optional seconds and a fraction of at most nine digits. Digits after the sixth are dropped.
//   - Text: valid UTF-8 without NUL, of at most MaxTextBytes.
func Parse(t Type, text string) (Value, error) {
	switch t {
	case Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Value{}, ErrSyntax
		}
		return OfInt(n), nil
	case Real:
		return parseReal(text)
	case Text:
		if !utf8.ValidString(text) || len(text) > MaxTextBytes || containsNUL(text) {
			return Value{}, ErrSyntax
		}
		return OfText(text), nil
	case Boolean:
		b, ok := booleans[lowerASCII(text)]
		if !ok {
			return Value{}, ErrSyntax
		}
		return OfBool(b), nil
	case Date:
		d, err := time.Parse("2006-01-02", text)
		if err != nil || d.Year() < 1 {
			return Value{}, ErrSyntax
		}
		return OfDay(d.Unix() / 86400), nil
	case Timestamp:
		if len(text) > len("2006-01-02 ") {
			if _, _, zoned := cutOffset(text[len("2006-01-02 "):]); zoned {
				return Value{}, ErrSyntax
			}
		}
		return ParseTimestamp(text, nil)
	case Time:
		micros, err := parseTime(text)
		if err != nil {
			return Value{}, err
		}
		return Value{Type: Time, Int: micros}, nil
	}
	return Value{}, ErrSyntax
}

// ParseIn is [Parse], except that the text of a Timestamp may have an offset from UTC, as in [ParseTimestamp].
func ParseIn(t Type, text string, zone *time.Location) (Value, error) {
	if t == Timestamp {
		return ParseTimestamp(text, zone)
	}
	return Parse(t, text)
}

var booleans = map[string]bool{"true": true, "false": false, "t": true, "f": false, "1": true, "0": false}

func lowerASCII(s string) string {
	if len(s) > 5 {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func containsNUL(s string) bool {
	for i := range len(s) {
		if s[i] == 0 {
			return true
		}
	}
	return false
}

func parseReal(text string) (Value, error) {
	for i := range len(text) {
		switch text[i] {
		case '_', 'x', 'X', 'p', 'P':
			return Value{}, ErrSyntax // forms that only Go accepts, such as hexadecimal numbers
		}
	}
	if len(text) == 4 && (text[0] == '-' || text[0] == '+') && lowerASCII(text[1:]) == "nan" {
		return OfReal(math.NaN()), nil // strconv accepts a sign before Inf only; C's printf writes -nan
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(x, 0) { // a decimal beyond the largest double becomes ±Inf
		return Value{}, ErrSyntax
	}
	return OfReal(x), nil
}

// Compare orders two values of one type. It returns −1, 0 or 1. Text is compared by bytes, false comes before true,
// and NULL comes last.
func Compare(a, b Value) int {
	if a.Null || b.Null {
		return boolCompare(a.Null, b.Null)
	}
	switch a.Type {
	case Real:
		return cmp.Compare(a.Real, b.Real)
	case Text:
		return cmp.Compare(a.Text, b.Text)
	case Boolean:
		return boolCompare(a.Bool, b.Bool)
	default:
		return cmp.Compare(a.Int, b.Int)
	}
}

// Identical reports whether two values have the same type and are equal to the last bit. 0 and −0 are different,
// and two NULLs of one type are identical.
func Identical(a, b Value) bool {
	if a.Type != b.Type || a.Null != b.Null {
		return false
	}
	if a.Null || a.Type != Real {
		return a.Null || Compare(a, b) == 0
	}
	return math.Float64bits(a.Real) == math.Float64bits(b.Real)
}

// IsTrue reports whether v is the boolean TRUE, and neither FALSE nor NULL.
func (v Value) IsTrue() bool { return !v.Null && v.Bool }

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// String returns the value in the form that Parse reads, or "NULL". An Interval is a number of microseconds.
func (v Value) String() string {
	if v.Null {
		return "NULL"
	}
	switch v.Type {
	case Integer:
		return strconv.FormatInt(v.Int, 10)
	case Real:
		return strconv.FormatFloat(v.Real, 'g', -1, 64)
	case Text:
		return v.Text
	case Boolean:
		return strconv.FormatBool(v.Bool)
	case Date:
		return time.Unix(v.Int*86400, 0).UTC().Format("2006-01-02")
	case Timestamp:
		return OfDay(DayOf(v.Int)).String() + " " + timeText(TimeOf(v.Int))
	case Time:
		return timeText(v.Int)
	case Interval:
		return strconv.FormatInt(v.Int, 10) + " microseconds"
	}
	return "?"
}
