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

// keepsFraction reports whether PostgreSQL gives an expression of type integer the type numeric or double precision.
// Then `/` keeps the fraction: EXTRACT(month FROM day) / 3 has one, and a column of integers divided by 3 has none.
func (l *Scope) keepsFraction(x query.Expr) bool {
	switch x := x.(type) {
	case *query.Column:
		n, err := l.Find(x)
		return err == nil && n.fraction
	case *query.Unary:
		return l.keepsFraction(x.X)
	case *query.Binary:
		return l.keepsFraction(x.L) || l.keepsFraction(x.R)
	case *query.Case:
		return x.Else != nil && l.keepsFraction(x.Else) ||
			slices.ContainsFunc(x.Whens, func(w query.When) bool { return l.keepsFraction(w.Result) })
	case *query.Cast:
		t, ok := value.ParseType(x.Type)
		return ok && t == value.Real || l.keepsFraction(x.X) && t != value.Integer
	case *query.Call:
		if slices.Contains(notInteger, x.Name) {
			return true
		}
		return slices.Contains(ofArguments, x.Name) && slices.ContainsFunc(x.Args, l.keepsFraction)
	}
	return false
}
