package enginetest

import (
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// textOf computes a function of a text character by character, without the functions of package text.
func textOf(e *bounded.Expr, s []rune) value.Value {
	n := func(i int) int { return int(min(e.Args[i].Const.Int, int64(len(s)))) }
	with := func() []rune { return []rune(e.Args[1].Const.Text) }
	switch e.Text {
	case "length":
		return value.OfInt(int64(len(s)))
	case "octet_length":
		return value.OfInt(int64(len(string(s))))
	case "left":
		return value.OfText(string(s[:n(1)]))
	case "right":
		return value.OfText(string(s[len(s)-n(1):]))
	case "substring":
		s = s[min(int(e.Args[1].Const.Int)-1, len(s)):]
		if len(e.Args) == 3 {
			s = s[:n(2)]
		}
		return value.OfText(string(s))
	case "strpos":
		for i := range s {
			if part := with(); i+len(part) <= len(s) && slices.Equal(s[i:i+len(part)], part) {
				return value.OfInt(int64(i + 1))
			}
		}
		return value.OfInt(0)
	case "split_part":
		parts := append(strings.Split(string(s), e.Args[1].Const.Text), make([]string, e.Args[2].Const.Int)...)
		return value.OfText(parts[e.Args[2].Const.Int-1])
	}
	for e.Text != "rtrim" && len(s) > 0 && slices.Contains(with(), s[0]) {
		s = s[1:]
	}
	for e.Text != "ltrim" && len(s) > 0 && slices.Contains(with(), s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return value.OfText(string(s))
}
