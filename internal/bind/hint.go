package bind

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/nearest"
	"dither/internal/query"
	"dither/internal/value"
)

// suggestion offers the column or table that name was probably meant to be, as a hint, or "".
func suggestion(name string, candidates []string) string {
	for _, c := range candidates {
		if c == name || !strings.EqualFold(c, name) {
			continue
		}
		if query.QuoteName(c) == c {
			return fmt.Sprintf("write %s without quotes: in quotes a name keeps its case", c)
		}
		return fmt.Sprintf(
			`write "%s" in double quotes: unquoted names are folded to lower case`,
			strings.ReplaceAll(c, `"`, `""`),
		)
	}
	switch best := nearest.Name(name, candidates); {
	case best == "":
	case query.QuoteName(best) != best:
		return fmt.Sprintf("did you mean %s, in double quotes?", query.QuoteName(best))
	default:
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(candidates) == 0 || len(candidates) > 30 {
		return ""
	}
	return "there is " + strings.Join(quotedNames(candidates), ", ")
}

// quotedNames writes names as SQL reads them.
func quotedNames(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = query.QuoteName(n)
	}
	return out
}

// noColumn is the hint where a table has no column of that name. Who writes "north" means a text now and then.
func noColumn(name string, columns []string) string {
	hint := suggestion(name, columns)
	if nearest.Name(name, columns) != "" {
		return hint
	}
	if hint != "" {
		hint += "; "
	}
	return hint + "a text is written in single quotes: " + quoted(value.OfText(name))
}

// otherFunctions are functions that people know from elsewhere, with what to write here.
var otherFunctions = map[string]string{
	"regr_sxx":          "it is REGR_COUNT(y, x) * VAR_POP(x)",
	"regr_syy":          "it is REGR_COUNT(y, x) * VAR_POP(y)",
	"regr_sxy":          "it is REGR_COUNT(y, x) * COVAR_POP(y, x)",
	"std":               "write STDDEV",
	"to_char":           onDates,
	"year":              onDates,
	"month":             onDates,
	"day":               onDates,
	"age":               onDates,
	"quantile":          quantile,
	"quantile_cont":     quantile,
	"quantile_disc":     quantile,
	"approx_quantile":   quantile,
	"approx_percentile": quantile,
	"concat":            "there is no text to put together: group by both expressions",
	"if":                "write CASE WHEN … THEN … ELSE … END",
	"iif":               "write CASE WHEN … THEN … ELSE … END",
	"ifnull":            "write COALESCE(a, b)",
	"nvl":               "write COALESCE(a, b)",
	"pow":               "write x * x, or EXP(y * LN(x))",
	"power":             "write x * x, or EXP(y * LN(x))",
	"mod":               "write a % b",
	"div":               "write FLOOR(a / b)",
	"log":               "write LN(x), or LN(x) / LN(10)",
	"log10":             "write LN(x) / LN(10)",
	"trunc":             "write FLOOR or CEIL",
	"truncate":          "write FLOOR or CEIL",
}

const (
	onDates  = "write EXTRACT(year FROM day), date_trunc('month', day), or CASE WHEN day < DATE '2025-01-01' THEN '2024' ELSE '2025' END"
	quantile = "write MEDIAN(x), or PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)"
)

