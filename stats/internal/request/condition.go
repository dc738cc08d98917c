package request

import "strings"

// Where returns the WHERE clause for a condition, or "" if the condition is empty. The clause puts a line break
// before its closing bracket, so that a comment in the condition cannot hide the bracket.
func Where(condition string) string {
	if strings.TrimSpace(condition) == "" {
		return ""
	}
	return " WHERE (" + condition + "\n)"
}

// Both returns the condition that two conditions hold, with a line break as in [Where]. The first may be empty.
func Both(a, b string) string {
	if strings.TrimSpace(a) == "" {
		return b
	}
	return "(" + a + "\n) AND " + b
}

// CheckCondition refuses a condition whose brackets do not match. An unmatched bracket could close the brackets
// that [Where] adds and append GROUP BY or LIMIT. The method would then misread the measurement. This is no privacy
// risk: every question is planned and charged as it is written.
func CheckCondition(condition string) error {
	depth, text := 0, condition
	skip := func(length int) { text = text[min(length, len(text)):] }
	past := func(end string, from int) int {
		if i := strings.Index(text[min(from, len(text)):], end); i >= 0 {
			return from + i + len(end)
		}
		return len(text)
	}
	for text != "" && depth >= 0 {
		switch {
		case text[0] == '\'' || text[0] == '"':
			skip(past(text[:1], 1))
		case strings.HasPrefix(text, "--"):
			skip(past("\n", 2))
		case strings.HasPrefix(text, "/*"):
			skip(past("*/", 2))
		default:
			switch text[0] {
			case '(':
				depth++
			case ')':
				depth--
			}
			skip(1)
		}
	}
	if depth != 0 {
		return Misuse("give only a condition on rows, without GROUP BY or other clauses",
			"the brackets of the condition do not match: %s", condition)
	}
	return nil
}
