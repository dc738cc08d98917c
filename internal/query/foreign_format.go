package query

import "strings"

// Formats of dates and times of other databases.

// percentFormats maps the directives of strftime to the patterns of to_char. Those that differ between databases are left
// out: %e, which some fill with a space, and %f, which has the whole seconds too in some.
var percentFormats = map[byte]string{
	'Y': "YYYY", 'y': "YY", 'm': "MM", 'd': "DD", 'H': "HH24", 'I': "HH12", 'M': "MI", 'S': "SS", 'p': "AM",
	'j': "DDD", 'b': "Mon", 'B': "FMMonth", 'a': "Dy", 'A': "FMDay", 'G': "IYYY", 'V': "IW", 'u': "ID",
}

// mysqlFormats maps the directives of MySQL's DATE_FORMAT. It leaves out those of weeks that are not ISO's: %u, whose first
// days of January may be in week 0, and %U and %V, whose weeks begin on a Sunday.
var mysqlFormats = map[byte]string{
	'Y': "YYYY", 'y': "YY", 'm': "MM", 'c': "FMMM", 'd': "DD", 'e': "FMDD", 'H': "HH24", 'k': "FMHH24", 'I': "HH12", 'h': "HH12",
	'i': "MI", 'S': "SS", 's': "SS", 'f': "US", 'p': "AM", 'j': "DDD", 'b': "Mon", 'M': "FMMonth", 'a': "Dy", 'W': "FMDay",
	'x': "IYYY", 'v': "IW",
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
// Java's and .NET's letters. It returns "" if there is none, or if to_char might read two patterns that follow each other as
// other ones: DD and DDD together are also DDD and DD.
func PatternOf(format string, mysql bool) string {
	directives := percentFormats
	if mysql {
		directives = mysqlFormats
	}
	out, last := "", "" // last is the pattern at the end, if no sign follows it
	for rest := format; rest != ""; {
		if rest[0] == '%' && len(rest) > 1 {
			p, ok := directives[rest[1]]
			if !ok || runsInto(last, p) {
				return ""
			}
			out, last, rest = out+p, p, rest[2:]
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
			out, last, rest = out+word, "", rest[1:]
			continue
		}
		if runsInto(last, pattern) {
			return ""
		}
		out, last, rest = out+pattern, pattern, rest[len(word):]
	}
	return out
}

// runsInto reports whether a pattern begins with the letter with which the one before it ends.
func runsInto(before, pattern string) bool {
	return before != "" && strings.EqualFold(before[len(before)-1:], pattern[:1])
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
