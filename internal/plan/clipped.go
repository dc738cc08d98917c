package plan

import (
	"math/big"
	"strconv"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// clipped rewrites CLIPPED(x, bounds => (low, high)), the number of rows that the bounds clamp, as a COUNT.
// CLIPPED(x) means the declared bounds of x. A column's value is already clamped to its declared bounds. So if a
// bound is not inside the declared ones, the COUNT includes the rows whose value is at the declared bound, which
// contain all rows that cleaning clamped. Otherwise it counts the rows strictly beyond the bound.
func (b *measuring) clipped(x *query.Call) (*query.Call, error) {
	s := b.given.outside
	if x.Star || x.Distinct || len(x.Args) != 1 || b.given.auto {
		return nil, bind.Refuse(
			x.At,
			"write CLIPPED(x, bounds => (0, 100)), or CLIPPED(x)",
			"CLIPPED takes one value, and constant bounds",
		)
	}
	e, err := b.Row(x.Args[0])
	if err != nil {
		return nil, err
	}
	if bind.IsUntypedNull(e) || e.Type == value.Boolean {
		return nil, bind.Refuse(x.At, "", "a number is needed here")
	}
	if err := bind.Numeric(e, x.At); err != nil {
		return nil, err
	}
	if s == nil && bind.IsUnbounded(e) {
		return nil, bind.Refuse(x.At, "write CLIPPED(x, bounds => (low, high))", "CLIPPED needs bounds, and this expression has none")
	}
	least, most := rangeRats(e.Range, e.Type)
	low, high := ratLiteral(least, e.Type, x.At), ratLiteral(most, e.Type, x.At)
	below, above := query.Le, query.Ge
	if s != nil && e.Type == value.Integer && (!s.lo.IsInt() || !s.hi.IsInt()) {
		return nil, bind.Refuse(s.at, "use whole numbers", "the bounds of an integer are integers")
	}
	if s != nil && s.lo.Cmp(least) > 0 {
		low, below = ratLiteral(s.lo, e.Type, x.At), query.Lt
	}
	if s != nil && s.hi.Cmp(most) < 0 {
		high, above = ratLiteral(s.hi, e.Type, x.At), query.Gt
	}
	cond := query.Expr(&query.Binary{
		At: x.At, Op: query.Or,
		L: &query.Binary{At: x.At, Op: below, L: x.Args[0], R: low},
		R: &query.Binary{At: x.At, Op: above, L: x.Args[0], R: high},
	})
	one := &query.Literal{At: x.At, Kind: query.IntegerLiteral, Text: "1"}
	return &query.Call{
		At:     x.At,
		Name:   "count",
		Filter: x.Filter,
		Args:   []query.Expr{&query.Case{At: x.At, Whens: []query.When{{Cond: cond, Result: one}}}},
	}, nil
}

// ratLiteral returns a number as a constant of type t.
func ratLiteral(r *big.Rat, t value.Type, at query.Pos) *query.Literal {
	if t == value.Integer && r.IsInt() {
		return &query.Literal{At: at, Kind: query.IntegerLiteral, Text: r.Num().String()}
	}
	f, _ := r.Float64()
	return &query.Literal{At: at, Kind: query.DecimalLiteral, Text: strconv.FormatFloat(f, 'e', -1, 64)}
}
