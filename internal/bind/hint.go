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

// suggestion returns a hint with the candidate that name most likely means, or with all candidates. It returns ""
// if there is nothing to suggest.
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

// quotedNames returns the names as SQL writes them, in double quotes where needed.
func quotedNames(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = query.QuoteName(n)
	}
	return out
}

// noColumn returns the hint for a column that does not exist. Analysts sometimes write a text in double quotes,
// which SQL reads as a name.
func noColumn(name string, columns []string) string {
	if o, ok := otherFunctions[name]; ok && o.args < 0 {
		return "write " + o.write
	}
	hint := suggestion(name, columns)
	if nearest.Name(name, columns) != "" {
		return hint
	}
	if hint != "" {
		hint += "; "
	}
	return hint + "write a text in single quotes: " + quoted(value.OfText(name))
}

// dontMix returns a refusal of two types where one is needed, with a hint on what to write.
func dontMix(at query.Pos, t value.Type, a *bounded.Expr, args []*bounded.Expr) *Error {
	return Refuse(at, MixHint(t, a.Type, append(slices.Clone(args), a)), "%s and %s don't mix here", t, a.Type)
}

// MixHint returns a hint on how to compare values of two types.
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
			return "write a number without quotes; a text column cannot be converted to a number"
		case between(n, value.Boolean):
			return "compare a boolean with TRUE or FALSE, or make it a number: CAST(… AS integer) is 1 or 0"
		case between(n, value.Date):
			return "write a date as DATE '2026-01-31'"
		}
	}
	switch {
	case between(value.Text, value.Boolean):
		return "write TRUE or FALSE without quotes; CASE turns a boolean into a text"
	case between(value.Text, value.Date):
		return "compare a date with a constant such as DATE '2026-01-31'; CASE turns dates into texts"
	}
	return "use CASE to turn both into one type"
}

// arithmeticHint returns a hint on what to write instead of arithmetic with dates, times or texts.
func arithmeticHint(a, b *bounded.Expr) string {
	clock := func(e *bounded.Expr) bool { return ReadsText(e.Type) }
	switch {
	case a.Type == value.Interval || b.Type == value.Interval:
		return "for the days between two times, write EXTRACT(epoch FROM a - b) / 86400; add a constant such as INTERVAL '1 day' to a date or a timestamp"
	case a.Type == value.Timestamp || b.Type == value.Timestamp:
		return "write t + INTERVAL '1 day', or t::date + 1"
	case clock(a) || clock(b):
		return "a date takes a number of days, as in day + 7; the difference of two dates is a number of days"
	case a.Type == value.Text || b.Type == value.Text:
		return "compare texts with = or LIKE, or group by them"
	}
	return ""
}

// quoted returns a value as a constant in SQL.
func quoted(v value.Value) string {
	switch v.Type {
	case value.Text:
		return query.QuoteText(v.Text)
	case value.Date:
		return "DATE '" + v.String() + "'"
	case value.Boolean:
		return strings.ToUpper(v.String())
	}
	return v.String()
}

// unlisted refuses to compare a column that has declared values with a constant that is not among them. The list is
// public. Such a condition is most likely a mistake, and the analyst would pay for the answer.
func (l *Scope) unlisted(e *bounded.Expr, at []query.Pos) error {
	if l.anyValue {
		return nil
	}
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
			if c.Type == value.Text && c.Const.Text == "" { // tools write <> '' beside IS NOT NULL
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

// among returns a function that reports whether a constant is one of the declared values. For many values and
// constants, the function uses a set.
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

// same reports whether a declared value equals a constant. A declared integer equals a real constant of the same
// number.
func same(v, c value.Value) bool {
	if v.Type == value.Integer && c.Type == value.Real {
		return float64(v.Int) == c.Real
	}
	return value.Compare(v, c) == 0
}

// valueHint returns a hint with the declared value that the constant c most likely means, or with all declared
// values if they are few.
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
	return "the declared values are " + strings.Join(all, ", ")
}

// BoundsNeeded returns a refusal of a sum of an expression without bounds, with a hint on how to add them.
func BoundsNeeded(x *bounded.Expr, at query.Pos) error {
	if AnyColumn(x, IsUnbounded) {
		e := tooWide(x, at)
		e.Hint = "the owner can declare bounds in the policy; or give them here, as in SUM(x, bounds => (low, high))"
		return e
	}
	return Refuse(
		at,
		"bound it: LEAST(GREATEST(x, low), high)",
		"the bounds of the values to be added are too wide",
	)
}
