package plot

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"dither/internal/exact"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// longest is the largest number of characters that are read of a text of one or two lines. Longer ones never fit.
const longest = 400

// clean replaces characters that a picture, an XML document or a terminal cannot show. These are control and format
// characters, which may change the direction of writing, line ends, invalid UTF-8 and unassigned code points.
func clean(s string) string { return cleaned(s, longest) }

// cleaned is [clean] for a text of which at most the given number of characters are read.
func cleaned(s string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > most {
			break
		}
		switch {
		case r == utf8.RuneError,
			unicode.IsControl(r),
			unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp),
			r&0xfffe == 0xfffe:
			r = '·'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cut shortens a text to a width.
func cut(sty draw.TextStyle, s string, width vg.Length) string {
	if sty.Width(s) <= width {
		return s
	}
	r := []rune(s)
	// cutting to short characters makes the text fit, or short is 0; long characters do not fit
	short, long := 0, len(r)
	for long-short > 1 {
		middle := (short + long) / 2
		if sty.Width(string(r[:middle])+"…") <= width {
			short = middle
		} else {
			long = middle
		}
	}
	return strings.TrimRight(string(r[:short]), " ") + "…"
}

// wrap breaks a text between words into at most the given number of lines. Lines that are too long are cut.
func wrap(sty draw.TextStyle, s string, width vg.Length, lines int) []string {
	words := strings.Fields(s)
	var out []string
	for len(words) > 0 && len(out) < lines-1 {
		n := 1
		for n < len(words) && sty.Width(strings.Join(words[:n+1], " ")) <= width {
			n++
		}
		out = append(out, cut(sty, strings.Join(words[:n], " "), width))
		words = words[n:]
	}
	if len(words) > 0 {
		out = append(out, cut(sty, strings.Join(words, " "), width))
	}
	return out
}

// runes cuts or pads a text to exactly n characters.
func runes(s string, n int) string {
	r := []rune(s)
	if len(r) > n {
		r = append(r[:max(n-1, 0)], '…')
	}
	return string(r) + strings.Repeat(" ", n-len(r))
}

// number writes a number with the given number of decimal places and groups of three digits. Very large numbers and
// numbers with many places are written with an exponent.
func number(x float64, places int) string {
	if x == 0 {
		x = 0 // turns −0 into 0
	}
	if a := math.Abs(x); a >= 1e12 || places > 9 {
		return strings.NewReplacer("e+", "e", "-", "−").Replace(exact.FormatFloat(x, 'g', 4))
	}
	whole, fraction, _ := strings.Cut(exact.FormatFloat(math.Abs(x), 'f', places), ".")
	var b strings.Builder
	if x < 0 && strings.Trim(whole+fraction, "0") != "" {
		b.WriteString("−")
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if fraction != "" {
		b.WriteString("." + fraction)
	}
	return b.String()
}
