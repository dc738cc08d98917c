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

// In the SQL written here an Integer is a bigint, a Real a double precision, a Date the bigint number of its day, and a
// text has the collation "C", which orders by bytes. Every operand is in parentheses or a call, every constant carries
// its type: nothing is left to precedence or to literal typing.

// identifier quotes a name.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoted is a text between quotes, in which backslashes stand for themselves (standard_conforming_strings). No NUL
// reaches it, because values and questions that contain one are refused.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func text(s string) string { return "(CAST(" + quoted(s) + ` AS text) COLLATE "C")` }

func integer(n int64) string { return "CAST('" + strconv.FormatInt(n, 10) + "' AS bigint)" }

// double writes the shortest decimal that parses back to x. A cast from text parses it with correct rounding.
func double(x float64) string {
	return "CAST('" + strconv.FormatFloat(x, 'e', -1, 64) + "' AS double precision)"
}

var typeNames = map[value.Type]string{
	value.Integer: "bigint", value.Date: "bigint", value.Real: "double precision", value.Text: "text",
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

// templates write an operation over its arguments, %[1]s being the first.
//
// PostgreSQL raises an error if a floating-point result overflows, or if exp, or × or ÷ of nonzero numbers, gives 0.
// The plan's ranges prove that neither happens (plan.Range): sizes stay within 2^±900, and a product or quotient is at
// least 2^−900 or the question is refused. nullif makes division by 0 NULL, and reads its argument once. A root or
// logarithm stands under a condition on its own argument. So if the planner evaluates constants beforehand, in a branch
// that no row takes, the condition is constant as well, and the failing branch is left out.
var templates = map[bounded.Op]string{
	bounded.OpNeg:    "(- %[1]s)",
	bounded.OpToReal: "CAST(%[1]s AS double precision)",
	bounded.OpNot:    "(NOT %[1]s)",
	bounded.OpNil:    "(%[1]s IS NULL)",
	bounded.OpIs:     "(%[1]s IS TRUE)",
	bounded.OpAbs:    "abs(%[1]s)",
	// of a bigint: its nearest double has its sign
	bounded.OpSign:  "CAST(sign(CAST(%[1]s AS double precision)) AS bigint)",
	bounded.OpFloor: "CAST(floor(%[1]s) AS bigint)",
	bounded.OpCeil:  "CAST(ceil(%[1]s) AS bigint)",
	// PostgreSQL's round takes halves to even. This takes halves away from zero: with h the largest double below ½ and
	// x ≥ 0, the sum x + h reaches the next integer exactly if x's fraction is ½ or more.
	bounded.OpRound: "CAST(sign(%[1]s) * floor(abs(%[1]s) + " + double(belowHalf) + ") AS bigint)",
	bounded.OpSqrt:  "CASE WHEN %[1]s >= " + double(0) + " THEN sqrt(%[1]s) END",
	bounded.OpLn:    "CASE WHEN %[1]s > " + double(0) + " THEN ln(%[1]s) END",
	bounded.OpExp:   "exp(%[1]s)",
}

// expression writes e over the cleaned columns c0, c1, ….
func expression(e *bounded.Expr) string { return engine.Expression(e, constant, operation) }

// operation writes an operation that differs between dialects.
func operation(e *bounded.Expr, args []string) string {
	switch e.Op {
	case bounded.OpDiv:
		return "(" + args[0] + " / nullif(" + args[1] + ", " + double(0) + "))"
	case bounded.OpMod:
		return "(" + args[0] + " % nullif(" + args[1] + ", " + integer(0) + "))"
	case bounded.OpToInteger:
		if e.Args[0].Type == value.Boolean { // it has no direct cast to bigint
			return "CAST(CAST(" + args[0] + " AS integer) AS bigint)"
		}
		return "CAST(" + args[0] + " AS bigint)" // half to even
	case bounded.OpLike:
		// linear in the text for each byte of the pattern; backslash is the escape
		return "(" + args[0] + " LIKE " + text(e.Text) + ")"
	case bounded.OpDatePart:
		return "CAST(date_part(" + quoted(e.Text) + ", " + timestamp(args[0]) + ") AS bigint)"
	case bounded.OpDateTrunc:
		return "CAST(CAST(date_trunc(" + quoted(e.Text) + ", " + timestamp(args[0]) +
			") AS date) - DATE '1970-01-01' AS bigint)"
	}
	return "(" + fmt.Sprintf(templates[e.Op], engine.Operands(args)...) + ")"
}

// timestamp is the beginning of a day, without a time zone: date_trunc of a date would use the session's. A cleaned day
// is within the years 1 to 9999, and so is the first day of its month or year.
func timestamp(day string) string {
	return "CAST(DATE '1970-01-01' + CAST(" + day + " AS integer) AS timestamp without time zone)"
}

func column(i int) string { return "c" + strconv.Itoa(i) }
