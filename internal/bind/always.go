package bind

import "dither/internal/bounded"

// Always reports whether an expression has a value in every row of a table whose number of units is declared. Sealing has
// checked the columns that are not nullable, except against values that come from a public table.
func (l *Scope) Always(e *bounded.Expr) bool {
	if e.Op == bounded.OpCase && len(e.Args) == 3 && present(e.Args[0]) != nil { // CASE WHEN x IS NOT NULL THEN y END
		return l.Always(present(e.Args[0])) && l.Always(e.Args[1])
	}
	return !l.NullGroup(e) && !AnyColumn(e, func(x *bounded.Expr) bool { return l.Columns[x.Column].ValuesFrom != nil })
}

// present returns x if the condition e is x IS NOT NULL, and else nil.
func present(e *bounded.Expr) *bounded.Expr {
	if e.Op == bounded.OpNot && e.Args[0].Op == bounded.OpNil {
		return e.Args[0].Args[0]
	}
	return nil
}
