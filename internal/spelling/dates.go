package spelling

import (
	"slices"
	"strings"
	"unicode/utf8"

	"dither/internal/policy"
)

// dateForm is a form of dates, in parts: fields of digits, and the separators between them.
type dateForm []string

// newDateForm splits a form such as DD.MM.YYYY, which policy.DateShape accepts.
func newDateForm(form string) (parts dateForm) {
	for form != "" {
		_, size := utf8.DecodeRuneInString(form)
		for _, f := range policy.DateFields {
			if strings.HasPrefix(form, f) {
				size = len(f)
				break
			}
		}
		parts, form = append(parts, form[:size]), form[size:]
	}
	return parts
}

// iso returns a date of this form as YYYY-MM-DD. It reports false if the text does not have this form. Whether the day
// exists is not checked.
func (f dateForm) iso(text string) (string, bool) {
	var year, month, day string
	for _, part := range f {
		if !slices.Contains(policy.DateFields, part) {
			rest, ok := strings.CutPrefix(text, part)
			if !ok {
				return "", false
			}
			text = rest
			continue
		}
		n, width := 0, max(len(part), 2)
		for n < len(text) && n < width && '0' <= text[n] && text[n] <= '9' {
			n++
		}
		if n < len(part) {
			return "", false
		}
		digits := text[:n]
		if n == 1 {
			digits = "0" + digits
		}
		text = text[n:]
		switch part[0] {
		case 'Y':
			year = digits
		case 'M':
			month = digits
		default:
			day = digits
		}
	}
	return year + "-" + month + "-" + day, text == ""
}
