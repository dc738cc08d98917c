package query

import "strings"

// requoted returns the text with each name in backquotes, as MySQL and BigQuery write it, in double quotes, so that all
// positions stay the same. After FROM and JOIN, a name with points, such as `shop.orders`, has a schema, as in
// BigQuery. Backquotes in texts, quoted names and comments stay. PostgreSQL's grammar has no other use of a backquote
// that dither answers.
func requoted(sql string) string {
	if !strings.Contains(sql, "`") {
		return sql
	}
	out := []byte(sql)
	for i := 0; i < len(sql); {
		if sql[i] != '`' {
			i = skip(sql, i)
			continue
		}
		n := strings.IndexAny(sql[i+1:], "`\"'\n")
		if n <= 0 || sql[i+1+n] != '`' {
			return sql // no name, so PostgreSQL's parser refuses the text
		}
		quote := byte('"')
		if path(sql[i+1:i+1+n]) && relationNext(sql[:i]) {
			quote = ' '
		}
		out[i], out[i+1+n] = quote, quote
		i += n + 2
	}
	return string(out)
}

// path reports whether a name in backquotes is several plain names with points between them.
func path(name string) bool {
	parts := strings.Split(name, ".")
	for _, p := range parts {
		if p == "" || strings.Trim(p, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || p[0] <= '9' {
			return false
		}
	}
	return len(parts) > 1
}

// relationNext reports whether a text ends in FROM or JOIN.
func relationNext(before string) bool {
	words := strings.Fields(before)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	return strings.EqualFold(last, "from") || strings.EqualFold(last, "join")
}

// skip returns the offset after the text, quoted name, comment or other character that begins at an offset.
func skip(sql string, i int) int {
	rest := sql[i:]
	until := func(from int, end string) int {
		if n := strings.Index(rest[min(from, len(rest)):], end); n >= 0 {
			return i + from + n + len(end)
		}
		return len(sql)
	}
	switch {
	case rest[0] == '"':
		return until(1, `"`) // a doubled quote begins another name
	case rest[0] == '\'':
		escapes := i > 0 && (sql[i-1] == 'e' || sql[i-1] == 'E') && (i == 1 || !inName(sql[i-2]))
		return i + constant(rest, escapes)
	case strings.HasPrefix(rest, "--"):
		return until(2, "\n")
	case strings.HasPrefix(rest, "/*"):
		return i + comment(rest)
	case rest[0] == '$':
		if n := strings.IndexByte(rest[1:], '$'); n >= 0 && strings.Trim(strings.ToLower(rest[1:1+n]), "abcdefghijklmnopqrstuvwxyz_0123456789") == "" {
			return until(n+2, rest[:n+2])
		}
	}
	return i + 1
}

// constant returns the length of the text constant at the beginning of s. In an escaped one, a backslash hides a quote.
func constant(s string, escaped bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case escaped && s[i] == '\\':
			i++
		case s[i] == '\'':
			return i + 1 // a doubled quote begins another constant
		}
	}
	return len(s)
}

// inName reports whether a name may have the byte after its first one. Then an E behind it ends the name, as in
// ESCAPE'\', and does not begin an escaped constant.
func inName(b byte) bool {
	return b >= 0x80 || b == '_' || b == '$' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// comment returns the length of the comment at the beginning of s. Comments nest.
func comment(s string) int {
	open := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			open++
			i++
		case "*/":
			if open--; open == 0 {
				return i + 2
			}
			i++
		}
	}
	return len(s)
}
