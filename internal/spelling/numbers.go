package spelling

import (
	"strings"
	"unicode/utf8"
)

// numbers is the declared spelling of numbers. "" stands for a decimal point, and for nothing between thousands.
type numbers struct{ decimal, thousands string }

// plain returns a number with a decimal point and nothing between thousands. It reports false if the number has other
// marks than the declared ones, or has them in other places: a number either has a mark before every group of three
// digits, or none.
func (n numbers) plain(text string) (string, bool) {
	if n == (numbers{}) {
		return text, true
	}
	decimal := n.decimal
	if decimal == "" {
		decimal = "."
	}
	whole, rest, found := strings.Cut(text, decimal)
	if !found {
		if i := strings.IndexAny(text, "eE"); i >= 0 { // an exponent directly after the whole part
			whole, rest = text[:i], text[i:]
		}
	}
	if strings.ContainsAny(rest, ".,") {
		return "", false
	}
	whole, ok := n.ungrouped(whole)
	if found {
		whole += "."
	}
	return whole + rest, ok
}

// ungrouped removes the marks between the thousands of a whole number. It reports false if a mark is misplaced, or if
// a point or a comma remains.
func (n numbers) ungrouped(whole string) (string, bool) {
	var b strings.Builder
	digits, marked := 0, false // the digits since the last mark or the start, and whether there was a mark
	for i := 0; i < len(whole); {
		c, size := utf8.DecodeRuneInString(whole[i:])
		switch {
		case '0' <= c && c <= '9':
			digits++
			b.WriteByte(byte(c))
		case n.marks(c):
			if digits == 0 || digits > 3 || marked && digits != 3 {
				return "", false
			}
			digits, marked = 0, true
		case c == '.' || c == ',':
			return "", false
		default: // a sign, or letters, which value.Parse judges
			b.WriteString(whole[i : i+size])
		}
		i += size
	}
	return b.String(), !marked || digits == 3
}

// marks reports whether c is the declared character between thousands. A space stands for the no-break spaces too, and
// each apostrophe for the other.
func (n numbers) marks(c rune) bool {
	switch n.thousands {
	case " ":
		return c == ' ' || c == '\u00a0' || c == '\u202f'
	case "'", "’":
		return c == '\'' || c == '’'
	}
	return n.thousands == string(c)
}
