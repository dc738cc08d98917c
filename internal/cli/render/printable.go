package render

import (
	"fmt"
	"strings"
)

// steers reports a character that could steer a terminal, or the order in which it writes.
func steers(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x61c || r >= 0x200e && r <= 0x200f || r >= 0x2028 && r <= 0x202e ||
		r >= 0x2066 && r <= 0x2069
}

// PrintableJSON writes such characters as escapes, which mean the same. (In JSON they can stand in strings only; the
// newlines between lines stay.) A zero has no sign.
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

// minusZero reports that the number -0, as encoding/json writes it, begins at i; what may be there else is a number below 0, or an exponent.
func minusZero(text []byte, i int) bool {
	if i > 0 && (text[i-1] == 'e' || text[i-1] == 'E') || i+1 >= len(text) || text[i+1] != '0' {
		return false
	}
	return i+2 == len(text) || strings.IndexByte(",]} \t\r\n", text[i+2]) >= 0
}

// Printable replaces control characters, so that a text cannot steer the terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if steers(r) {
			return '·'
		}
		return r
	}, s)
}

// PrintableLines is printable for a text of several lines.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Printable(l)
	}
	return strings.Join(lines, "\n")
}
