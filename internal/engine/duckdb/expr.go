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

// In the SQL of this package, an Integer is a BIGINT, a Real is a DOUBLE, and a Date is a BIGINT, the number of its
// day. The other types of time are BIGINTs too, their microseconds, also in sealed files. Every operand is in
// parentheses or is a call, and every constant states its type. So the meaning does not depend on operator precedence or
// on the types of literals.

// identifier returns a quoted name.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// text returns a quoted text constant. s contains no NUL byte, because values and questions that contain one are
// refused.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func integer(n int64) string {
	if n == math.MinInt64 { // the literal 9223372036854775808, to be negated, would exceed a BIGINT
		return "CAST('-9223372036854775808' AS BIGINT)"
	}
	return "CAST(" + strconv.FormatInt(n, 10) + " AS BIGINT)"
}

// double returns SQL for the double x: the shortest decimal that parses back to x, as a text. The cast from text
// rounds correctly.
func double(x float64) string { return "CAST('" + strconv.FormatFloat(x, 'e', -1, 64) + "' AS DOUBLE)" }

var typeNames = map[value.Type]string{
	value.Integer: "BIGINT", value.Date: "BIGINT", value.Timestamp: "BIGINT", value.Time: "BIGINT",
	value.Interval: "BIGINT", value.Real: "DOUBLE", value.Text: "VARCHAR",
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

// clean returns the SQL of a column's cleaned value over the column of the sealed file. It returns a value or NULL
// for anything that the file may hold.
func clean(c bounded.Column) string { return cleaned(c, true) }

// cleanFor is like clean, for column i of b. It omits the test for tiny values if each expression of b that reads the
// column is the column itself, either in a sum that rounds to a grid of at least 2^-59, or in a count of its values.
//
// Claim: the gridded values are the same. Proof. A tiny value x has a magnitude below 2^-60. Its cleaned value is 0, or
// the bound next to 0, which then also has a magnitude below 2^-60 (cleanReal). The product of such a number with a power
// of two of at most 2^59 is exact or subnormal, and below 1/2. So both round to 0. Counts depend only on whether the value is NULL,
// and neither of the two is. ∎
func cleanFor(b *bounded.Statement, i int) string {
	reads, rounded := 0, 0
	b.Expressions(func(e *bounded.Expr) {
		e.Walk(func(x *bounded.Expr) {
			if x.Op == bounded.OpColumn && x.Column == i {
				reads++
			}
		})
	})
	for _, m := range b.Measures {
		counts := m.Kind == bounded.CountValue || m.Kind == bounded.CountUnitsWith
		if m.X != nil && m.X.Op == bounded.OpColumn && m.X.Column == i && (counts || m.Rounds() && m.Grid >= -59) {
			rounded++
		}
	}
	return cleaned(b.Columns[i], rounded < reads)
}

// cleaned is clean. If tiny is false, values of a magnitude below 2^-60 may stay.
func cleaned(c bounded.Column, tiny bool) string {
	name := identifier(c.Name)
	if c.Type == value.Date {
		// A difference of two dates is a BIGINT, but not for the special dates ±infinity.
		name = fmt.Sprintf("CASE WHEN isfinite(%s) THEN %s - DATE '1970-01-01' END", name, name)
	}
	switch {
	case c.Values != nil:
		return fmt.Sprintf("CASE WHEN (%s) IN (%s) THEN (%s) END", name, constants(c.Values), name)
	case c.Type == value.Real:
		return cleanReal(name, c.Range.Lo, c.Range.Hi, tiny)
	case c.Type.Whole() && (c.Type != value.Integer || hasBounds(c.Column)):
		lo, hi := integer(c.Range.IntLo), integer(c.Range.IntHi)
		return fmt.Sprintf(
			"CASE WHEN (%[1]s) BETWEEN %[2]s AND %[3]s THEN (%[1]s) WHEN (%[1]s) < %[2]s THEN %[2]s "+
				"WHEN (%[1]s) > %[3]s THEN %[3]s END",
			name, lo, hi)
	}
	return name
}

func hasBounds(c *policy.Column) bool { return c.Lower != nil }

// cleanReal returns SQL that maps NaN and ±Inf to NULL and magnitudes below 2^-60 to 0, and clamps the result to
// [lo, hi]. (isfinite is false for NaN and ±Inf.) Values within the bounds take the first branch, which is quick.
// If the file's statistics show that all values are within the bounds, DuckDB need not test them. NaN does not take
// this branch, because DuckDB orders it above every number. If tiny is false, this branch also keeps magnitudes below
// 2^-60.
func cleanReal(name string, lo, hi float64, tiny bool) string {
	const least = 0x1p-60
	inside, zero := name, double(math.Min(math.Max(0, lo), hi))
	if tiny && lo < least && hi > -least {
		inside = fmt.Sprintf("CASE WHEN abs(%[1]s) >= %[2]s THEN %[1]s ELSE %[3]s END", name, double(least), zero)
	}
	return fmt.Sprintf(
		"CASE WHEN %[1]s BETWEEN %[2]s AND %[3]s THEN %[4]s WHEN isfinite(%[1]s) THEN CASE "+
			"WHEN abs(%[1]s) < %[5]s THEN %[6]s "+
			"WHEN %[1]s < %[2]s THEN %[2]s ELSE %[3]s END END",
		name, double(lo), double(hi), inside, double(least), zero)
}

// templates holds the SQL of operations. %[1]s stands for the first argument.
var templates = map[bounded.Op]string{
	bounded.OpNeg: "(-%[1]s)",
	// The quotient is NULL if the divisor is 0: for reals because of the setting ieee_floating_point_ops, for
	// integers always. nullif is not used: DuckDB's binder would duplicate the divisor, so nested divisors would
	// grow exponentially.
	bounded.OpDiv:    "(%[1]s / %[2]s)",
	bounded.OpQuo:    "(%[1]s // %[2]s)", // drops the fraction
	bounded.OpMod:    "(%[1]s %% %[2]s)",
	bounded.OpToReal: "CAST(%[1]s AS DOUBLE)",
	// A cast from DOUBLE rounds half to even. A cast from BOOLEAN returns 0 or 1.
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

// expression returns the SQL of e over the cleaned columns c0, c1, ….
func expression(e *bounded.Expr) string { return engine.Expression(e, constant, operation) }

// operation returns the SQL of an operation that dialects write differently, given the SQL of its arguments.
func operation(e *bounded.Expr, args []string) string {
	switch e.Op {
	case bounded.OpLike:
		return like(args[0], e.Text)
	case bounded.OpFold:
		from, to := "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
		if e.Text == "upper" {
			from, to = to, from
		}
		return "translate(" + args[0] + ", " + text(from) + ", " + text(to) + ")"
	case bounded.OpText:
		return textCall(e, args[0])
	case bounded.OpDatePart:
		return datePart(e.Text, args[0])
	case bounded.OpChar:
		decimal := func(n string) string { return "CAST(" + n + " AS VARCHAR)" }
		return engine.Char(e, args[0], engine.CharDialect{
			Text: text, Integer: integer, Quotient: quotient, Part: datePart, Decimal: decimal,
		})
	case bounded.OpDateTrunc:
		return "CAST(CAST(date_trunc(" + text(e.Text) + ", " + date(args[0]) +
			") AS DATE) - DATE '1970-01-01' AS BIGINT)"
	case bounded.OpAddMonths:
		return "CAST(CAST(" + date(args[0]) + " + to_months(CAST(" + e.Text + " AS INTEGER)) AS DATE) - DATE '1970-01-01' " +
			"AS BIGINT)"
	}
	if len(args) == 1 {
		if sql, ok := engine.Clock(e, args[0], integer, quotient); ok {
			return sql
		}
	}
	return "(" + fmt.Sprintf(templates[e.Op], engine.Operands(args)...) + ")"
}

func datePart(field, day string) string {
	return "CAST(date_part(" + text(field) + ", " + date(day) + ") AS BIGINT)"
}

func quotient(a, b string) string { return "(" + a + " // " + b + ")" }

// date returns the SQL of the DATE with a given day number. A cleaned day lies within the years 1 to 9999, and so
// does the first day of its month or year.
func date(day string) string { return "(DATE '1970-01-01' + CAST(" + day + " AS INTEGER))" }

func column(i int) string { return "c" + strconv.Itoa(i) }

// like returns the SQL of x LIKE pattern with a cost linear in the length of the text. DuckDB's own LIKE is linear
// for patterns with % alone. With _ it is quadratic, and with ESCAPE it is exponential in the number of %. One row
// could then delay a question for hours, and so reveal its presence. So patterns with _ or a backslash are matched
// by DuckDB's regular expressions (RE2), which never backtrack. A character is a Unicode code point in both.
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

// literalByte returns a regular expression for one byte of a UTF-8 text.
func literalByte(c byte) string {
	if c >= 0x80 || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
		return string([]byte{c})
	}
	return fmt.Sprintf(`\x{%02x}`, c)
}
