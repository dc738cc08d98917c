package post

import (
	"math"
	"strconv"
	"strings"

	"dither/internal/value"
)

// numberFormat is a format of PostgreSQL's to_char for numbers: 9, 0, a decimal point, commas, MI, FM, and signs that
// stand for themselves.
type numberFormat struct {
	parts     []string // "9", "0", ".", ",", "MI", or a text that begins with NUL
	pre, post int      // the numbers of digits before and after the point
	point     bool
	bare      bool // FM: without blanks and zeros that fill the number up
	minus     bool // MI: the sign stands in a place of its own
	zeros     bool
	zeroStart int // the first place with 0, among those before the point
	zeroEnd   int // the last place with 0, among all
}

// parseNumberFormat parses a format. The boolean is false if it has a pattern that dither does not support.
func parseNumberFormat(text string) (f numberFormat, ok bool) {
	const most = 64
	if len(text) > most {
		return f, false
	}
	for text != "" {
		part, length := text[:1], 1
		switch upper := strings.ToUpper(text); {
		case upper[0] == '9' && f.point:
			f.post++
		case upper[0] == '9':
			f.pre++
		case upper[0] == '0':
			if !f.zeros && !f.point {
				f.zeros, f.zeroStart = true, f.pre
			}
			if f.point {
				f.post++
			} else {
				f.pre++
			}
			f.zeroEnd = f.pre + f.post
		case (upper[0] == '.' || upper[0] == 'D') && !f.point:
			part, f.point = ".", true
		case upper[0] == ',' || upper[0] == 'G':
			part = ","
		case strings.HasPrefix(upper, "FM"):
			f.bare, part, length = true, "", 2
		case strings.HasPrefix(upper, "MI") && len(text) == 2 && !f.minus:
			f.minus, part, length = true, "MI", 2
		case strings.ContainsAny(upper[:1], " -%$/:()"):
			part = "\x00" + text[:1]
		default:
			return f, false
		}
		if part != "" {
			f.parts = append(f.parts, part)
		}
		text = text[length:]
	}
	return f, f.pre+f.post > 0 && f.point == (f.post > 0)
}

// char returns the text of a whole number or a real in the format, as PostgreSQL's to_char does for a bigint or a double
// precision number. It follows NUM_processor of PostgreSQL's formatting.c.
func (f numberFormat) char(v value.Value) string {
	digits, negative := f.digits(v)
	point := strings.IndexByte(digits, '.')
	whole := len(digits)
	if point >= 0 {
		whole = point
	}
	w := numberWriter{numberFormat: f, digits: digits, blanks: max(f.pre-whole, 0), negative: negative, last: -1}
	if whole > f.pre {
		w.digits = strings.Repeat("#", f.pre) + "." + strings.Repeat("#", f.post)
	}
	return w.text()
}

// digits returns the digits of the number, with as many after the point as the format shows.
func (f numberFormat) digits(v value.Value) (digits string, negative bool) {
	if v.Type == value.Integer {
		digits = strconv.FormatInt(v.Int, 10)
		if f.post > 0 {
			digits += "." + strings.Repeat("0", f.post)
		}
	} else {
		const exact = 15 // digits of a double
		whole := len(strconv.FormatFloat(math.Abs(v.Real), 'f', 0, 64))
		digits = strconv.FormatFloat(v.Real, 'f', max(min(f.post, exact-whole), 0), 64)
	}
	return strings.TrimPrefix(digits, "-"), digits[0] == '-'
}

// numberWriter writes one number.
type numberWriter struct {
	numberFormat

	digits   string
	at       int // the next of digits
	blanks   int // the places before the point that the number does not fill
	negative bool
	last     int // with FM, the last digit that is not a zero at the end; −1 without
	place    int // the number of the next place
	signed   bool
	inside   bool // whether a digit was written
	ended    bool // a double has no further digits, and PostgreSQL writes nothing after them
	out      strings.Builder
}

func (w *numberWriter) text() string {
	w.signed = w.minus || w.bare && !w.negative
	if w.bare && w.point {
		if point := strings.IndexByte(w.digits, '.'); point >= 0 {
			w.last = max(point, strings.LastIndexFunc(w.digits, func(r rune) bool { return r != '0' }))
			if w.zeroEnd > w.blanks {
				w.last = max(w.last, min(len(w.digits)-1, w.zeroEnd-w.blanks))
			}
		}
	}
	for _, p := range w.parts {
		switch {
		case w.ended:
		case p == "9" || p == "0" || p == ".":
			w.digit(p)
		case p == "," && w.inside:
			w.out.WriteByte(',')
		case p == "MI" && w.negative:
			w.out.WriteByte('-')
		case p == "," || p == "MI":
			w.blank()
		default:
			w.out.WriteString(p[1:])
		}
	}
	return w.out.String()
}

func (w *numberWriter) blank() {
	if !w.bare {
		w.out.WriteByte(' ')
	}
}

// digit writes what stands in one place: a blank, a zero, a digit or the point, and the sign before the first of them.
func (w *numberWriter) digit(pattern string) {
	w.inside = false
	before := w.place < w.blanks // the number does not reach this place
	lone := !w.zeros && w.at == 0 && strings.HasPrefix(w.digits, "0") && w.post > 0
	ends := w.last >= 0 && w.digits[w.last] == '.' // FM leaves no digit after the point
	if !w.signed && (!before || w.zeros && w.zeroStart == w.place) && (!lone || ends) {
		if w.negative {
			w.out.WriteByte('-')
		} else {
			w.blank()
		}
		w.signed = true
	}
	switch {
	case before && (!w.zeros || w.zeroStart > w.place):
		w.blank()
	case before:
		w.out.WriteByte('0')
		w.inside = true
	case w.at >= len(w.digits):
		w.ended = true
	default:
		w.reached(pattern, lone, ends)
		w.at++
	}
	w.place++
}

// reached writes the next digit or the point of the number.
func (w *numberWriter) reached(pattern string, lone, ends bool) {
	switch {
	case w.digits[w.at] == '.':
		w.out.WriteByte('.')
	case w.last >= 0 && w.at > w.last && pattern != "0":
	case lone && ends && w.bare:
		w.out.WriteByte('0')
	case lone: // 0.5 is " .5"
		w.blank()
	default:
		w.out.WriteByte(w.digits[w.at])
		w.inside = true
	}
}
