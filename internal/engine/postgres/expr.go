package postgres

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// In the SQL of this package, an Integer is a bigint, a Real is a double precision, and a Date is a bigint, the
// number of its day. The other types of time are bigints too, their microseconds. Texts have the collation "C", which orders them by bytes. Every operand is in parentheses or
// is a call, and every constant states its type. So the meaning does not depend on operator precedence or on the
// types of literals.

// identifier returns a quoted name.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoted returns a text in quotes, in which a backslash stands for itself (standard_conforming_strings). s contains
// no NUL byte, because values and questions that contain one are refused.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func text(s string) string { return "(CAST(" + quoted(s) + ` AS text) COLLATE "C")` }

func integer(n int64) string { return "CAST('" + strconv.FormatInt(n, 10) + "' AS bigint)" }

// double returns SQL for the double x: the shortest decimal that parses back to x, as a text. The cast from text
// rounds correctly.
func double(x float64) string {
	return "CAST('" + strconv.FormatFloat(x, 'e', -1, 64) + "' AS double precision)"
}

var typeNames = map[value.Type]string{
	value.Integer: "bigint", value.Date: "bigint", value.Timestamp: "bigint", value.Time: "bigint",
	value.Interval: "bigint", value.Real: "double precision", value.Text: "text",
	value.Boolean: "boolean",
}

func constant(v value.Value) string {
	switch {
	case v.Null && v.Type == value.Text:
		return `(CAST(NULL AS text) COLLATE "C")`
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

// belowHalf is the largest double below 1/2.
var belowHalf = math.Nextafter(0.5, 0)

// templates holds the SQL of operations. %[1]s stands for the first argument.
//
// PostgreSQL raises an error if a floating-point result overflows. It also raises one if exp, or a product or
// quotient of nonzero numbers, results in 0. The ranges of expressions prove that neither happens (bounded.Range):
// magnitudes stay within 2^±900, and the planner refuses a question in which a product or quotient could be below
// 2^−900. Division by 0 is NULL by nullif, which evaluates its argument once. A root or logarithm is guarded by a
// condition on its argument. If the argument is constant, the server may evaluate the root in advance even in a
// branch that no row takes. Then the condition is constant too, and the server omits the failing branch.
var templates = map[bounded.Op]string{
	bounded.OpNeg:    "(- %[1]s)",
	bounded.OpToReal: "CAST(%[1]s AS double precision)",
	bounded.OpNot:    "(NOT %[1]s)",
	bounded.OpNil:    "(%[1]s IS NULL)",
	bounded.OpIs:     "(%[1]s IS TRUE)",
	bounded.OpAbs:    "abs(%[1]s)",
	// the argument is a bigint; its nearest double has the same sign
	bounded.OpSign:  "CAST(sign(CAST(%[1]s AS double precision)) AS bigint)",
	bounded.OpFloor: "CAST(floor(%[1]s) AS bigint)",
	bounded.OpCeil:  "CAST(ceil(%[1]s) AS bigint)",
	// PostgreSQL's round of a double rounds halves to even. This SQL rounds halves away from zero: with h the
	// largest double below 1/2 and x ≥ 0, the sum x + h reaches the next integer if and only if the fraction of x
	// is at least 1/2.
	bounded.OpRound: "CAST(sign(%[1]s) * floor(abs(%[1]s) + " + double(belowHalf) + ") AS bigint)",
	bounded.OpSqrt:  "CASE WHEN %[1]s >= " + double(0) + " THEN sqrt(%[1]s) END",
	bounded.OpLn:    "CASE WHEN %[1]s > " + double(0) + " THEN ln(%[1]s) END",
	bounded.OpExp:   "exp(%[1]s)",
}

// expression returns the SQL of e over the cleaned columns c0, c1, ….
func expression(e *bounded.Expr) string { return engine.Expression(e, constant, operation) }

// operation returns the SQL of an operation that dialects write differently, given the SQL of its arguments.
func operation(e *bounded.Expr, args []string) string {
	switch e.Op {
	case bounded.OpDiv:
		return "(" + args[0] + " / nullif(" + args[1] + ", " + double(0) + "))"
	case bounded.OpQuo: // of bigints, so the fraction is dropped
		return "(" + args[0] + " / nullif(" + args[1] + ", " + integer(0) + "))"
	case bounded.OpMod:
		return "(" + args[0] + " % nullif(" + args[1] + ", " + integer(0) + "))"
	case bounded.OpToInteger:
		if e.Args[0].Type == value.Boolean { // a boolean has no direct cast to bigint
			return "CAST(CAST(" + args[0] + " AS integer) AS bigint)"
		}
		return "CAST(" + args[0] + " AS bigint)" // rounds half to even
	case bounded.OpLike:
		// The cost is linear in the text for each byte of the pattern. A backslash is the escape character.
		return "(" + args[0] + " LIKE " + text(e.Text) + ")"
	case bounded.OpFold: // with the collation "C", lower and upper change the letters of ASCII alone
		return e.Text + "((" + args[0] + `) COLLATE "C")`
	case bounded.OpText:
		return textCall(e, args[0])
	case bounded.OpDatePart:
		return datePart(e.Text, args[0])
	case bounded.OpChar:
		decimal := func(n string) string { return "CAST(" + n + " AS text)" }
		return "(" + engine.Char(e, args[0], engine.CharDialect{
			Text: text, Integer: integer, Quotient: quotient, Part: datePart, Decimal: decimal,
		}) + ` COLLATE "C")`
	case bounded.OpDateTrunc:
		return "CAST(CAST(date_trunc(" + quoted(e.Text) + ", " + timestamp(args[0]) +
			") AS date) - DATE '1970-01-01' AS bigint)"
	case bounded.OpAddMonths:
		return "CAST(CAST(" + timestamp(args[0]) + " + make_interval(months => " + e.Text +
			") AS date) - DATE '1970-01-01' AS bigint)"
	}
	if len(args) == 1 {
		if sql, ok := engine.Clock(e, args[0], integer, quotient); ok {
			return sql
		}
	}
	return "(" + fmt.Sprintf(templates[e.Op], engine.Operands(args)...) + ")"
}

func datePart(field, day string) string {
	return "CAST(date_part(" + quoted(field) + ", " + timestamp(day) + ") AS bigint)"
}

func quotient(a, b string) string { return "(" + a + " / " + b + ")" }

// timestamp returns the SQL of the first moment of a day, without a time zone. date_trunc of a date would use the
// session's time zone. A cleaned day lies within the years 1 to 9999, and so does the first day of its month or
// year.
func timestamp(day string) string {
	return "CAST(DATE '1970-01-01' + CAST(" + day + " AS integer) AS timestamp without time zone)"
}

func column(i int) string { return "c" + strconv.Itoa(i) }
