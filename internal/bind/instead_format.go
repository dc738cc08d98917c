package bind

import (
	"strings"

	"dither/internal/query"
)

// Formats of dates and times of other databases, for hints.

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

// patternOf returns the pattern of to_char for a format of another database; "" if there is none.
func patternOf(format string, mysql bool) string {
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

// formatted returns what to write for a call that shows a date or a time in a constant format; "" for any other call.
func formatted(x *query.Call) string {
	if len(x.Args) != 2 {
		return ""
	}
	switch x.Name {
	case "date_format", "strftime", "format", "format_date", "format_timestamp", "format_datetime", "formatdatetime", "time_format":
	default:
		return ""
	}
	of, format := x.Args[0], x.Args[1]
	text, ok := format.(*query.Literal)
	if !ok || text.Kind != query.StringLiteral {
		of, format = format, of
		text, ok = format.(*query.Literal)
	}
	if !ok || text.Kind != query.StringLiteral {
		return ""
	}
	if p := patternOf(text.Text, x.Name == "date_format" || x.Name == "formatdatetime"); p != "" {
		return "to_char(" + written(of) + ", '" + p + "')"
	}
	return "to_char(" + written(of) + ", 'YYYY-MM')"
}

// units maps the units of DATEADD, DATEPART and the like to those here.
var units = map[string]string{
	"yy": "year", "yyyy": "year", "yr": "year", "qq": "quarter", "q": "quarter", "mm": "month", "mon": "month", "dd": "day", "d": "day",
	"wk": "week", "ww": "week", "hh": "hour", "mi": "minute", "n": "minute", "ss": "second", "dw": "dow", "dy": "doy", "dayofyear": "doy",
	"year": "year", "quarter": "quarter", "month": "month", "week": "week", "day": "day", "hour": "hour", "minute": "minute", "second": "second",
	"weekday": "dow", "dayofweek": "dow", "isodow": "isodow", "dow": "dow", "doy": "doy", "epoch": "epoch", "years": "year", "months": "month",
	"days": "day", "weeks": "week", "hours": "hour", "minutes": "minute",
}

// unitOf returns the unit that an argument names, as a name or a text; "" for any other.
func unitOf(x query.Expr) string {
	switch x := x.(type) {
	case *query.Column:
		return units[strings.ToLower(x.Name)]
	case *query.Literal:
		if x.Kind == query.StringLiteral {
			return units[strings.ToLower(x.Text)]
		}
	}
	return ""
}

// timed returns what to write for a call with a unit of time, such as DATEADD(day, -30, t); "" for any other call.
func timed(x *query.Call) string {
	unit, n := "", len(x.Args)
	if n > 0 {
		unit = unitOf(x.Args[0])
	}
	switch x.Name {
	case "dateadd", "date_add", "timestampadd", "adddate":
		if n == 3 && unit == "quarter" {
			return "(" + written(x.Args[2]) + " + " + written(x.Args[1]) + " * INTERVAL '3 months')"
		}
		if n == 3 && unit != "" {
			return "(" + written(x.Args[2]) + " + " + written(x.Args[1]) + " * INTERVAL '1 " + unit + "')"
		}
		if n == 2 {
			return "(" + written(x.Args[0]) + " + " + written(x.Args[1]) + ")"
		}
	case "date_sub", "subdate":
		if n == 2 {
			return "(" + written(x.Args[0]) + " - " + written(x.Args[1]) + ")"
		}
	case "add_months":
		if n == 2 {
			return "(" + written(x.Args[0]) + " + " + written(x.Args[1]) + " * INTERVAL '1 month')"
		}
	case "datepart", "datename":
		if n == 2 && unit != "" {
			return "EXTRACT(" + unit + " FROM " + written(x.Args[1]) + ")"
		}
	case "datetrunc", "timestamp_trunc", "datetime_trunc":
		if n == 2 && unit != "" {
			return "date_trunc('" + unit + "', " + written(x.Args[1]) + ")"
		}
		if last := n - 1; n == 2 && unitOf(x.Args[last]) != "" {
			return "date_trunc('" + unitOf(x.Args[last]) + "', " + written(x.Args[0]) + ")"
		}
	case "trunc":
		if n == 2 && unitOf(x.Args[1]) != "" {
			return "date_trunc('" + unitOf(x.Args[1]) + "', " + written(x.Args[0]) + ")"
		}
	}
	return ""
}

// written returns an argument as SQL, in which functions of other databases are replaced too.
func written(x query.Expr) string {
	out := query.Print(x)
	for name, o := range otherFunctions {
		if o.args < 0 && o.why == "" {
			out = strings.ReplaceAll(out, name+"()", o.write)
		}
	}
	return out
}
