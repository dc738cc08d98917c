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
	hint := "use it over an answer: SELECT x, SUM(COUNT(*)) OVER () FROM t GROUP BY x"
	if len(x.Over.Partition) > 0 {
		hint = "if it divides the rows by the person, select it in a subquery of FROM: (SELECT " + query.Print(x) + " AS x FROM t) q; otherwise " + hint
	}
	if x.Name == "ntile" {
		hint = "ask for the quantiles first, as in PERCENTILE_CONT(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY x), " +
			"and then GROUP BY CASE WHEN x < 100 THEN 1 ELSE 2 END with their values"
	}
	e := RefuseHere(
		x.Over.At,
		hint,
		"window functions (OVER) are not supported over single rows: they are computed over the rows of an answer",
	)
	e.Instead = OverAnswer
	return e
}

// nearRanks are the ranks of the quantiles that take the place of MIN and MAX.
var nearRanks = map[string]string{"min": "0.01", "max": "0.99"}

// QuantileNear returns the quantile to ask for in the place of MIN or MAX of one argument; nil for any other call.
func QuantileNear(c *query.Call) *query.Call {
	rank := nearRanks[c.Name]
	if rank == "" || len(c.Args) != 1 {
		return nil
	}
	return &query.Call{
		At: c.At, Name: "percentile_disc", Args: []query.Expr{&query.Literal{At: c.At, Kind: query.DecimalLiteral, Text: rank}},
		Within: &query.Order{Expr: c.Args[0]}, Filter: c.Filter,
	}
}

// Extremum returns the refusal of MIN or MAX over rows of several persons.
func Extremum(x *query.Call) error {
	if whetherNull(x) {
		return Refuse(x.At, "leave it out: COUNT(DISTINCT x) counts the values that are not NULL",
			"%s is not supported: one person's row can decide it", strings.ToUpper(x.Name))
	}
	at, order := nearRanks[x.Name], "x"
	if x.Name == "max" {
		order = "x DESC"
	}
	e := Refuse(
		x.At,
		"for numbers and dates, ask for a quantile near it: PERCENTILE_DISC("+at+") WITHIN GROUP (ORDER BY x); "+
			"for texts, ask for the first group: SELECT x, COUNT(*) … GROUP BY x HAVING COUNT(*) > 100 "+
			"ORDER BY "+order+" LIMIT 1",
		"%s is not supported: one person's row can decide it",
		strings.ToUpper(x.Name),
	)
	e.Instead = NearExtremum
	return e
}

// whetherNull reports whether an aggregate is of CASE WHEN y IS NULL THEN 1 ELSE 0 END, which Power BI adds to
// COUNT(DISTINCT y).
func whetherNull(x *query.Call) bool {
	if len(x.Args) != 1 {
		return false
	}
	c, ok := x.Args[0].(*query.Case)
	if !ok || c.Operand != nil || len(c.Whens) != 1 {
		return false
	}
	is, ok := c.Whens[0].Cond.(*query.Is)
	return ok && is.What == query.IsNull
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

// ofPublicRows returns the refusal of LIMIT in a subquery. If its rows are public, they are not those of other persons.
func (f from) ofPublicRows(s *query.Select, refusal error) error {
	if r, _, err := f.selects(s); err != nil || !r.public {
		return refusal
	}
	return Refuse(
		s.At,
		"write MIN or MAX in its place, as in (SELECT MAX(x) FROM t); or a condition, such as WHERE x >= 10",
		"LIMIT inside a subquery of public rows is not supported: among rows that are equal in ORDER BY, "+
			"engines choose differently",
	)
}

// Starred returns the refusal of * in the SELECT list of a question.
func Starred(x *query.Star) error {
	return RefuseHere(
		x.At,
		"name aggregates, such as COUNT(*) or AVG(x); `dither tables` shows the columns",
		"* is not answered: single rows are never returned",
	)
}
