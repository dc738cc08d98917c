package render

import (
	"fmt"
	"strings"
)

// steers reports whether a character could control a terminal or the direction of writing.
func steers(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x61c || r >= 0x200e && r <= 0x200f || r >= 0x2028 && r <= 0x202e ||
		r >= 0x2066 && r <= 0x2069
}

// PrintableJSON replaces characters that could control a terminal by equivalent JSON escapes. In JSON, they can
// only occur in strings. Newlines between lines stay. It also removes the sign of −0.
func PrintableJSON(text []byte) string {
	var b strings.Builder
	quoted, escaped := false, false
	for i, r := range string(text) {
		if !quoted && r == '-' && minusZero(text, i) {
			continue
		}
		quoted, escaped = quoted != (r == '"' && !escaped), quoted && r == '\\' && !escaped
		if steers(r) && r != '\n' {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// minusZero reports whether the minus sign at index i begins the number -0, as encoding/json writes it. Otherwise
// the sign belongs to a negative number or an exponent.
func minusZero(text []byte, i int) bool {
	if i > 0 && (text[i-1] == 'e' || text[i-1] == 'E') || i+1 >= len(text) || text[i+1] != '0' {
		return false
	}
	return i+2 == len(text) || strings.IndexByte(",]} \t\r\n", text[i+2]) >= 0
}

// Printable replaces control characters, so that a text cannot control the terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if steers(r) {
			return '·'
		}
		return r
	}, s)
}

// PrintableLines replaces control characters except newlines.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Printable(l)
	}
	return strings.Join(lines, "\n")
}
