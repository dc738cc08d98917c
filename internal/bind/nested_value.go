package bind

import (
	"slices"

	"dither/internal/query"
)

// in returns X IN (SELECT y …) with its three values: TRUE if some y equals X; otherwise NULL if some y is NULL, or if X
// is NULL and there is any row; otherwise FALSE.
func (n *nesting) in(x *query.Nested) (query.Expr, error) {
	if len(x.X) > 1 {
		return nil, Refuse(
			x.At,
			"write NOT EXISTS (SELECT … WHERE t.a = s.a AND t.b = s.b)",
			"(a, b) IN (SELECT …) is supported as a condition of WHERE only, outside NOT",
		)
	}
	in, err := n.bind(x)
	if err != nil {
		return nil, err
	}
	found, err := n.match(x, in.copied(), x.X)
	if err != nil {
		return nil, err
	}
	out := &query.Case{At: x.At, Else: &query.Literal{At: x.At, Kind: query.BooleanLiteral}}
	when := func(c query.Expr, kind query.LiteralKind) {
		out.Whens = append(out.Whens, query.When{Cond: c, Result: &query.Literal{At: x.At, Kind: kind, Bool: true}})
	}
	when(found, query.BooleanLiteral)
	is := func(e query.Expr) query.Expr { return &query.Is{At: x.At, X: e, What: query.IsNull} }
	never, err := neverNull(x, in)
	if err != nil {
		return nil, err
	}
	if !never {
		nulls := in.copied()
		if err := n.link(nulls, is(in.items[0])); err != nil {
			return nil, err
		}
		null, err := n.match(x, nulls, nil)
		if err != nil {
			return nil, err
		}
		when(null, query.NullLiteral)
	}
	if c, ok := x.X[0].(*query.Column); !ok || !n.base.IsUnit(c) {
		some, err := n.match(x, in, nil)
		if err != nil {
			return nil, err
		}
		when(&query.Binary{At: x.At, Op: query.And, L: is(x.X[0]), R: some}, query.NullLiteral)
	}
	if len(out.Whens) == 1 { // neither side is ever NULL
		return found, nil
	}
	return out, nil
}

// neverNull reports whether the subquery's first item is never NULL: it is the unit's column, or WHERE says so.
func neverNull(x *query.Nested, in *inner) (bool, error) {
	if c, ok := in.items[0].(*query.Column); ok {
		if name, err := in.rows.Find(c); err == nil && name.unit {
			return true, nil
		}
	}
	if len(x.Sub.Branches) > 1 {
		return false, Refuse(
			x.At,
			"use NOT IN twice, with one SELECT each",
			"NOT IN takes no UNION ALL, unless its SELECTs select the unit's column",
		)
	}
	s := x.Sub.Branches[0]
	for _, c := range split(s.Where) {
		if is, ok := c.(*query.Is); ok && is.Not && is.What == query.IsNull && query.Print(is.X) == query.Print(s.Items[0].Expr) {
			return true, nil
		}
	}
	return false, nil
}

// found returns whether the subquery has a row that meets its conditions, and whose items equal row.
func (n *nesting) found(x *query.Nested, row []query.Expr) (query.Expr, error) {
	in, err := n.bind(x)
	if err != nil {
		return nil, err
	}
	return n.match(x, in, row)
}

// match is found for a subquery that is bound. It changes in.
func (n *nesting) match(x *query.Nested, in *inner, row []query.Expr) (query.Expr, error) {
	if len(row) > 0 && len(row) != len(in.items) {
		return nil, Refuse(
			x.At,
			"select one column for each value before IN",
			"IN compares one value with each column: there are %d and %d",
			len(row),
			len(in.items),
		)
	}
	for i, e := range row {
		in.equal = append(in.equal, linked{op: query.Eq, inner: in.items[i], outer: e, at: x.At})
	}
	var least, most *query.Call
	if len(in.compared) == 1 && len(in.rest) == 0 && !in.rows.public {
		c := in.compared[0]
		least = &query.Call{At: c.at, Name: "min", Args: []query.Expr{c.inner}}
		most = &query.Call{At: c.at, Name: "max", Args: []query.Expr{c.inner}}
		if joined, err := n.extremes(x, in.copied(), c, least, most); err == nil {
			return joined, nil
		}
	}
	j, err := n.joined(x, in, nil)
	if err != nil {
		return nil, err
	}
	return j.found(x.At), nil
}

