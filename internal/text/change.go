package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dither/internal/value"
)

// lower and upper map each character to one character, as PostgreSQL does with the collation C.UTF-8: ß stays ß.
func lower(s string) string { return strings.Map(unicode.ToLower, s) }

func upper(s string) string { return strings.Map(unicode.ToUpper, s) }

// Fold maps the letters a to z to the upper case, or A to Z to the lower case. Other characters stay.
func Fold(s string, toUpper bool) string {
	return strings.Map(func(r rune) rune {
		switch {
		case toUpper && 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case !toUpper && 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// initcap writes the first letter of each word in upper case, and the others in lower case. A word is a sequence of
// letters and digits.
func initcap(s string) string {
	inside := false
	return strings.Map(func(r rune) rune {
		was := inside
		inside = unicode.IsLetter(r) || unicode.IsDigit(r)
		if was {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func reverse(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// trim removes blanks, or the characters of the second argument, from the ends.
func trim(start, end bool) func([]value.Value) (value.Value, bool) {
	return func(args []value.Value) (value.Value, bool) {
		s, set := args[0].Text, " "
		if len(args) == 2 {
			set = args[1].Text
		}
		if start {
			s = strings.TrimLeft(s, set)
		}
		if end {
			s = strings.TrimRight(s, set)
		}
		return value.OfText(s), true
	}
}

func replace(args []value.Value) (value.Value, bool) {
	s, from, to := args[0].Text, args[1].Text, args[2].Text
	if from == "" {
		return value.OfText(s), true
	}
	if len(s)+strings.Count(s, from)*(len(to)-len(from)) > value.MaxTextBytes {
		return value.Value{}, false
	}
	return value.OfText(strings.ReplaceAll(s, from, to)), true
}

// translate replaces each character of the second argument by the character at its place in the third. It removes
// characters that have no such place.
func translate(args []value.Value) (value.Value, bool) {
	from, to := []rune(args[1].Text), []rune(args[2].Text)
	return value.OfText(strings.Map(func(r rune) rune {
		switch at := slices.Index(from, r); {
		case at < 0:
			return r
		case at < len(to):
			return to[at]
		}
		return -1
	}, args[0].Text)), true
}

// pad extends a text to a number of characters, at its start or its end. It cuts the end of a longer text off.
func pad(atStart bool) func([]value.Value) (value.Value, bool) {
	return func(args []value.Value) (value.Value, bool) {
		s, size, fill := []rune(args[0].Text), args[1].Int, []rune{' '}
		if len(args) == 3 {
			fill = []rune(args[2].Text)
		}
		missing := size - int64(len(s))
		switch {
		case size <= 0:
			return value.OfText(""), true
		case missing <= 0:
			return value.OfText(string(s[:size])), true
		case len(fill) == 0:
			return value.OfText(string(s)), true
		case missing > value.MaxTextBytes:
			return value.Value{}, false
		}
		with := make([]rune, missing)
		for i := range with {
			with[i] = fill[i%len(fill)]
		}
		if atStart {
			return value.OfText(string(with) + string(s)), true
		}
		return value.OfText(string(s) + string(with)), true
	}
}

func repeat(args []value.Value) (value.Value, bool) {
	s, times := args[0].Text, max(args[1].Int, 0)
	if s == "" {
		return value.OfText(""), true
	}
	if times > value.MaxTextBytes || int(times)*len(s) > value.MaxTextBytes {
		return value.Value{}, false
	}
	return value.OfText(strings.Repeat(s, int(times))), true
}

// joined joins the texts of two arguments that are not NULL.
func joined(args []value.Value) (value.Value, bool) {
	return value.OfText(Of(args[0]) + Of(args[1])), true
}

// concat joins the texts of its arguments, and leaves NULLs out.
func concat(args []value.Value) (value.Value, bool) {
	return concatWith(append([]value.Value{value.OfText("")}, args...))
}

// concatWith joins the texts of all arguments but the first, which it writes between them. It leaves NULLs out.
func concatWith(args []value.Value) (value.Value, bool) {
	if args[0].Null {
		return value.NullOf(value.Text), true
	}
	var parts []string
	for _, a := range args[1:] {
		if a.Null {
			continue
		}
		s := Of(a)
		if a.Type == value.Boolean { // CONCAT writes t and f; a cast writes true and false
			s = s[:1]
		}
		parts = append(parts, s)
	}
	size := 0
	for _, p := range parts {
		size += len(p) + len(args[0].Text)
	}
	if size > value.MaxTextBytes+len(args[0].Text) {
		return value.Value{}, false
	}
	return value.OfText(strings.Join(parts, args[0].Text)), true
}

// length counts the characters: code points, as in PostgreSQL.
func length(args []value.Value) (value.Value, bool) {
	return value.OfInt(int64(utf8.RuneCountInString(args[0].Text))), true
}

func bytes(args []value.Value) (value.Value, bool) {
	return value.OfInt(int64(len(args[0].Text))), true
}

// ascii returns the code point of the first character, or 0 for an empty text.
func ascii(args []value.Value) (value.Value, bool) {
	if args[0].Text == "" {
		return value.OfInt(0), true
	}
	r, _ := utf8.DecodeRuneInString(args[0].Text)
	return value.OfInt(int64(r)), true
}
