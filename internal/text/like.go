package text

import "dither/internal/value"

// likes returns LIKE, or with anyCase ILIKE. The boolean is false if the pattern ends in its escape character.
func likes(anyCase bool) func([]value.Value) (value.Value, bool) {
	return func(args []value.Value) (value.Value, bool) {
		s, pattern := args[0].Text, args[1].Text
		if anyCase {
			s, pattern = lower(s), lower(pattern)
		}
		return value.OfBool(Like(s, pattern)), PatternEnds(pattern)
	}
}

// PatternEnds reports whether a LIKE pattern does not end in its escape character, which nothing would follow.
func PatternEnds(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' {
			continue
		}
		if i++; i == len(pattern) {
			return false
		}
	}
	return true
}

// Like reports whether a text matches a LIKE pattern. On a mismatch it lets the last % match one more character and
// tries again. It never reconsiders an earlier %, which is not needed for correctness and would take exponential
// time.
func Like(s, of string) bool {
	text, pattern := []rune(s), []rune(of)
	at, p, star, resume := 0, 0, -1, 0
	for at < len(text) {
		escaped := p < len(pattern) && pattern[p] == '\\'
		switch {
		case p < len(pattern) && pattern[p] == '%':
			star, resume = p, at
			p++
		case escaped && p+1 < len(pattern) && pattern[p+1] == text[at]:
			at, p = at+1, p+2
		case p < len(pattern) && !escaped && (pattern[p] == '_' || pattern[p] == text[at]):
			at, p = at+1, p+1
		case star >= 0:
			resume++
			at, p = resume, star+1
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '%' {
		p++
	}
	return p == len(pattern)
}
