package bind

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// Subqueries in expressions. A subquery in WHERE, in GROUP BY or inside an aggregate becomes a LEFT JOIN, and a column
// of that join takes its place:
//
//	EXISTS (SELECT … FROM v WHERE v.who = p.person AND c)
//	LEFT JOIN (SELECT who FROM v WHERE c GROUP BY who) s ON s.who = p.person      and   s.who IS NOT NULL
//
// The join's right side has at most one row for each unit and each value of the columns that the condition equates, the
// subquery's keys. So no row is multiplied, and a unit's bounds stay as they are. If the subquery reads a public table,
// the join uses at most one public row for each value of the keys (Within and Most of bounded.Join).
//
// Claim: every row stays in the relation exactly once, and belongs to the same unit as before. Proof: a LEFT JOIN keeps
// every row. It pairs a row with rows of its own unit or with public rows only, as any bounded.Join does. It uses at
// most Most = 1 row of the second input for each unit and each value of the columns Within. All Pairs of a row fix its
// unit and these columns, so the row meets at most one row. ∎
//
// A subquery over tables of persons must equate the units, as a join does. Otherwise it would pair different persons'
// rows, and it is refused.

// nesting replaces the subqueries in the expressions of one SELECT.
type nesting struct {
	from
	base  *Relation             // the rows of FROM alone, whose names the subqueries may use
	out   *Relation             // the rows of FROM, with the joins
	known map[string]query.Expr // what stands in place of a subquery, by its text
}

// hidden begins the names of tables that no question can write.
const hidden = "\x00"

// unnested returns a SELECT whose items and GROUP BY, and whose WHERE, contain no subquery: columns of joins to r stand
// in their place. HAVING and ORDER BY stay as they are.
func (f from) unnested(r *Relation, s *query.Select, where query.Expr) (*Relation, *query.Select, query.Expr, error) {
	if !nests(where) && !selectNests(s) {
		return r, s, where, nil
	}
	n := &nesting{from: f, base: r.copied(), out: r, known: map[string]query.Expr{}}
	n.out.materialize()
	out := *s
	var err error
	if where, err = n.condition(where); err != nil {
		return nil, nil, nil, err
	}
	out.Items = slices.Clone(s.Items)
	for i := range out.Items {
		if out.Items[i].Alias == "" {
			out.Items[i].Alias = nestedName(s.Items[i].Expr)
		}
		if out.Items[i].Expr, err = n.expression(s.Items[i].Expr); err != nil {
			return nil, nil, nil, err
		}
	}
	out.GroupBy = slices.Clone(s.GroupBy)
	for i := range out.GroupBy {
		if out.GroupBy[i], err = n.expression(s.GroupBy[i]); err != nil {
			return nil, nil, nil, err
		}
	}
	return n.out, &out, where, nil
}

// nestedName returns the name that PostgreSQL gives to an item that is a subquery, or "" for any other item.
func nestedName(x query.Expr) string {
	y, ok := x.(*query.Nested)
	switch {
	case !ok:
		return ""
	case y.Kind == query.ExistsNested:
		return "exists"
	case y.Kind == query.InNested:
		return "in"
	}
	item := y.Sub.Branches[0].Items[0]
	switch e := item.Expr.(type) {
	case *query.Column:
		return cmp.Or(item.Alias, e.Name)
	case *query.Call:
		return cmp.Or(item.Alias, e.Name)
	case *query.Nested:
		return cmp.Or(item.Alias, nestedName(e))
	}
	return cmp.Or(item.Alias, "subquery")
}

// selectNests reports whether the items, the WHERE or the GROUP BY of a SELECT contain a subquery.
func selectNests(s *query.Select) bool {
	return nests(s.Where) || slices.ContainsFunc(s.Items, func(i query.Item) bool { return nests(i.Expr) }) ||
		slices.ContainsFunc(s.GroupBy, nests)
}

// nests reports whether an expression contains a subquery.
func nests(x query.Expr) (found bool) {
	_, _ = query.Rewrite(x, func(x query.Expr) (query.Expr, error) {
		_, ok := x.(*query.Nested)
		found = found || ok
		return x, nil
	})
	return found
}

// condition replaces the subqueries in a condition for which NULL counts as FALSE. That holds for WHERE, and for the
// operands of AND and OR in it.
func (n *nesting) condition(x query.Expr) (query.Expr, error) {
	switch y := x.(type) {
	case *query.Binary:
		if y.Op != query.And && y.Op != query.Or {
			break
		}
		l, err := n.condition(y.L)
		if err != nil {
			return nil, err
		}
		r, err := n.condition(y.R)
		return &query.Binary{At: y.At, Op: y.Op, L: l, R: r}, err
	case *query.Nested:
		if y.Kind != query.InNested {
			break
		}
		row, err := n.row(y)
		if err != nil {
			return nil, err
		}
		return n.once(row, "true", func() (query.Expr, error) { return n.found(row, row.X) })
	}
	return n.expression(x)
}

