package bind

import (
	"math"
	"slices"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// Whole is the type that PostgreSQL gives an expression whose type is integer here. A greater type wins in an
// expression of two.
type Whole int

// The types of whole numbers. `/` drops the fraction unless an operand is WholeNumeric, which stands for double
// precision too.
const (
	WholeInt Whole = iota // also smallint
	WholeBigInt
	WholeNumeric
)

// notInteger lists functions whose results are whole numbers that PostgreSQL gives the type numeric or double precision.
var notInteger = []string{
	"floor", "ceil", "ceiling", "round", "trunc", "sign", "div", "power", "pow", "extract", "date_part",
}

// ofArguments lists functions whose result has the type of their arguments.
var ofArguments = []string{
	"abs", "mod", "coalesce", "nullif", "least", "greatest", "min", "max", "lag", "lead", "first_value", "last_value",
}

// counting lists functions that PostgreSQL gives the type bigint.
var counting = []string{
	"count", "countif", "count_if", "approx_count_distinct", "regr_count",
	"row_number", "rank", "dense_rank",
}

// WholeOf returns the type that PostgreSQL gives an expression of type integer. EXTRACT(month FROM day) is numeric, so
// EXTRACT(month FROM day) / 3 has a fraction, and a column of integers divided by 3 has none. The sum of integers is a
// bigint, and the sum of bigints, such as SUM(COUNT(*)), is numeric. A cast to integer or bigint is an integer. The
// parameter `of` returns the type of a column or of a subquery.
func WholeOf(x query.Expr, of func(query.Expr) Whole) Whole {
	widest := func(xs ...query.Expr) (out Whole) {
		for _, x := range xs {
			if x != nil {
				out = max(out, WholeOf(x, of))
			}
		}
		return out
	}
	switch x := x.(type) {
	case *query.Column, *query.Nested:
		return of(x)
	case *query.Literal:
		if n, err := strconv.ParseInt(x.Text, 10, 64); x.Kind == query.IntegerLiteral && err == nil && n > math.MaxInt32 {
			return WholeBigInt
		}
	case *query.Unary:
		return widest(x.X)
	case *query.Binary:
		return widest(x.L, x.R)
	case *query.Case:
		out := widest(x.Else)
		for _, w := range x.Whens {
			out = max(out, widest(w.Result))
		}
		return out
	case *query.Cast:
		switch t, ok := value.ParseType(x.Type); {
		case ok && t == value.Real:
			return WholeNumeric
		case t != value.Integer:
			return widest(x.X)
		}
	case *query.Call:
		switch {
		case slices.Contains(notInteger, x.Name):
			return WholeNumeric
		case slices.Contains(counting, Renamed(x).Name):
			return WholeBigInt
		case Renamed(x).Name == "sum":
			return max(WholeBigInt, min(widest(x.Args...)+1, WholeNumeric))
		case slices.Contains(ofArguments, x.Name):
			return widest(x.Args...)
		}
	}
	return WholeInt
}

// Whole is WholeOf for the columns of the scope. In a subquery that is grouped by the unit, columns are of its input.
func (l *Scope) Whole(x query.Expr) Whole {
	if l.inside != nil {
		return l.inside.input.Whole(x)
	}
	return WholeOf(x, func(x query.Expr) Whole {
		if c, ok := x.(*query.Column); ok {
			if n, err := l.Find(c); err == nil {
				return n.whole
			}
		}
		return WholeInt
	})
}

// KeepsFraction reports whether `/` keeps the fraction of an expression of type integer.
func (l *Scope) KeepsFraction(x query.Expr) bool { return l.Whole(x) == WholeNumeric }

// fraction is the kind of number that PostgreSQL gives an expression. A greater kind wins in an expression of two.
type fraction int

const (
	noFraction fraction = iota
	numericFraction
	doubleFraction
)

// fraction returns the kind of number that PostgreSQL gives an expression. A constant with a point and EXTRACT are
// numeric. A real column counts as double precision, and so does everything else that is not known to be numeric.
func (l *Scope) fraction(x query.Expr) fraction {
	widest := func(xs ...query.Expr) (out fraction) {
		for _, x := range xs {
			out = max(out, l.fraction(x))
		}
		return out
	}
	switch x := x.(type) {
	case *query.Literal:
		switch x.Kind {
		case query.IntegerLiteral:
			return noFraction
		case query.DecimalLiteral:
			return numericFraction
		}
	case *query.Unary:
		return widest(x.X)
	case *query.Binary:
		return widest(x.L, x.R)
	case *query.Column:
		if e, err := l.Row(x); err == nil && e.Op == bounded.OpColumn && e.Type == value.Integer {
			return noFraction
		}
	case *query.Cast:
		if t, ok := value.ParseType(x.Type); ok && t == value.Integer {
			return noFraction
		}
	case *query.Call:
		switch x.Name {
		case "extract":
			return numericFraction
		case "abs", "round", "trunc", "coalesce", "least", "greatest":
			return widest(x.Args...)
		}
	}
	return doubleFraction
}
