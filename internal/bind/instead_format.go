package bind

import (
	"cmp"
	"strings"

	"dither/internal/query"
)

// formatted returns what to write for a call that shows a date or a time in a constant format of another database; "" for
// any other call. The parser reads a format that to_char has too.
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
	pattern := cmp.Or(query.PatternOf(text.Text, x.Name == "date_format" || x.Name == "formatdatetime"), "YYYY-MM")
	return "to_char(" + written(of) + ", '" + pattern + "')"
}

// units maps the units of DATEADD, DATEPART and the like to those here, for hints.
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
			return "(" + written(x.Args[2]) + " + " + factor(x.Args[1]) + " * INTERVAL '3 months')"
		}
		if n == 3 && unit != "" {
			return "(" + written(x.Args[2]) + " + " + factor(x.Args[1]) + " * INTERVAL '1 " + unit + "')"
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
			return "(" + written(x.Args[0]) + " + " + factor(x.Args[1]) + " * INTERVAL '1 month')"
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

// factor returns an argument as SQL that may stand before an asterisk.
func factor(x query.Expr) string {
	if _, sum := x.(*query.Binary); sum {
		return "(" + written(x) + ")"
	}
	return written(x)
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
