package bind

import (
	"strings"

	"dither/internal/query"
)

// unwindowed refuses a window function over rows of persons.
func unwindowed(x *query.Call) error {
	if x.Over == nil {
		return nil
	}
	e := RefuseHere(
		x.Over.At,
		hintOfWindow(x),
		"window functions (OVER) are not supported over single rows: they are computed over the rows of an answer",
	)
	e.Instead = OverAnswer
	return e
}

// hintOfWindow returns what to write instead of a window function over single rows. One that divides rows by a column,
// as by the person, is often a subquery over the rows of the same person.
func hintOfWindow(x *query.Call) string {
	hint := "use it over an answer: SELECT x, SUM(COUNT(*)) OVER () FROM … GROUP BY x"
	if len(x.Over.Partition) != 1 || len(x.Over.Order) != 1 || x.Over.Order[0].Desc {
		return hint
	}
	by, isName := x.Over.Partition[0].(*query.Column)
	order, ordered := x.Over.Order[0].Expr.(*query.Column)
	if !isName || !ordered {
		return hint
	}
	u, o := query.QuoteName(by.Name), query.QuoteName(order.Name)
	before := " FROM … w WHERE w." + u + " = v." + u + " AND w." + o + " < v." + o + ")"
	same := "if " + u + " is the unit, call the table v and write "
	switch {
	case x.Name == "row_number" || x.Name == "rank":
		return "if " + u + " is the unit, and the first rows are meant, keep them by WHERE n = 1 in the SELECT around this one, where n is its name; " +
			"otherwise " + hint
	case x.Name == "lag" && len(x.Args) == 1:
		if c, ok := x.Args[0].(*query.Column); ok && c.Name == order.Name {
			return same + "(SELECT MAX(w." + o + ")" + before + "; otherwise " + hint
		}
	}
	return hint
}

// Extremum returns the refusal of MIN or MAX over rows of several persons.
func Extremum(x *query.Call) error {
	at, order := "0.01", "x"
	if x.Name == "max" {
		at, order = "0.99", "x DESC"
	}
	e := Refuse(
		x.At,
		"for numbers and dates, ask for a quantile near it: PERCENTILE_DISC("+at+") WITHIN GROUP (ORDER BY x); "+
			"for texts, ask for the first group: SELECT x, COUNT(*) … GROUP BY x HAVING COUNT(*) > 100 "+
			"ORDER BY "+order+" LIMIT 1",
		"%s is not supported: it is one person's value",
		strings.ToUpper(x.Name),
	)
	e.Instead = NearExtremum
	return e
}

// unordered refuses LIMIT and OFFSET in a subquery whose rows belong to persons. ORDER BY alone has no effect there.
func unordered(s *query.Select) error {
	if s.Limit != nil || s.Offset != nil {
		return RefuseHere(
			s.At,
			"leave it out; rows of one person are limited by the policy",
			"LIMIT inside a subquery is not supported: whether a row stays would depend on other persons' rows",
		)
	}
	return nil
}

// Starred returns the refusal of * in the SELECT list of a question.
func Starred(x *query.Star) error {
	return RefuseHere(
		x.At,
		"name aggregates, such as COUNT(*) or AVG(x); `dither tables` shows the columns",
		"* is not answered: single rows are never returned",
	)
}
