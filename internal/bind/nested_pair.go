package bind

import (
	"slices"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// pairedUp returns the subquery's rows beside the outer columns that its conditions read, so that each of these
// conditions reads one row:
//
//	EXISTS (SELECT … FROM v w WHERE w.who = v.who AND w.d > v.d AND w.d <= v.d + 90)
//	FROM (SELECT who, d FROM v GROUP BY who, d) o JOIN v w ON w.who = o.who AND w.d > o.d AND w.d <= o.d + 90
//
// The keys are then the outer columns. A row in which one of them is NULL has no match, so each condition must be
// untrue for it.
func (n *nesting) pairedUp(x *query.Nested, in *inner) (*inner, error) {
	p := &pairing{n: n, in: in, table: n.hiddenTable()}
	for _, k := range slices.Concat(in.equal, in.compared) {
		outer, err := n.unshadowed(in, k.outer)
		if err != nil {
			return nil, err
		}
		p.add(&query.Binary{At: k.at, Op: k.op, L: k.inner, R: outer})
	}
	for _, c := range in.rest {
		p.add(c)
	}
	base := n.base
	if slices.ContainsFunc(p.columns, func(c outerColumn) bool { return isHidden(c.of.Table) }) {
		base = n.out // a value of another subquery is among the columns
	}
	outer, err := base.copied().distinctOf(p.columns, p.table)
	if err != nil {
		return nil, err
	}
	rows, err := beside(outer, in.rows, &query.Join{At: x.At, Kind: query.InnerJoin, On: p.on})
	if err != nil {
		return nil, err
	}
	out := &inner{rows: rows, items: in.items, own: in.rows.public}
	for i, c := range p.columns {
		keys, err := c.keys(n, &query.Column{At: c.of.At, Table: p.table, Name: strconv.Itoa(i)})
		if err != nil {
			return nil, err
		}
		out.equal = append(out.equal, keys...)
	}
	return out, nil
}

// unshadowed returns an expression over the outer row in which no name means a column of the subquery. The value before
// IN may have such names, because it stands outside the subquery: in y IN (SELECT w.y FROM v w WHERE …), the first y.
func (n *nesting) unshadowed(in *inner, x query.Expr) (query.Expr, error) {
	return query.Rewrite(x, func(x query.Expr) (query.Expr, error) {
		c, ok := x.(*query.Column)
		if !ok || n.outside(in, c) {
			return x, nil
		}
		name, err := n.out.Find(c)
		if err != nil {
			return nil, err
		}
		if qualified := (&query.Column{At: c.At, Table: name.table, Name: name.name}); n.outside(in, qualified) {
			return qualified, nil
		}
		return n.hide(name.e, c.At), nil
	})
}

// pairing collects the conditions that link a subquery to the outer row, and the outer columns that they read.
type pairing struct {
	n       *nesting
	in      *inner
	table   string // the hidden name of the rows of outer columns
	on      query.Expr
	columns []outerColumn
}

// outerColumn is a column of the outer row. Its nulls count if a row in which it is NULL may have a match.
type outerColumn struct {
	of    *query.Column
	nulls bool
}

// add adds a condition, in which the columns of the outer row get the names that they have beside the subquery's rows.
func (p *pairing) add(c query.Expr) {
	nulls := !strict(c, false)
	c, _ = query.Rewrite(c, func(x query.Expr) (query.Expr, error) {
		c, ok := x.(*query.Column)
		if !ok || !p.n.outside(p.in, c) {
			return x, nil
		}
		i := slices.IndexFunc(p.columns, func(o outerColumn) bool { return o.of.Table == c.Table && o.of.Name == c.Name })
		if i < 0 {
			i = len(p.columns)
			p.columns = append(p.columns, outerColumn{of: c})
		}
		p.columns[i].nulls = p.columns[i].nulls || nulls
		return &query.Column{At: c.At, Table: p.table, Name: strconv.Itoa(i)}, nil
	})
	p.on = both(p.on, c)
}

// keys returns the equalities of the outer column with own, the same column beside the subquery's rows. If NULLs count,
// then these are two equalities that hold for two NULLs too: whether it is NULL, and its value or else a constant.
func (c outerColumn) keys(n *nesting, own *query.Column) ([]linked, error) {
	key := func(inner, outer query.Expr) linked {
		return linked{op: query.Eq, inner: inner, outer: outer, at: c.of.At}
	}
	if !c.nulls {
		return []linked{key(own, c.of)}, nil
	}
	e, err := n.out.Row(c.of)
	if err != nil {
		return nil, err
	}
	some, ok := someLiteral[e.Type]
	if !ok {
		return nil, Refuse(
			c.of.At,
			"link the subquery by comparisons, each joined to the others by AND",
			"this condition of a subquery reads a column of type %s of the outer row, which is not supported",
			e.Type,
		)
	}
	null := func(x query.Expr) query.Expr {
		one := &query.Literal{At: c.of.At, Kind: query.IntegerLiteral, Text: "1"}
		is := &query.Is{At: c.of.At, X: x, What: query.IsNull}
		zero := &query.Literal{At: c.of.At, Kind: query.IntegerLiteral, Text: "0"}
		return &query.Case{At: c.of.At, Whens: []query.When{{Cond: is, Result: one}}, Else: zero}
	}
	filled := func(x query.Expr) query.Expr {
		constant := some
		constant.At = c.of.At
		return &query.Call{At: c.of.At, Name: "coalesce", Args: []query.Expr{x, &constant}}
	}
	return []linked{key(null(own), null(c.of)), key(filled(own), filled(c.of))}, nil
}

// someLiteral is one constant of each type that can be a key.
var someLiteral = map[value.Type]query.Literal{
	value.Integer:   {Kind: query.IntegerLiteral, Text: "0"},
	value.Text:      {Kind: query.StringLiteral},
	value.Boolean:   {Kind: query.BooleanLiteral},
	value.Date:      {Kind: query.DateLiteral, Text: "2000-01-01"},
	value.Timestamp: {Kind: query.TimestampLiteral, Text: "2000-01-01 00:00:00"},
	value.Time:      {Kind: query.TimeLiteral, Text: "00:00:00"},
}

// distinctOf returns one row for each unit and each combination of values of some columns, under a table's name.
func (r *Relation) distinctOf(columns []outerColumn, table string) (*Relation, error) {
	if r.unit.IsRow() || r.public {
		return nil, Refuse(
			columns[0].of.At,
			"equate columns only",
			"a subquery over a table in which each row is a unit may equate columns, and compare them in no other way",
		)
	}
	input := r.materialize()
	per := &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{input}, Units: true}
	out := &Relation{Scope: Scope{computed: r.computed}, unit: r.unit, unitType: r.unitType, main: r.main}
	for i, c := range columns {
		c := c.of
		n, err := r.Find(c)
		if err != nil {
			return nil, err
		}
		if err := n.unfilled(c.At); err != nil {
			return nil, err
		}
		if n.e.Type == value.Real {
			return nil, Refuse(
				c.At,
				"compare it with a MIN or MAX: x > (SELECT MIN(y) FROM … WHERE …)",
				"a real number cannot link a subquery to a row by two conditions",
			)
		}
		per.Exprs, per.Columns = append(per.Exprs, n.e), append(per.Columns, r.output(n.name, n.e))
		name := *n
		name.table, name.name, name.merged, name.most = table, strconv.Itoa(i), true, 0
		out.Names = append(out.Names, name)
	}
	per.Loose = !slices.ContainsFunc(per.Exprs, r.standsForUnit)
	out.over(per)
	return out, nil
}

