package duckdb

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/value"
)

// In the SQL written here an Integer is a BIGINT, a Real a DOUBLE, a Date the BIGINT number of its day. Every operand
// is in parentheses or a call, every constant carries its type: nothing is left to precedence or to literal typing.

// identifier quotes a name.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// text quotes a text constant. No NUL reaches it, because values and questions that contain one are refused.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func integer(n int64) string {
	if n == math.MinInt64 { // its digits alone are no BIGINT
		return "CAST('-9223372036854775808' AS BIGINT)"
	}
	return "CAST(" + strconv.FormatInt(n, 10) + " AS BIGINT)"
}

// double writes the shortest decimal that parses back to x. A cast from text parses it with correct rounding.
func double(x float64) string { return "CAST('" + strconv.FormatFloat(x, 'e', -1, 64) + "' AS DOUBLE)" }

var typeNames = map[value.Type]string{
	value.Integer: "BIGINT", value.Date: "BIGINT", value.Real: "DOUBLE", value.Text: "VARCHAR",
	value.Boolean: "BOOLEAN",
}

func constant(v value.Value) string {
	switch {
	case v.Null:
		return "CAST(NULL AS " + typeNames[v.Type] + ")"
	case v.Type == value.Real:
		return double(v.Real)
	case v.Type == value.Text:
		return text(v.Text)
	case v.Type == value.Boolean:
		return strings.ToUpper(strconv.FormatBool(v.Bool))
	}
	return integer(v.Int)
}

func constants(vs []value.Value) string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = constant(v)
	}
	return strings.Join(out, ", ")
}

// clean writes a column's cleaned value over the sealed file's column. It is total, whatever the file holds.
func clean(c bounded.Column) string {
	name := identifier(c.Name)
	if c.Type == value.Date {
		// A difference of dates is a BIGINT; the special dates ±infinity have none.
		name = fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s - DATE '1970-01-01' END", name, name)
	}
	switch {
	case c.Values != nil:
		return fmt.Sprintf("CASE WHEN (%s) IN (%s) THEN (%s) END", name, constants(c.Values), name)
	case c.Type == value.Real:
		return cleanReal(name, c.Range.Lo, c.Range.Hi)
	case c.Type == value.Date, c.Type == value.Integer && hasBounds(c.Column):
		lo, hi := integer(c.Range.IntLo), integer(c.Range.IntHi)
		return fmt.Sprintf(
			"CASE WHEN (%[1]s) BETWEEN %[2]s AND %[3]s THEN (%[1]s) WHEN (%[1]s) < %[2]s THEN %[2]s WHEN (%[1]s) > %[3]s THEN %[3]s END",
			name,
			lo,
			hi,
		)
	}
	return name
}

func hasBounds(c *policy.Column) bool { return c.Lower != nil }

// cleanReal maps NaN and ±Inf (isfinite is false for both) to NULL and magnitudes below 2^-60 to 0, and clamps the
// rest. Values within the bounds take the first branch, which is quick, and costs nothing if the file's statistics say
// that all are; NaN is above every number.
func cleanReal(name string, lo, hi float64) string {
	const least = 0x1p-60
	inside, zero := name, double(math.Min(math.Max(0, lo), hi))
	if lo < least && hi > -least {
		inside = fmt.Sprintf("CASE WHEN abs(%[1]s) >= %[2]s THEN %[1]s ELSE %[3]s END", name, double(least), zero)
	}
	return fmt.Sprintf(
		"CASE WHEN %[1]s BETWEEN %[2]s AND %[3]s THEN %[4]s WHEN isfinite(%[1]s) THEN CASE WHEN abs(%[1]s) < %[5]s THEN %[6]s "+
			"WHEN %[1]s < %[2]s THEN %[2]s ELSE %[3]s END END",
		name,
		double(lo),
		double(hi),
		inside,
		double(least),
		zero,
	)
}

