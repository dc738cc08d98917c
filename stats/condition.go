package stats

import "strings"

// whereClause is a condition as a question takes it; "" for none. A comment in it ends with its line.
func whereClause(condition string) string {
	if strings.TrimSpace(condition) == "" {
		return ""
	}
	return " WHERE (" + condition + "\n)"
}

// conditionAlone refuses a condition that closes a bracket which it did not open. In brackets of its own such a text would be more than a condition: with
// GROUP BY or LIMIT behind it, what is measured would not be what an estimate takes it for. Every question is planned and paid for by what it says all the same.
func conditionAlone(condition string) error {
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
		return misuse("give a condition on rows, and nothing else", "the condition's brackets do not match: %s", condition)
	}
	return nil
}
