package bind

import (
	"slices"

	"dither/internal/query"
	"dither/internal/value"
)

// notInteger lists functions whose results are whole numbers that PostgreSQL gives the type numeric or double precision.
var notInteger = []string{
	"floor", "ceil", "ceiling", "round", "trunc", "sign", "div", "power", "pow", "extract", "date_part",
}

// ofArguments lists functions whose result has the type of their arguments.
var ofArguments = []string{"abs", "mod", "coalesce", "nullif", "least", "greatest", "sum", "min", "max"}

// KeepsFraction reports whether PostgreSQL gives an expression of type integer the type numeric or double precision.
// Then `/` keeps the fraction: EXTRACT(month FROM day) / 3 has one, and a column of integers divided by 3 has none. The
// parameter column reports it of a column.
func KeepsFraction(x query.Expr, column func(*query.Column) bool) bool {
	keeps := func(x query.Expr) bool { return KeepsFraction(x, column) }
	switch x := x.(type) {
	case *query.Column:
		return column(x)
	case *query.Unary:
		return keeps(x.X)
	case *query.Binary:
		return keeps(x.L) || keeps(x.R)
	case *query.Case:
		return x.Else != nil && keeps(x.Else) ||
			slices.ContainsFunc(x.Whens, func(w query.When) bool { return keeps(w.Result) })
	case *query.Cast:
		t, ok := value.ParseType(x.Type)
		return ok && t == value.Real || keeps(x.X) && t != value.Integer
	case *query.Call:
		if slices.Contains(notInteger, x.Name) {
			return true
		}
		return slices.Contains(ofArguments, x.Name) && slices.ContainsFunc(x.Args, keeps)
	}
	return false
}

// KeepsFraction is KeepsFraction for the columns of the scope.
func (l *Scope) KeepsFraction(x query.Expr) bool {
	return KeepsFraction(x, func(c *query.Column) bool {
		n, err := l.Find(c)
		return err == nil && n.fraction
	})
}