// templates write an operation over its arguments, %[1]s being the first.
var templates = map[bounded.Op]string{
	bounded.OpNeg: "(-%[1]s)",
	// NULL if the divisor is 0: for reals by the setting ieee_floating_point_ops, for integers always. (nullif would
	// write the divisor twice when it is bound, so nested divisors would double each other.)
	bounded.OpDiv:    "(%[1]s / %[2]s)",
	bounded.OpMod:    "(%[1]s %% %[2]s)",
	bounded.OpToReal: "CAST(%[1]s AS DOUBLE)",
	// A cast from DOUBLE rounds half to even, one from BOOLEAN gives 0 or 1.
	bounded.OpToInteger: "CAST(%[1]s AS BIGINT)",
	bounded.OpNot:       "(NOT %[1]s)",
	bounded.OpNil:       "(%[1]s IS NULL)",
	bounded.OpIs:        "coalesce(%[1]s, FALSE)",
	bounded.OpAbs:       "abs(%[1]s)",
	bounded.OpSign:      "CAST(sign(%[1]s) AS BIGINT)",
	bounded.OpFloor:     "CAST(floor(%[1]s) AS BIGINT)",
	bounded.OpCeil:      "CAST(ceil(%[1]s) AS BIGINT)",
	bounded.OpRound:     "CAST(round(%[1]s) AS BIGINT)",
	bounded.OpSqrt:      "CASE WHEN %[1]s >= 0 THEN sqrt(%[1]s) END",
	bounded.OpLn:        "CASE WHEN %[1]s > 0 THEN ln(%[1]s) END",
	bounded.OpExp:       "exp(%[1]s)",
}

// expression writes e over the cleaned columns c0, c1, ….
func expression(e *bounded.Expr) string { return engine.Expression(e, constant, operation) }

// operation writes an operation that differs between dialects.
func operation(e *bounded.Expr, args []string) string {
	switch e.Op {
	case bounded.OpLike:
		return like(args[0], e.Text)
	case bounded.OpDatePart:
		return "CAST(date_part(" + text(e.Text) + ", " + date(args[0]) + ") AS BIGINT)"
	case bounded.OpDateTrunc:
		return "CAST(CAST(date_trunc(" + text(e.Text) + ", " + date(args[0]) +
			") AS DATE) - DATE '1970-01-01' AS BIGINT)"
	}
	return "(" + fmt.Sprintf(templates[e.Op], engine.Operands(args)...) + ")"
}

// date is the date of a day's number. A cleaned day is within the years 1 to 9999, and so is the first day of its month
// or year.
func date(day string) string { return "(DATE '1970-01-01' + CAST(" + day + " AS INTEGER))" }

func column(i int) string { return "c" + strconv.Itoa(i) }

// like writes LIKE so that its cost is linear in the text. DuckDB's own LIKE is linear for % alone; with _ it is
// quadratic, and with ESCAPE exponential in the number of %. One row could then delay a question for hours, and so
// reveal its presence. Such patterns are matched by DuckDB's regular expressions (RE2), which never backtrack. A
// regular expression's characters are code points, as LIKE's are.
func like(x, pattern string) string {
	if !strings.ContainsAny(pattern, `_\`) {
		return "(" + x + " LIKE " + text(pattern) + ")"
	}
	var re strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '%':
			re.WriteString(".*")
		case c == '_':
			re.WriteString(".")
		case c == '\\' && i+1 < len(pattern):
			i++
			re.WriteString(literalByte(pattern[i]))
		default:
			re.WriteString(literalByte(c))
		}
	}
	return "regexp_full_match(" + x + ", " + text(re.String()) + ", 's')"
}

// literalByte writes a byte of UTF-8 text that stands for itself in a regular expression.
func literalByte(c byte) string {
	if c >= 0x80 || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
		return string([]byte{c})
	}
	return fmt.Sprintf(`\x{%02x}`, c)
}
