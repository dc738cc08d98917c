package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// forms reads the forms of dates or timestamps, whose shapes the function shape returns. Two forms with the same
// separators are refused, because one text could then be two days.
func (f field) forms(shape func(form string) (shape, wrong string), example string) []string {
	forms := f.words()
	seen := map[string]string{}
	for _, form := range forms {
		found, wrong := shape(form)
		if other, again := seen[found]; wrong == "" && again {
			wrong = fmt.Sprintf("has the separators of %s: one text could be two days", quote(other))
		}
		if wrong != "" {
			f.fail("write, for example, "+example, "the form %s %s", quote(form), wrong)
		}
		seen[found] = form
	}
	return forms
}

// DateFields are the parts that a form of dates consists of, besides separators. TimestampFields are those of a form
// of timestamps. A part of one letter stands for one or two digits, and AM for AM or PM.
var (
	DateFields      = []string{"YYYY", "MM", "DD", "M", "D"}
	TimestampFields = []string{"YYYY", "MM", "DD", "hh", "mm", "ss", "AM", "M", "D", "h"}
)

// DateShape returns the separators of a form of dates, with a digit in place of each of its fields. For a form that
// is not valid, it returns the reason.
func DateShape(form string) (shape, wrong string) {
	shape, letters, separate := formShape(form, DateFields)
	switch {
	case shape == "":
		return "", "consists of YYYY, MM or M, DD or D, and characters between them that are no digits or letters"
	case !separate:
		return "", "needs a separator beside M and D, which stand for one or two digits"
	case len(form) > maxNameBytes || letters != "DMY":
		return "", "must have one year YYYY, one month MM or M, and one day DD or D"
	}
	return shape, ""
}

// TimestampShape is DateShape for a form of timestamps.
func TimestampShape(form string) (shape, wrong string) {
	shape, letters, separate := formShape(form, TimestampFields)
	switch {
	case shape == "":
		return "", "consists of YYYY, MM or M, DD or D, hh or h, mm, ss, AM, and characters between them that are no " +
			"digits or letters"
	case !separate:
		return "", "needs a separator beside M, D and h, which stand for one or two digits"
	case len(form) > maxNameBytes || !slices.Contains([]string{"DMYhm", "DMYhms", "ADMYhm", "ADMYhms"}, letters):
		return "", "must have one year YYYY, month MM or M, day DD or D, hour hh or h, and minute mm, and at most one " +
			"second ss and AM"
	}
	return shape, ""
}

// formShape returns the separators of a form, with 0 in place of each field of digits and A in place of AM, and the
// first letters of the fields in order. The result separate reports whether each field of one letter stands apart from
// its neighbours. The shape is "" if the form contains other letters or digits.
func formShape(form string, fields []string) (shape, letters string, separate bool) {
	var first []byte
	last := ""
	separate = true
	for rest := form; rest != ""; {
		i := slices.IndexFunc(fields, func(f string) bool { return strings.HasPrefix(rest, f) })
		if i < 0 {
			c, size := utf8.DecodeRuneInString(rest)
			if unicode.IsDigit(c) || c < utf8.RuneSelf && unicode.IsLetter(c) || unicode.IsControl(c) {
				return "", "", false
			}
			shape, rest, last = shape+rest[:size], rest[size:], ""
			continue
		}
		now := fields[i]
		if now != "AM" && (len(last) == 1 || last != "" && len(now) == 1) {
			separate = false
		}
		last = now
		if shape, rest = shape+"0", rest[len(now):]; now == "AM" {
			shape, last = shape[:len(shape)-1]+"A", ""
		}
		first = append(first, now[0])
	}
	if shape == "" {
		shape = " " // an empty form lacks its fields
	}
	slices.Sort(first)
	return shape, string(first), separate
}
