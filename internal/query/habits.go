package query

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// textAsName returns what to write for a text constant that stands in the place of a name, as in COUNT(*) AS 'n'.
func (l *lowering) textAsName(at Pos) string {
	for i, t := range l.tokens {
		text := l.tokenText(t)
		constant := func(t *pg.ScanToken) bool { return t.GetToken() == pg.Token_SCONST }
		if i == 0 || !constant(t) || constant(l.tokens[i-1]) || l.text.pos(int(t.GetStart())) != at {
			continue
		}
		if len(text) > 2 && text[0] == '\'' {
			return "a text in single quotes is no name: write " + quote(strings.ReplaceAll(text[1:len(text)-1], "''", "'"))
		}
	}
	return ""
}

// top returns what to write for T-SQL's TOP, if the i-th token is one: it stands between SELECT and a number.
func (l *lowering) top(i int) string {
	word := func(n int) string {
		if n < 0 || n >= len(l.tokens) {
			return ""
		}
		return strings.ToLower(l.tokenText(l.tokens[n]))
	}
	n, end := i+1, i+1
	if word(n) == "(" && word(n+2) == ")" {
		n, end = i+2, i+3
	}
	before := word(i - 1)
	if before != "select" && before != "distinct" || word(n) == "" || strings.Trim(word(n), "0123456789") != "" {
		return ""
	}
	switch {
	case word(end+1) == "percent":
		return "write LIMIT with a number of rows at the end, and no TOP: a share of the rows is not supported"
	case word(end+1) == "with" && word(end+2) == "ties":
		end += 2
	}
	written := string(l.text[l.tokens[i].GetStart():l.tokens[end].GetEnd()])
	hint := "leave " + written + " out, and write LIMIT " + word(n) + " at the end"
	if word(end+1) == "[" {
		hint += "; write names in double quotes, and not in brackets"
	}
	return hint
}

// topped refuses SELECT TOP (n) …, which PostgreSQL's parser reads as a call of a function.
func (l *lowering) topped() error {
	for i, t := range l.tokens {
		if !strings.EqualFold(l.tokenText(t), "top") || i+1 == len(l.tokens) || l.tokenText(l.tokens[i+1]) != "(" {
			continue
		}
		if hint := l.top(i); hint != "" {
			return l.text.refuse(int(t.GetStart()), hint, "TOP is not supported")
		}
	}
	return nil
}
