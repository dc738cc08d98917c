// Package spelling reads the texts of a source's fields as values, by the spelling that the policy declares.
//
// The value of a field is a pure function of the declaration and of the field's own text, so no row changes how
// another row is read. Nothing is guessed: a text that does not have the declared form is unreadable.
package spelling

import (
	"slices"
	"strings"

	"dither/internal/policy"
	"dither/internal/value"
)

// Spelling is the declared spelling of a source's values.
type Spelling struct {
	nulls    []string // texts that mean NULL
	declared *policy.Spelling
	numbers  numbers
	dates    []form
	moments  []form
	words    map[string]bool // further words for booleans, in lower case
}

// New returns the spelling that a source declares.
func New(d policy.Dialect) *Spelling {
	s := &Spelling{nulls: []string{d.Null}, declared: d.Spelling, words: map[string]bool{}}
	if s.declared == nil {
		return s
	}
	s.nulls = append(s.nulls, s.declared.Nulls...)
	s.numbers = numbers{decimal: s.declared.Decimal, thousands: s.declared.Thousands}
	for _, form := range s.declared.Dates {
		s.dates = append(s.dates, newForm(form, policy.DateFields))
	}
	for _, form := range s.declared.Timestamps {
		s.moments = append(s.moments, newForm(form, policy.TimestampFields))
	}
	for _, word := range s.declared.True {
		s.words[word] = true
	}
	for _, word := range s.declared.False {
		s.words[word] = false
	}
	return s
}

// Value returns the value of a field of column c, or NULL. It reports false if the text is unreadable. In order:
//
//  1. The text is tidied as the column declares.
//  2. An unquoted field with a text that means NULL is NULL.
//  3. The text is read as the column's type.
//  4. In a column of any type but text, a blank field is NULL, and quotes do not matter for texts that mean NULL.
func (s *Spelling) Value(c *policy.Column, text string, quoted bool) (value.Value, bool) {
	if c.Trim {
		text = strings.TrimSpace(text)
	}
	if !quoted && s.isNull(text) {
		return value.NullOf(c.Type), true
	}
	if v, ok := s.parse(c, text); ok {
		return v, true
	}
	if c.Type != value.Text && (s.isNull(text) || strings.TrimSpace(text) == "") {
		return value.NullOf(c.Type), true
	}
	return value.NullOf(c.Type), false
}

func (s *Spelling) isNull(text string) bool { return slices.Contains(s.nulls, text) }

// parse reads a text that is not NULL.
func (s *Spelling) parse(c *policy.Column, text string) (value.Value, bool) {
	if c.Case != "" {
		text = c.Tidy(text)
	}
	if s.declared != nil {
		switch c.Type {
		case value.Integer, value.Real:
			plain, ok := s.numbers.plain(text)
			if !ok {
				return value.Value{}, false
			}
			text = plain
		case value.Boolean:
			if b, ok := s.words[strings.ToLower(text)]; ok {
				return value.OfBool(b), true
			}
		case value.Date:
			if len(s.dates) > 0 {
				return s.date(text)
			}
		case value.Timestamp:
			if len(s.moments) > 0 {
				return s.moment(text)
			}
		default:
		}
	}
	v, err := value.ParseIn(c.Type, text, c.Zone)
	return v, err == nil
}

// date reads a date in the one declared form that fits.
func (s *Spelling) date(text string) (value.Value, bool) {
	for _, form := range s.dates {
		if iso, ok := form.date(text); ok {
			v, err := value.Parse(value.Date, iso)
			return v, err == nil
		}
	}
	return value.Value{}, false
}

// moment reads a timestamp in the one declared form that fits. The form has no offset from UTC, so the text is the time
// that clocks in the policy's zone show.
func (s *Spelling) moment(text string) (value.Value, bool) {
	for _, form := range s.moments {
		if iso, ok := form.timestamp(text); ok {
			v, err := value.ParseIn(value.Timestamp, iso, nil)
			return v, err == nil
		}
	}
	return value.Value{}, false
}