// FunctionHint offers what to write instead of a function that there is not.
func FunctionHint(name string, known []string) string {
	if hint, ok := otherFunctions[strings.ToLower(name)]; ok {
		return hint
	}
	if best := nearest.Name(name, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "there is " + strings.Join(known, ", ")
}

// dontMix refuses two types where one is needed, and says how to write what was probably meant.
func dontMix(at query.Pos, t value.Type, a *bounded.Expr, args []*bounded.Expr) *Error {
	return Refuse(at, MixHint(t, a.Type, append(slices.Clone(args), a)), "%s and %s don't mix here", t, a.Type)
}

// MixHint says how to make values of two types comparable.
func MixHint(t, u value.Type, args []*bounded.Expr) string {
	between := func(x, y value.Type) bool { return t == x && u == y || t == y && u == x }
	constantOf := func(t value.Type) (value.Value, bool) {
		for _, a := range args {
			if a.Op == bounded.OpConst && !a.Const.Null && a.Type == t {
				return a.Const, true
			}
		}
		return value.Value{}, false
	}
	for _, n := range []value.Type{value.Integer, value.Real} {
		switch {
		case between(n, value.Text):
			if v, ok := constantOf(n); ok {
				return "write a text in single quotes: " + quoted(value.OfText(v.String()))
			}
			return "write a number without quotes; a text column cannot be made a number"
		case between(n, value.Boolean):
			return "compare a boolean with TRUE or FALSE, or make it a number: CAST(… AS integer) is 1 or 0"
		case between(n, value.Date):
			return "write a date as DATE '2026-01-31'"
		}
	}
	switch {
	case between(value.Text, value.Boolean):
		return "write TRUE or FALSE without quotes; CASE makes texts of a boolean"
	case between(value.Text, value.Date):
		return "a date is compared with a constant, DATE '2026-01-31'; CASE makes texts of dates"
	}
	return "CASE makes one type of both"
}

// arithmeticHint says what to write instead of arithmetic with dates, and with texts.
func arithmeticHint(op bounded.Op, a, b *bounded.Expr) string {
	date := func(e *bounded.Expr) bool { return e.Type == value.Date }
	known := func(e *bounded.Expr) bool {
		return e.Op == bounded.OpConst && !e.Const.Null && (date(e) || e.Type == value.Integer)
	}
	switch {
	case !date(a) && !date(b):
		if a.Type == value.Text || b.Type == value.Text {
			return "texts are compared, with = and LIKE, and grouped by"
		}
		return ""
	case known(a) && known(b) && (op == bounded.OpAdd || op == bounded.OpSub):
		if v, ok := dated(op, a, b); ok {
			return "write " + quoted(v)
		}
	case op == bounded.OpSub && date(a) && date(b) && (known(a) || known(b)):
		return "compare the dates instead, as in day >= DATE '2025-01-31', or make spans of them with CASE; EXTRACT(year FROM day) * 12 + EXTRACT(month FROM day) counts months"
	case op == bounded.OpSub && date(a) && date(b):
		return "compare the dates instead: a < b; or take EXTRACT(year FROM a) - EXTRACT(year FROM b)"
	}
	return "move the constant that it is compared with instead, as in day >= DATE '2025-01-31'; EXTRACT and date_trunc take dates"
}

// dated is a constant date some days later or earlier, or the days between two. Integers are no larger than 2⁶², so that nothing overflows.
func dated(op bounded.Op, a, b *bounded.Expr) (value.Value, bool) {
	x, y := a.Const.Int, b.Const.Int
	switch {
	case op == bounded.OpSub && a.Type == value.Date && b.Type == value.Date:
		return value.OfInt(x - y), true
	case op == bounded.OpSub && a.Type == value.Date:
		y = -y
	case op == bounded.OpSub || a.Type == b.Type:
		return value.Value{}, false
	}
	if x+y < value.MinDay || x+y > value.MaxDay {
		return value.Value{}, false
	}
	return value.OfDay(x + y), true
}

// quoted is a value as a constant in SQL.
func quoted(v value.Value) string {
	switch v.Type {
	case value.Text:
		return "'" + strings.ReplaceAll(v.Text, "'", "''") + "'"
	case value.Date:
		return "DATE '" + v.String() + "'"
	case value.Boolean:
		return strings.ToUpper(v.String())
	}
	return v.String()
}

// unlisted refuses to compare a column that has a list of values with a constant that is not among them: the list is public,
// the condition could never be what was meant, and a price would be paid for it.
func (l *Scope) unlisted(e *bounded.Expr, at []query.Pos) error {
	for i, a := range e.Args {
		column := a
		if column.Op == bounded.OpToReal {
			column = column.Args[0]
		}
		if column.Op != bounded.OpColumn || l.Columns[column.Column].Values == nil {
			continue
		}
		values := l.Columns[column.Column].Values
		listed := among(values, len(e.Args))
		for j, c := range e.Args {
			if j == i || c.Op != bounded.OpConst || c.Const.Null || listed(c.Const) {
				continue
			}
			return Refuse(
				at[j],
				valueHint(c.Const, values),
				"%s is not among the declared values of column %s",
				quoted(c.Const),
				query.QuoteName(column.Name),
			)
		}
	}
	return nil
}

// among tells whether constants are among declared values: of many, by a set of them.
func among(values []value.Value, constants int) func(value.Value) bool {
	if constants < 10 {
		return func(c value.Value) bool {
			return slices.ContainsFunc(values, func(v value.Value) bool { return same(v, c) })
		}
	}
	all, reals := make(map[value.Value]bool, len(values)), map[float64]bool{}
	for _, v := range values {
		all[v] = true
		if v.Type == value.Integer {
			reals[float64(v.Int)] = true
		}
	}
	return func(c value.Value) bool { return all[c] || c.Type == value.Real && reals[c.Real] }
}

// same compares a declared value with a constant, which is a real where a real stands beside it.
func same(v, c value.Value) bool {
	if v.Type == value.Integer && c.Type == value.Real {
		return float64(v.Int) == c.Real
	}
	return value.Compare(v, c) == 0
}

// valueHint offers the declared value that a constant was probably meant to be, or all, if they are few.
func valueHint(c value.Value, values []value.Value) string {
	const few = 20
	if c.Type == value.Text {
		var texts []string
		for _, v := range values {
			texts = append(texts, v.Text)
		}
		if best := nearest.Name(c.Text, texts); best != "" {
			return "did you mean " + quoted(value.OfText(best)) + "?"
		}
	}
	if len(values) > few {
		return fmt.Sprintf("%d values are declared: `dither tables` shows them", len(values))
	}
	var all []string
	for _, v := range values {
		all = append(all, quoted(v))
	}
	return "declared are " + strings.Join(all, ", ")
}

// BoundsNeeded refuses a sum of an expression without bounds, with the way to give them.
func BoundsNeeded(x *bounded.Expr, at query.Pos) error {
	if AnyColumn(x, IsUnbounded) {
		e := tooWide(x, at)
		e.Hint = "the owner can declare bounds in the policy; or give them here, as in SUM(x, bounds => (low, high))"
		return e
	}
	return Refuse(
		at,
		"bound it: LEAST(GREATEST(x, low), high)",
		"the values to be added have bounds too wide for a sensitivity",
	)
}
