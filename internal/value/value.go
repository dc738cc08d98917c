// Package value holds SQL scalars: a table's cells, a policy's declared values and a plan's constants. There are five
// types, each with NULL, compared and written the same way everywhere.
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

// Type is a column's or an expression's type.
type Type int

// The five types.
const (
	Integer Type = iota + 1 // 64-bit signed
	Real                    // IEEE 754 double precision, finite
	Text                    // UTF-8, compared by bytes
	Boolean
	Date // proleptic Gregorian, days since 1970-01-01
)

var typeNames = map[Type]string{Integer: "integer", Real: "real", Text: "text", Boolean: "boolean", Date: "date"}

// String is the name that ParseType reads.
func (t Type) String() string {
	if name, ok := typeNames[t]; ok {
		return name
	}
	return fmt.Sprintf("Type(%d)", int(t))
}

// ParseType reads "integer", "real", "text", "boolean" or "date".
func ParseType(name string) (Type, bool) {
	for t, n := range typeNames {
		if n == name {
			return t, true
		}
	}
	return 0, false
}

// Value is one scalar. Only the field that Type names is used; a Date has its day number in Int. The zero Value has no
// type; NULL is a Value with Null set.
type Value struct {
	Type Type
	Null bool
	Int  int64
	Real float64
	Text string
	Bool bool
}

// NullOf is NULL of a type.
func NullOf(t Type) Value { return Value{Type: t, Null: true} }

// OfInt is an Integer value.
func OfInt(n int64) Value { return Value{Type: Integer, Int: n} }

// OfReal is a Real value.
func OfReal(x float64) Value { return Value{Type: Real, Real: x} }

// OfText is a Text value.
func OfText(s string) Value { return Value{Type: Text, Text: s} }

// OfBool is a Boolean value.
func OfBool(b bool) Value { return Value{Type: Boolean, Bool: b} }

// OfDay is a Date value, days since 1970-01-01.
func OfDay(day int64) Value { return Value{Type: Date, Int: day} }

// Days that a Date may take: years 1 to 9999.
const (
	MinDay = -719162
	MaxDay = 2932896
)

// MaxTextBytes bounds a text cell, so that every function of a text has a bounded cost.
const MaxTextBytes = 4096

// ErrSyntax reports a text that does not spell a value of the type.
var ErrSyntax = errors.New("does not spell a value of the type")

// Parse parses the text of a value: decimal integers of 64 bits; decimal reals, with "NaN", "Inf" and "Infinity" in any
// case and sign; "true", "false", "t", "f", "1", "0" in any case; dates as YYYY-MM-DD, years 0001 to 9999; text of
// valid UTF-8 without NUL, at most MaxTextBytes. Anything else is ErrSyntax.
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
	}
	return Value{}, ErrSyntax
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
			return Value{}, ErrSyntax // Go's own non-decimal forms
		}
	}
	if len(text) == 4 && (text[0] == '-' || text[0] == '+') && lowerASCII(text[1:]) == "nan" {
		return OfReal(math.NaN()), nil // strconv takes a sign before Inf only; C's printf writes -nan
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(x, 0) { // a decimal beyond the largest double reads as ±Inf
		return Value{}, ErrSyntax
	}
	return OfReal(x), nil
}

// Compare orders two values of one type, NULL last: -1, 0 or +1. Text is compared by bytes, false before true.
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

// Identical reports that two values are one: of one type, both NULL or neither, and the same to the last bit, so that 0 is not −0.
func Identical(a, b Value) bool {
	if a.Type != b.Type || a.Null != b.Null {
		return false
	}
	if a.Null || a.Type != Real {
		return a.Null || Compare(a, b) == 0
	}
	return math.Float64bits(a.Real) == math.Float64bits(b.Real)
}

// IsTrue reports the boolean TRUE: neither FALSE nor NULL.
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

// String writes the value as Parse reads it; NULL is "NULL".
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
	}
	return "?"
}