// strict reports whether a condition is never TRUE if some column in it is NULL, or, for a value, whether the value is
// NULL then.
func strict(x query.Expr, value bool) bool {
	all := func(xs ...query.Expr) bool {
		return !slices.ContainsFunc(xs, func(x query.Expr) bool { return !strict(x, true) })
	}
	switch x := x.(type) {
	case *query.Column, *query.Literal:
		return value
	case *query.Unary:
		return all(x.X)
	case *query.Cast:
		return all(x.X)
	case *query.Call:
		return strictFunctions[Renamed(x).Name] && x.Over == nil && x.Filter == nil && all(x.Args...)
	case *query.Between:
		return all(x.X, x.Lo, x.Hi) && !x.Not && !value
	case *query.In:
		return all(x.X) && !slices.ContainsFunc(x.List, func(x query.Expr) bool { _, ok := x.(*query.Literal); return !ok })
	case *query.Like:
		return all(x.X)
	case *query.Binary:
		switch x.Op {
		case query.And, query.Or: // x AND FALSE is FALSE, and x OR TRUE is TRUE, if x is NULL
			return !value && x.Op == query.And && strict(x.L, false) && strict(x.R, false)
		default:
			return all(x.L, x.R)
		}
	}
	return false
}

// strictFunctions are functions that are NULL if some argument is.
var strictFunctions = map[string]bool{
	"abs": true, "floor": true, "ceil": true, "ceiling": true, "round": true, "trunc": true, "mod": true, "div": true,
	"sign": true, "date_part": true, "date_trunc": true, "extract": true,
}
