package query

import "strings"

// Formats of dates and times of other databases.

// percentFormats maps the directives of strftime and of MySQL's DATE_FORMAT to the patterns of to_char. Where the two differ,
// mysqlFormats has MySQL's.
var percentFormats = map[byte]string{
	'Y': "YYYY", 'y': "YY", 'm': "MM", 'd': "DD", 'e': "FMDD", 'H': "HH24", 'I': "HH12", 'M': "MI", 'S': "SS", 'p': "AM",
	'j': "DDD", 'b': "Mon", 'B': "FMMonth", 'a': "Dy", 'A': "FMDay", 'G': "IYYY", 'V': "IW", 'u': "ID", 'f': "US",
}

var mysqlFormats = map[byte]string{
	'i': "MI", 's': "SS", 'h': "HH12", 'k': "FMHH24", 'c': "FMMM", 'M': "FMMonth", 'W': "FMDay", 'v': "IW", 'x': "IYYY", 'u': "IW",
}

// letterFormats maps the words of .NET's and Java's formats to the patterns of to_char, the longest first.
var letterFormats = []struct{ word, pattern string }{
	{"yyyy", "YYYY"},
	{"MMMM", "FMMonth"},
	{"dddd", "FMDay"},
	{"EEEE", "FMDay"},
	{"MMM", "Mon"},
	{"ddd", "Dy"},
	{"EEE", "Dy"},
	{"yy", "YY"},
	{"MM", "MM"},
	{"dd", "DD"},
	{"HH", "HH24"},
	{"hh", "HH12"},
	{"mm", "MI"},
	{"ss", "SS"},
	{"M", "FMMM"},
	{"d", "FMDD"},
}

// PatternOf returns the pattern of to_char that shows a time as a format of strftime does, or of MySQL's DATE_FORMAT, or of
// Java's and .NET's letters. It returns "" if there is none.
func PatternOf(format string, mysql bool) string {
	var out strings.Builder
	for rest := format; rest != ""; {
		if rest[0] == '%' && len(rest) > 1 {
			p, ok := percentFormats[rest[1]]
			if other, is := mysqlFormats[rest[1]]; is && mysql {
				p, ok = other, true
			}
			if !ok {
				return ""
			}
			out.WriteString(p)
			rest = rest[2:]
			continue
		}
		word, pattern := rest[:1], ""
		if !strings.Contains(format, "%") {
			for _, f := range letterFormats {
				if strings.HasPrefix(rest, f.word) {
					word, pattern = f.word, f.pattern
					break
				}
			}
		}
		if pattern == "" {
			if !strings.Contains("-/.,: ", word) {
				return ""
			}
			pattern = word
		}
		out.WriteString(pattern)
		rest = rest[len(word):]
	}
	return out.String()
}

// formatted converts DATE_FORMAT(t, '%Y-%m') and its like to to_char(t, 'YYYY-MM'). It returns nil for any other call, and
// for a format that to_char does not have.
func formatted(x *Call) Expr {
	of, format := x.Args[0], x.Args[1]
	switch x.Name {
	case "date_format":
	case "format_date", "format_timestamp", "format_datetime":
		of, format = format, of
	case "strftime": // SQLite has the format first, and DuckDB allows both orders
		if _, first := of.(*Literal); first {
			of, format = format, of
		}
	default:
		return nil
	}
	text, ok := format.(*Literal)
	if !ok || text.Kind != StringLiteral {
		return nil
	}
	pattern := PatternOf(text.Text, x.Name == "date_format")
	if pattern == "" {
		return nil
	}
	return &Call{At: x.At, Name: "to_char", Args: []Expr{of, &Literal{At: text.At, Kind: StringLiteral, Text: pattern}}}
}
