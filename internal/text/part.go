package text

import (
	"math"
	"strings"
	"unicode/utf8"

	"dither/internal/value"
)

// substring returns the characters from a position on, which counts from 1, and at most as many as the third argument
// says. Positions before the text count too: SUBSTRING('abc' FROM -1 FOR 3) is 'a'.
func substring(args []value.Value) (value.Value, bool) {
	s, from, to := []rune(args[0].Text), args[1].Int, int64(math.MaxInt64)
	if len(args) == 3 {
		if args[2].Int < 0 {
			return value.Value{}, false
		}
		if from <= math.MaxInt64-args[2].Int {
			to = from + args[2].Int
		}
	}
	from, to = max(from, 1), min(to, int64(len(s))+1)
	if from >= to {
		return value.OfText(""), true
	}
	return value.OfText(string(s[from-1 : to-1])), true
}

// left returns the first characters, or for a negative number all but the last ones.
func left(args []value.Value) (value.Value, bool) {
	s := []rune(args[0].Text)
	return value.OfText(string(s[:places(s, args[1].Int)])), true
}

// right returns the last characters, or for a negative number all but the first ones.
func right(args []value.Value) (value.Value, bool) {
	s := []rune(args[0].Text)
	return value.OfText(string(s[len(s)-places(s, args[1].Int):])), true
}

// places returns the number of characters that LEFT and RIGHT keep.
func places(s []rune, n int64) int {
	size := int64(len(s))
	if n < 0 {
		return int(max(size+max(n, -size), 0))
	}
	return int(min(n, size))
}

// splitPart returns a part of a text between separators. Parts count from 1, or from -1 at the end.
func splitPart(args []value.Value) (value.Value, bool) {
	s, separator, at := args[0].Text, args[1].Text, args[2].Int
	if at == 0 {
		return value.Value{}, false
	}
	parts := []string{s}
	if separator != "" {
		parts = strings.Split(s, separator)
	}
	if s == "" {
		return value.OfText(""), true
	}
	if at < 0 {
		at += int64(len(parts)) + 1
	}
	if at < 1 || at > int64(len(parts)) {
		return value.OfText(""), true
	}
	return value.OfText(parts[at-1]), true
}

// strpos returns the position of the first occurrence of the second text in the first, or 0 if there is none.
func strpos(args []value.Value) (value.Value, bool) {
	at := strings.Index(args[0].Text, args[1].Text)
	if at < 0 {
		return value.OfInt(0), true
	}
	return value.OfInt(int64(utf8.RuneCountInString(args[0].Text[:at])) + 1), true
}

func startsWith(args []value.Value) (value.Value, bool) {
	return value.OfBool(strings.HasPrefix(args[0].Text, args[1].Text)), true
}