// extremes returns whether some inner value compares with the outer one: if the least or the greatest one does. That
// is less work than joining all rows of a unit with each other.
func (n *nesting) extremes(x *query.Nested, in *inner, c linked, least, most *query.Call) (query.Expr, error) {
	in.compared = nil
	var calls []*query.Call
	switch c.op {
	case query.Lt, query.Le:
		calls = []*query.Call{least}
	case query.Gt, query.Ge:
		calls = []*query.Call{most}
	default: // <>
		calls = []*query.Call{least, most}
	}
	before := *n.out
	j, err := n.joined(x, in, calls)
	if err != nil {
		*n.out = before
		return nil, err
	}
	var out query.Expr
	for i := range calls {
		e := query.Expr(&query.Binary{At: c.at, Op: c.op, L: j.aggregates[i], R: c.outer})
		if out != nil {
			e = &query.Binary{At: c.at, Op: query.Or, L: out, R: e}
		}
		out = e
	}
	out = &query.Is{At: x.At, X: out, What: query.IsTrue}
	_, err = n.out.Condition(out)
	return out, err
}

// value returns the one value that a subquery selects: NULL if it has no row, or an expression over aggregates.
func (n *nesting) value(x *query.Nested) (query.Expr, error) {
	x = limitedValue(x)
	in, err := n.bind(x)
	if err != nil {
		return nil, err
	}
	if len(in.items) != 1 {
		return nil, Refuse(x.At, "select one", "this subquery stands for one value, and selects %d columns", len(in.items))
	}
	if !aggregates(in.items[0]) {
		return n.lookup(x, in)
	}
	if in.rows.public {
		e := Refuse(
			x.At,
			"read the table itself, which is public, and write the value here as a constant",
			"a subquery cannot aggregate public rows",
		)
		e.Instead = PublicValue
		return nil, e
	}
	item, err := in.spread(in.items[0])
	if err != nil {
		return nil, err
	}
	var calls []*query.Call
	if _, err := query.Rewrite(item, func(x query.Expr) (query.Expr, error) {
		if c, ok := x.(*query.Call); ok && (IsAggregate(Renamed(c).Name) || innerFunctions[c.Name] != "") {
			calls = append(calls, c)
		}
		return x, nil
	}); err != nil {
		return nil, err
	}
	j, err := n.joined(x, in, calls)
	if err != nil {
		return nil, err
	}
	return query.Rewrite(item, func(x query.Expr) (query.Expr, error) {
		if c, ok := x.(*query.Call); ok {
			if i := slices.Index(calls, c); i >= 0 {
				return j.aggregates[i], nil
			}
		}
		return x, nil
	})
}

// lookup returns the value of an item of the one row that the subquery's keys identify.
func (n *nesting) lookup(x *query.Nested, in *inner) (query.Expr, error) {
	no := func(hint string) error {
		return Refuse(
			x.At,
			hint,
			"this subquery stands for one value, and nothing that is declared says that it has at most one row",
		)
	}
	if len(in.compared)+len(in.rest) > 0 {
		return nil, no("aggregate it: (SELECT MAX(x) …)")
	}
	one := !in.rows.public && in.rows.unit.RowsPerUnit == 1
	for _, k := range in.equal {
		inner, ok := k.inner.(*query.Column)
		if !ok {
			continue
		}
		name, err := in.rows.Find(inner)
		if err != nil {
			return nil, err
		}
		one = one || in.rows.public && name.most == 1
		if outer, ok := k.outer.(*query.Column); ok && !one {
			o, err := n.base.Find(outer)
			one = err == nil && refers(o.of, name.of) && name.copies <= 1
		}
	}
	if !one && in.rows.public {
		return nil, no("the owner can declare rows_per_value: 1 for the column that the condition equates")
	}
	if !one {
		return nil, no("aggregate it: (SELECT MAX(x) …)")
	}
	e, err := in.rows.Row(in.items[0])
	if err != nil {
		return nil, err
	}
	j, err := n.joined(x, in, nil, e)
	if err != nil {
		return nil, err
	}
	return j.aggregates[0], nil
}
