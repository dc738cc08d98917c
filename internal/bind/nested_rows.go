package bind

import (
	"slices"
	"strconv"

	"dither/internal/query"
)

// inner is the SELECT of a subquery in an expression, bound under a policy.
type inner struct {
	rows  *Relation    // its rows, with the conditions that read them alone
	items []query.Expr // its SELECT list, over rows
	// the conditions that read the outer row too: equalities, the other comparisons, and the rest
	equal, compared []linked
	rest            []query.Expr
	apart           bool // no condition reads the outer row (see query.Nested.Apart)
	own             bool // public rows beside the outer row's own columns: no other person's row is among them
}

// linked is a comparison of an expression over the subquery's rows with one over the outer row: inner op outer.
type linked struct {
	op           query.BinaryOp
	inner, outer query.Expr
	at           query.Pos
}

// copied returns a copy that can be joined or restricted without a change of in.
func (in *inner) copied() *inner {
	out := *in
	out.rows = in.rows.copied()
	out.equal, out.compared, out.rest = slices.Clone(in.equal), slices.Clone(in.compared), slices.Clone(in.rest)
	return &out
}

// bind binds the SELECT of a subquery.
func (n *nesting) bind(x *query.Nested) (*inner, error) {
	if len(x.Sub.Branches) > 1 {
		sub := *x.Sub
		sub.Alias = n.hiddenTable()
		r, err := n.subquery(&sub)
		if err != nil {
			return nil, err
		}
		return &inner{rows: r, items: r.references()}, nil
	}
	s := *x.Sub.Branches[0]
	if x.Kind != query.ValueNested { // neither an order nor a repetition changes which values there are
		s.Distinct, s.OrderBy = false, nil
		if x.Kind == query.ExistsNested && s.Limit != nil && *s.Limit > 0 && s.Offset == nil {
			s.Limit = nil
		}
	}
	if err := unordered(&s); err != nil {
		return nil, n.ofPublicRows(&s, err)
	}
	r, where, err := n.selects(&s)
	if err != nil {
		return nil, err
	}
	r, all, where, err := n.unnested(r, &s, where)
	if err != nil {
		return nil, err
	}
	out := &inner{rows: r, apart: x.Apart}
	if where != nil {
		for _, c := range split(where) {
			if err := n.link(out, c); err != nil {
				return nil, err
			}
		}
	}
	if x.Kind == query.ValueNested && len(all.GroupBy) == 0 && all.Having == nil {
		out.items = items(all)
		return out, nil
	}
	if x.Kind == query.ExistsNested && !grouped(all) {
		return out, nil
	}
	if grouped(all) {
		return out, n.group(out, x, all)
	}
	names, err := r.list(all.Items)
	if err != nil {
		return nil, err
	}
	if len(names) != len(all.Items) {
		return nil, Refuse(x.At, "select the one column", "a subquery after IN selects no *")
	}
	out.items = items(all)
	return out, nil
}

func items(s *query.Select) (out []query.Expr) {
	for _, i := range s.Items {
		out = append(out, i.Expr)
	}
	return out
}

// references returns a reference to each name of the relation.
func (r *Relation) references() (out []query.Expr) {
	for _, n := range r.Names {
		out = append(out, &query.Column{Table: n.table, Name: n.name})
	}
	return out
}

// group replaces the rows of a grouped subquery by its groups. The keys of the conditions that read the outer row must
// be among those of GROUP BY.
func (n *nesting) group(in *inner, x *query.Nested, s *query.Select) error {
	if len(in.compared)+len(in.rest) > 0 {
		return Refuse(
			x.At,
			"put the condition into a subquery in FROM, or compare a count: (SELECT COUNT(*) FROM … WHERE …) > 3",
			"a subquery with GROUP BY may equate columns with the outer row's, and compare them in no other way",
		)
	}
	all := *s
	all.Items = nil
	if x.Kind != query.ExistsNested {
		all.Items = slices.Clone(s.Items)
	}
	for i := range in.equal {
		all.Items = append(all.Items, query.Item{Expr: in.equal[i].inner})
	}
	if len(all.Items) == 0 {
		all.Items = []query.Item{{Expr: s.GroupBy[0]}}
	}
	r, err := in.rows.perUnit(&all)
	if err != nil {
		return err
	}
	table := n.hiddenTable()
	for i := range r.Names {
		r.Names[i].table, r.Names[i].name = table, strconv.Itoa(i)
	}
	all.Items = nil
	in.rows, in.items = r, r.references()
	keys := in.items[len(in.items)-len(in.equal):]
	if x.Kind != query.ExistsNested {
		in.items = in.items[:len(s.Items)]
	}
	for i := range in.equal {
		in.equal[i].inner = keys[i]
	}
	return nil
}

// link adds a condition of the subquery: to its rows if it reads them alone, and otherwise to those that link them to
// the outer row.
func (n *nesting) link(in *inner, c query.Expr) error {
	own, outer := n.sides(in, c)
	if !outer {
		e, err := in.rows.Condition(c)
		if err != nil {
			return err
		}
		return in.rows.restrict(e, c.Pos())
	}
	if in.apart {
		_, err := in.rows.Condition(c)
		return err
	}
	b, ok := c.(*query.Binary)
	if ok && own && Comparisons[b.Op] != "" {
		for _, side := range []linked{
			{b.Op, b.L, b.R, b.At}, {mirrored[b.Op], b.R, b.L, b.At},
		} {
			l, lo := n.sides(in, side.inner)
			r, ro := n.sides(in, side.outer)
			if !l || lo || r || !ro {
				continue
			}
			if side.op == query.Eq {
				in.equal = append(in.equal, side)
			} else {
				in.compared = append(in.compared, side)
			}
			return nil
		}
	}
	in.rest = append(in.rest, c)
	return nil
}

// mirrored is the operator for exchanged sides.
var mirrored = map[query.BinaryOp]query.BinaryOp{
	query.Eq: query.Eq, query.Ne: query.Ne, query.Lt: query.Gt, query.Le: query.Ge, query.Gt: query.Lt, query.Ge: query.Le,
}

// sides reports whether an expression reads columns of the subquery, and of the outer row. As in SQL, a name means a
// column of the subquery if it has such a column.
func (n *nesting) sides(in *inner, x query.Expr) (own, outer bool) {
	_, _ = query.Rewrite(x, func(x query.Expr) (query.Expr, error) {
		if c, ok := x.(*query.Column); ok {
			if n.outside(in, c) {
				outer = true
			} else {
				own = true
			}
		}
		return x, nil
	})
	return own, outer
}

// outside reports whether a reference means a column of the outer row.
func (n *nesting) outside(in *inner, c *query.Column) bool {
	switch {
	case isHidden(c.Table):
		return n.out.named(c.Table)
	case c.Table != "":
		return !slices.Contains(in.rows.tables(), c.Table) && slices.Contains(n.base.tables(), c.Table)
	}
	return !in.rows.Has(c.Name) && n.base.Has(c.Name)
}
