package bind

import (
	"slices"

	"dither/internal/query"
)

// A FROM clause may list tables in an order in which they cannot be joined one after the other: two public tables
// first, or a table before the one that connects it to the rest. An inner join is a product of its tables, restricted
// by a conjunction, so the order of the tables and the place of a condition change no row. If the written order cannot
// be joined, dither looks for another order, as follows.
//
// It takes the tables of nested inner joins together, and the operands of AND in their conditions and in WHERE. It
// begins with the first table of persons, and joins each time the first remaining table that can be joined. No other
// beginning reaches more: tables of persons are joined to each other by equalities between the two, and public tables
// to what is joined already. A condition that is an OR counts by the conditions that all its operands share, too
// (factored).
//
// A question whose written order can be joined keeps it. The result is bound like any other join, so its bounds and
// their proof are those of beside.

// tables are the relations of an inner join whose written order cannot be joined.
type tables struct {
	from       from
	leaves     []*Relation // in the order of the text
	names      []Name      // the names of all leaves, in order; USING has marked the merged ones
	conditions []query.Expr
}

// reordered joins relations of inner joins in another order than the written one. It returns the relation and the part
// of WHERE that is still to be applied. It returns nil if there is no such order, or if a condition does not name its
// tables unambiguously.
func (f from) reordered(items []query.Relation, where query.Expr) (*Relation, query.Expr) {
	t := &tables{from: f}
	for _, item := range items {
		if !t.flatten(item) {
			return nil, nil
		}
	}
	if where != nil && !t.condition(where, t.names) {
		return nil, nil
	}
	return t.joined()
}

// flatten adds the tables and the conditions of nested inner joins, and reports whether it could.
func (t *tables) flatten(r query.Relation) bool {
	j, ok := r.(*query.Join)
	if !ok || j.Kind != query.InnerJoin {
		leaf, err := t.from.relation(r)
		if err != nil || shared(leaf.tables(), (&Scope{Names: t.names}).tables()) != "" {
			return false
		}
		t.leaves, t.names = append(t.leaves, leaf), append(t.names, leaf.Names...)
		return true
	}
	from := len(t.names)
	if j.Cross() || !t.flatten(j.L) {
		return false
	}
	middle := len(t.names)
	if !t.flatten(j.R) {
		return false
	}
	l, right := t.names[from:middle], t.names[middle:]
	j, err := named(j, l, right)
	switch {
	case err != nil:
		return false
	case j.Using == nil:
		return t.condition(j.On, t.names[from:])
	}
	for _, name := range j.Using {
		c := &query.Column{At: j.At, Name: name}
		a, err := (&Scope{Names: l}).Find(c)
		if err != nil || a.table == "" {
			return false
		}
		b, err := (&Scope{Names: right}).Find(c)
		if err != nil || b.table == "" {
			return false
		}
		of := func(n *Name) query.Expr { return &query.Column{At: j.At, Table: n.table, Name: n.name} }
		t.conditions = append(t.conditions, &query.Binary{At: j.At, Op: query.Eq, L: of(a), R: of(b)})
		if a.of.table != nil && a.of.table.Public { // the name alone means the person's column, as in other joins
			merge(l, []string{name}, nil)
		} else {
			merge(right, []string{name}, nil)
		}
	}
	return true
}

// condition adds the operands of AND in x. It writes a table's name before each column, because x may be bound
// together with tables that its text does not see.
func (t *tables) condition(x query.Expr, seen []Name) bool {
	scope := &Scope{Names: seen}
	for _, x := range split(x) {
		for _, x := range factored(x) {
			x, err := query.Rewrite(x, func(x query.Expr) (query.Expr, error) {
				c, ok := x.(*query.Column)
				if !ok {
					return x, nil
				}
				n, err := scope.Find(c)
				if err != nil {
					return nil, err
				}
				if n.table == "" {
					return nil, Refuse(c.At, "give it an alias", "this subquery has no name")
				}
				return &query.Column{At: c.At, Table: n.table, Name: n.name}, nil
			})
			if err != nil {
				return false
			}
			t.conditions = append(t.conditions, x)
		}
	}
	return true
}

// joined joins all tables, beginning with the first table of persons. It returns nil if some table cannot be joined.
func (t *tables) joined() (*Relation, query.Expr) {
	first := slices.IndexFunc(t.leaves, func(r *Relation) bool { return !r.public })
	if first < 0 {
		return nil, nil
	}
	out, order, conditions := t.leaves[first].copied(), []int{first}, slices.Clone(t.conditions)
	for len(order) < len(t.leaves) {
		joined := false
		for i := range t.leaves {
			if slices.Contains(order, i) {
				continue
			}
			on, rest := t.between(out, t.leaves[i], conditions)
			if on == nil {
				continue
			}
			j := &query.Join{At: on.Pos(), Kind: query.InnerJoin, On: on}
			next, err := beside(out.copied(), t.leaves[i].copied(), j)
			if err != nil {
				continue
			}
			out, order, conditions, joined = next, append(order, i), rest, true
			break
		}
		if !joined {
			return nil, nil
		}
	}
	out.Names = t.asWritten(out.Names, order)
	var left query.Expr
	for _, x := range conditions {
		left = both(left, x)
	}
	return out, left
}

// between returns the equalities between two relations, joined by AND, and the other conditions. The first result is
// nil if there is no such equality.
func (t *tables) between(a, b *Relation, conditions []query.Expr) (on query.Expr, rest []query.Expr) {
	for _, x := range conditions {
		if joins(x, a, b) {
			on = both(on, x)
		} else {
			rest = append(rest, x)
		}
	}
	return on, rest
}

// asWritten returns the names of a join of all tables in the order of the text, for stars and UNION ALL. The names
// come in the order in which the tables were joined.
func (t *tables) asWritten(names []Name, order []int) []Name {
	of := make([][]Name, len(t.leaves))
	for _, i := range order {
		n := len(t.leaves[i].Names)
		of[i], names = names[:n], names[n:]
	}
	out := slices.Concat(of...)
	for i := range out {
		out[i].merged = t.names[i].merged
	}
	return out
}

// copied returns a copy of a relation, so that a join that is refused leaves the relation as it was.
func (r *Relation) copied() *Relation {
	out := *r
	out.Scope = r.Clone()
	out.Names = slices.Clone(r.Names)
	return &out
}
