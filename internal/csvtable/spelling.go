package csvtable

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dither/internal/value"
)

// Misspelt explains why text is not a value of type t, and what its shape suggests. The explanation quotes nothing
// of text.
func Misspelt(t value.Type, text string) string {
	if t == value.Text && len(text) > value.MaxTextBytes {
		return fmt.Sprintf("the text is longer than %d bytes", value.MaxTextBytes)
	}
	fault := "the field is not a value of type " + t.String()
	if hint := shapeOf(t, text); hint != "" {
		fault += ": " + hint
	}
	return fault
}

// shape is a common spelling of values that Parse does not accept, with a hint for it.
type shape struct {
	like *regexp.Regexp
	hint string
}

var (
	numbers = []shape{
		{
			regexp.MustCompile(`^[+-]?\d{1,3}(\.\d{3})+$`),
			`it looks like a number with points between thousands: remove them, or declare source: {thousands: ".", decimal: ","}`,
		},
		{
			regexp.MustCompile(`^[+-]?\d{1,3}(,\d{3}){2,}(\.\d*)?$|^[+-]?\d{1,3}(,\d{3})+\.\d*$`),
			`it looks like a number with commas between thousands: remove them, or declare source: {thousands: ","}`,
		},
		{
			regexp.MustCompile(`^[+-]?[\d.]*,\d*$`),
			`it looks like a number with a comma: write a decimal point, or declare source: {decimal: ","}`,
		},
		{
			regexp.MustCompile(`^[+-]?\d{1,3}([ '’\x{a0}\x{202f}]\d{3})+([.,]\d*)?$`),
			"it looks like a number with characters between thousands: remove them, or declare source: {thousands: …}",
		},
		{
			regexp.MustCompile(`^[+-]?\d*\.?\d+ ?[%€$£]$|^[€$£] ?[+-]?\d*\.?\d+$`),
			"it looks like a number with a unit: remove the unit",
		},
	}
	wholes = []shape{
		{
			regexp.MustCompile(`^[+-]?\d*\.\d*$|^[+-]?\d+(\.\d*)?[eE][+-]?\d+$`),
			"it has a decimal point or an exponent: check whether the column should have type real",
		},
	}
	moments = []shape{{
		regexp.MustCompile(`^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}[, ]+\d{1,2}:\d{2}`),
		"it looks like a timestamp in another form: declare source: {timestamps: …}, such as D.M.YYYY hh:mm",
	}}
	dates = []shape{
		{
			regexp.MustCompile(`^\d{1,2}\.\d{1,2}\.(\d{4}|\d{2})$`),
			"it looks like a date in the form day.month.year: write YYYY-MM-DD, or declare source: {dates: D.M.YYYY}",
		},
		{regexp.MustCompile(`^\d{1,2}/\d{1,2}/(\d{4}|\d{2})$`), "it looks like a date with slashes: write YYYY-MM-DD, or declare source: {dates: …}"},
		{
			regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[T ]`),
			"it looks like a date with a time: write only YYYY-MM-DD, or declare type: timestamp",
		},
		{
			regexp.MustCompile(`^\d{4}[/.]?\d{1,2}[/.]?\d{1,2}$|^\d{4}-\d{1,2}-\d{1,2}$`),
			"it looks like a date: write an existing day as YYYY-MM-DD",
		},
	}
)

var (
	missing = []string{"na", "n/a", "nan", "null", "none", "nil", "-", "--", ".", "?", "#n/a", "missing", "\\n"}
	answers = []string{
		"yes", "no", "y", "n", "on", "off", "ja", "nein", "j", "oui", "non", "si", "sí", "x", "wahr",
		"falsch", "vrai", "faux",
	}
)

// shapeOf returns a hint for the shape that an unreadable field resembles, or "".
func shapeOf(t value.Type, text string) string {
	const longest = 64 // longer fields get no hint
	trimmed := strings.TrimSpace(text)
	if len(text) > longest {
		return ""
	}
	if _, err := value.ParseIn(t, trimmed, nil); err == nil && trimmed != text {
		return "it has spaces at its start or end: remove them, or declare trim for the column"
	}
	word := strings.ToLower(trimmed)
	switch {
	case text == "":
		return `it is empty: if that means NULL, declare source: {null: ""} and nullable: true`
	case trimmed == "":
		return "it contains only spaces"
	case slices.Contains(missing, word):
		return "it looks like a word for a missing value: declare it by source: {null: …}, or declare invalid: null"
	}
	var shapes []shape
	switch t {
	case value.Integer:
		shapes = append(slices.Clone(numbers), wholes...)
	case value.Real:
		shapes = numbers
	case value.Date:
		shapes = dates
	case value.Timestamp:
		shapes = append(slices.Clone(moments), dates...)
	case value.Boolean:
		if slices.Contains(answers, word) {
			return "it looks like a word for yes or no: write true or false, or declare source: {booleans: …}"
		}
	}
	for _, s := range shapes {
		if s.like.MatchString(trimmed) {
			return s.hint
		}
	}
	return ""
}
