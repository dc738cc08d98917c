package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/query"
)

// Always reports whether an expression has a value in every row of a table whose number of units is declared. Sealing has
// checked the columns that are not nullable, except against values that come from a public table.
func (l *Scope) Always(e *bounded.Expr) bool {
	if e.Op == bounded.OpCase && len(e.Args) == 3 && present(e.Args[0]) != nil { // CASE WHEN x IS NOT NULL THEN y END
		return l.Always(present(e.Args[0])) && l.Always(e.Args[1])
	}
	return !l.NullGroup(e) && !AnyColumn(e, func(x *bounded.Expr) bool { return l.Columns[x.Column].ValuesFrom != nil })
}

// CountsAll reports whether an aggregate without DISTINCT, FILTER and named arguments counts all rows of a table whose number
// of units is declared: COUNT(*), and COUNT(x) and REGR_COUNT(y, x) of arguments that have a value in every row. It is false
// for arguments that the aggregate does not take.
func (l *Scope) CountsAll(c *query.Call) bool {
	pair := c.Name == "regr_count"
	switch {
	case c.Name == "count" && c.Star:
		return true
	case c.Star, c.Name != "count" && !pair, len(c.Args) != max(1, Moments[c.Name]):
		return false
	}
	return !slices.ContainsFunc(c.Args, func(x query.Expr) bool {
		e, err := l.Row(x)
		return err != nil || !l.Always(e) || pair && !IsNumber(e.Type)
	})
}

// present returns x if the condition e is x IS NOT NULL, and else nil.
func present(e *bounded.Expr) *bounded.Expr {
	if e.Op == bounded.OpNot && e.Args[0].Op == bounded.OpNil {
		return e.Args[0].Args[0]
	}
	return nil
}
