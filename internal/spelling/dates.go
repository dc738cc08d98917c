package spelling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// form is a form of dates or timestamps, in parts: fields, and the separators between them.
type form struct {
	fields []string // the possible fields
	parts  []string
}

// newForm splits a form such as DD.MM.YYYY, which policy.DateShape or policy.TimestampShape accepts.
func newForm(text string, fields []string) form {
	f := form{fields: fields}
	for text != "" {
		_, size := utf8.DecodeRuneInString(text)
		for _, field := range fields {
			if strings.HasPrefix(text, field) {
				size = len(field)
				break
			}
		}
		f.parts, text = append(f.parts, text[:size]), text[size:]
	}
	return f
}

// read returns the digits of each field of a text of this form by the field's first letter, with at least two digits
// each, and the text that follows. It reports false if the text does not have this form.
func (f form) read(text string) (digits map[byte]string, rest string, ok bool) {
	digits = map[byte]string{}
	for _, part := range f.parts {
		if !slices.Contains(f.fields, part) {
			if text, ok = strings.CutPrefix(text, part); !ok {
				return nil, "", false
			}
			continue
		}
		if part == "AM" {
			if len(text) < 2 || !slices.Contains([]string{"AM", "PM"}, strings.ToUpper(text[:2])) {
				return nil, "", false
			}
			digits['A'], text = strings.ToUpper(text[:2]), text[2:]
			continue
		}
		n, width := 0, max(len(part), 2)
		for n < len(text) && n < width && '0' <= text[n] && text[n] <= '9' {
			n++
		}
		if n < len(part) {
			return nil, "", false
		}
		digits[part[0]] = text[:n]
		if n == 1 {
			digits[part[0]] = "0" + text[:n]
		}
		text = text[n:]
	}
	return digits, text, true
}

// date returns a date of this form as YYYY-MM-DD. It reports false if the text does not have this form. Whether the day
// exists is not checked.
func (f form) date(text string) (string, bool) {
	d, rest, ok := f.read(text)
	return d['Y'] + "-" + d['M'] + "-" + d['D'], ok && rest == ""
}

// timestamp returns a timestamp of this form in ISO 8601. After seconds at the end of the form, a point or a comma and
// a fraction may follow. It reports false if the text does not have this form. Whether the moment exists is not checked.
func (f form) timestamp(text string) (string, bool) {
	d, rest, ok := f.read(text)
	if !ok {
		return "", false
	}
	if rest != "" {
		if f.parts[len(f.parts)-1] != "ss" || rest[0] != '.' && rest[0] != ',' {
			return "", false
		}
		rest = "." + rest[1:]
	}
	hour := d['h']
	if half, twelve := d['A']; twelve {
		n, _ := strconv.Atoi(hour) // two digits
		if n < 1 || n > 12 {
			return "", false
		}
		if n %= 12; half == "PM" {
			n += 12
		}
		hour = fmt.Sprintf("%02d", n)
	}
	second := d['s']
	if second == "" {
		second = "00"
	}
	return d['Y'] + "-" + d['M'] + "-" + d['D'] + " " + hour + ":" + d['m'] + ":" + second + rest, true
}