// expression replaces the subqueries in an expression.
func (n *nesting) expression(x query.Expr) (query.Expr, error) {
	return query.Rewrite(x, func(x query.Expr) (query.Expr, error) {
		y, ok := x.(*query.Nested)
		if !ok {
			return x, nil
		}
		return n.once(y, "", func() (query.Expr, error) {
			switch y.Kind {
			case query.ExistsNested:
				return n.found(y, nil)
			case query.InNested:
				return n.in(y)
			default:
				return n.value(y)
			}
		})
	})
}

// row returns x with the subqueries in its left side replaced.
func (n *nesting) row(x *query.Nested) (*query.Nested, error) {
	out := *x
	out.X = nil
	for _, e := range x.X {
		e, err := n.expression(e)
		if err != nil {
			return nil, err
		}
		out.X = append(out.X, e)
	}
	return &out, nil
}

// once returns what stands in place of a subquery. A text that occurs twice is joined once.
func (n *nesting) once(x *query.Nested, as string, make func() (query.Expr, error)) (query.Expr, error) {
	text := as + " " + query.Print(x)
	if e, ok := n.known[text]; ok {
		return e, nil
	}
	e, err := make()
	if err == nil {
		n.known[text] = e
	}
	return e, err
}

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
	found, err := n.found(x, x.X)
	if err != nil {
		return nil, err
	}
	out := &query.Case{At: x.At, Else: &query.Literal{At: x.At, Kind: query.BooleanLiteral}}
	when := func(c query.Expr, kind query.LiteralKind) {
		out.Whens = append(out.Whens, query.When{Cond: c, Result: &query.Literal{At: x.At, Kind: kind, Bool: true}})
	}
	when(found, query.BooleanLiteral)
	is := func(e query.Expr) query.Expr { return &query.Is{At: x.At, X: e, What: query.IsNull} }
	never, err := n.neverNull(x)
	if err != nil {
		return nil, err
	}
	if !never {
		null, err := n.found(nullItem(x), nil)
		if err != nil {
			return nil, err
		}
		when(null, query.NullLiteral)
	}
	if c, ok := x.X[0].(*query.Column); !ok || !n.base.IsUnit(c) {
		some, err := n.found(x, nil)
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

// nullItem returns the subquery of x restricted to the rows whose first item is NULL.
func nullItem(x *query.Nested) *query.Nested {
	out := *x
	sub := *x.Sub
	s := *sub.Branches[0]
	null := &query.Is{At: x.At, X: s.Items[0].Expr, What: query.IsNull}
	if grouped(&s) {
		s.Having = both(s.Having, null)
	} else {
		s.Where = both(s.Where, null)
	}
	sub.Branches = []*query.Select{&s}
	out.Sub = &sub
	return &out
}

// neverNull reports whether the subquery's first item is never NULL: it is the unit's column, or WHERE says so.
func (n *nesting) neverNull(x *query.Nested) (bool, error) {
	in, err := n.bind(x)
	if err != nil {
		return false, err
	}
	if c, ok := in.items[0].(*query.Column); ok {
		if name, err := in.rows.Find(c); err == nil && name.unit {
			return true, nil
		}
	}
	if len(x.Sub.Branches) > 1 {
		return false, Refuse(
			x.At,
			"write NOT IN twice, with one SELECT each",
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
		if joined, err := n.extremes(x, in, c, least, most); err == nil {
			return joined, nil
		}
		if in, err = n.bindAgain(x, row); err != nil {
			return nil, err
		}
	}
	j, err := n.joined(x, in, nil)
	if err != nil {
		return nil, err
	}
	return j.found(x.At), nil
}

func (n *nesting) bindAgain(x *query.Nested, row []query.Expr) (*inner, error) {
	in, err := n.bind(x)
	for i, e := range row {
		in.equal = append(in.equal, linked{op: query.Eq, inner: in.items[i], outer: e, at: x.At})
	}
	return in, err
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
		return nil, Refuse(
			x.At,
			"read the table itself, which is public, and write the value here as a constant",
			"a subquery cannot aggregate public rows",
		)
	}
	var calls []*query.Call
	if _, err := query.Rewrite(in.items[0], func(x query.Expr) (query.Expr, error) {
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
	return query.Rewrite(in.items[0], func(x query.Expr) (query.Expr, error) {
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

// isHidden reports whether a table's name is one of those that stand for subqueries.
func isHidden(table string) bool { return strings.HasPrefix(table, hidden) }

// hide adds a name to the relation that only this package can write, and returns a reference to it.
func (r *Relation) hide(e *bounded.Expr, at query.Pos) query.Expr {
	n := Name{table: hidden + strconv.Itoa(len(r.Names)), e: e, merged: true}
	r.Names = append(r.Names, n)
	return &query.Column{At: at, Table: n.table, Name: n.name}
}

// notNull returns e IS NOT NULL.
func notNull(e *bounded.Expr) *bounded.Expr {
	return Logical(bounded.OpNot, &bounded.Expr{Op: bounded.OpNil, Type: value.Boolean, Args: []*bounded.Expr{e}})
}
