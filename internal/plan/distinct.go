package plan

import (
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// countsUnits reports whether the call is COUNT(DISTINCT unit), which counts units.
func (b *measuring) countsUnits(x *query.Call) bool {
	if x.Name != "count" || !x.Distinct || len(x.Args) != 1 || b.Table.Unit.IsRow() {
		return false
	}
	c, ok := x.Args[0].(*query.Column)
	return ok && b.IsUnit(c)
}

// unitIf returns an expression that is not NULL exactly where x is not NULL, if x is a CASE whose results are the unit's
// column or NULL: CASE WHEN c THEN person END. A count of the distinct values of x counts the units that have a row
// for which x is not NULL, because a row's unit is never NULL.
func (b *measuring) unitIf(x query.Expr) (query.Expr, bool) {
	of, ok := x.(*query.Case)
	if !ok {
		return nil, false
	}
	one := func(x query.Expr) (query.Expr, bool) {
		switch x := x.(type) {
		case *query.Column:
			_, err := b.Column(x)
			return &query.Literal{At: x.At, Kind: query.IntegerLiteral, Text: "1"}, err == nil && b.IsUnit(x)
		case *query.Literal:
			return x, x.Kind == query.NullLiteral
		}
		return b.unitIf(x)
	}
	out, found := *of, false
	out.Whens = slices.Clone(of.Whens)
	for i, w := range of.Whens {
		if out.Whens[i].Result, ok = one(w.Result); !ok {
			return nil, false
		}
		_, null := w.Result.(*query.Literal)
		found = found || !null
	}
	if of.Else != nil {
		if out.Else, ok = one(of.Else); !ok {
			return nil, false
		}
		_, null := of.Else.(*query.Literal)
		found = found || !null
	}
	return &out, found
}

// countDistinct plans COUNT(DISTINCT x). If x is the unit's column, perhaps in a CASE, it counts units, and otherwise
// distinct values.
func (b *measuring) countDistinct(x *query.Call) (unpricedAggregate, error) {
	if b.countsUnits(x) {
		if c, ok := x.Args[0].(*query.Column); ok {
			if _, err := b.Column(c); err != nil {
				return unpricedAggregate{}, err
			}
		}
		return unpricedAggregate{of: CountFunc, count: countMeasure(bounded.CountUnits, nil)}, nil
	}
	if x.Name == "count" && !b.Table.Unit.IsRow() {
		if c, ok := b.unitIf(x.Args[0]); ok {
			e, err := b.Row(c)
			if err != nil {
				return unpricedAggregate{}, err
			}
			return unpricedAggregate{of: CountFunc, count: countMeasure(bounded.CountUnitsWith, e)}, nil
		}
	}
	if x.Name == "sum" {
		return b.sumDistinct(x)
	}
	if x.Name != "count" {
		return unpricedAggregate{}, bind.Refuse(
			x.At,
			"leave DISTINCT out; or write SUM(DISTINCT x) / COUNT(DISTINCT x)",
			"only COUNT and SUM take DISTINCT",
		)
	}
	e, err := b.Row(x.Args[0])
	if err != nil {
		return unpricedAggregate{}, err
	}
	if bind.IsUntypedNull(e) {
		return unpricedAggregate{}, bind.Refuse(x.At, "", "NULL cannot be aggregated")
	}
	e, few, err := b.listed(e, x.At)
	if err != nil {
		return unpricedAggregate{}, err
	}
	m := countMeasure(bounded.CountDistinct, e)
	m.Values = few
	return unpricedAggregate{of: CountFunc, count: m}, nil
}

// sumDistinct plans SUM(DISTINCT x) of integers with bounds.
func (b *measuring) sumDistinct(x *query.Call) (unpricedAggregate, error) {
	e, err := b.Row(x.Args[0])
	if err != nil {
		return unpricedAggregate{}, err
	}
	switch {
	case e.Type != value.Integer || bind.IsUntypedNull(e):
		return unpricedAggregate{}, bind.Refuse(
			x.At,
			"round it to integers: SUM(DISTINCT CAST(x AS integer)); or leave DISTINCT out",
			"SUM(DISTINCT x) takes integers: which reals are equal depends on their last digits",
		)
	case b.given.auto:
		return unpricedAggregate{}, bind.Refuse(
			x.At,
			"state the bounds: SUM(DISTINCT x, bounds => (low, high))",
			"no bounds are searched for SUM(DISTINCT x)",
		)
	}
	sum, err := sumMeasure(e, false, x.At)
	if err != nil {
		return unpricedAggregate{}, err
	}
	sum.Kind = bounded.SumDistinct
	return unpricedAggregate{of: SumFunc, sum: sum}, nil
}

// mostListed is the largest number of values that listed enforces in a statement.
const mostListed = 64

// listed returns an expression with the values of e, and a number: how many values other than NULL it can have, at
// least 1. The number is 0 if it is unknown, as for reals, or too large. A sensitivity rests on this number, so the
// statement enforces it: cleaning enforces the values of a column, and any other expression becomes NULL if its
// value is not in the list.
func (b *measuring) listed(e *bounded.Expr, at query.Pos) (listed *bounded.Expr, few int64, err error) {
	values, ok := b.Known(e)
	if !ok || e.Type == value.Real {
		return e, 0, nil
	}
	slices.SortFunc(values, value.Compare)
	values = slices.Compact(values)
	few = int64(len(values))
	switch cleaned := e.Op == bounded.OpColumn && b.Source == nil; {
	case cleaned, e.Type == value.Boolean, e.Op == bounded.OpConst:
		return e, max(few, 1), nil
	case few == 0, few > mostListed:
		return e, 0, nil
	}
	in := &bounded.Expr{Op: bounded.OpIn, Type: value.Boolean, Args: []*bounded.Expr{e}, Nullable: e.Nullable}
	for _, v := range values {
		in.Args = append(in.Args, bind.Constant(v))
	}
	listed, err = bind.Choose([]*bounded.Expr{in}, []*bounded.Expr{e, bind.Constant(value.NullOf(e.Type))}, at)
	return listed, few, err
}

// distinct reports whether each distinct value counts once.
func (a unpricedAggregate) distinct() bool {
	return slices.ContainsFunc(a.measures(), func(m *unpricedMeasure) bool { return m.Distinct() })
}
