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
	shown bool                  // the expression is an item of the SELECT list
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
	n.shown = true
	for i := range out.Items {
		if out.Items[i].Alias == "" {
			out.Items[i].Alias = nestedName(s.Items[i].Expr)
		}
		if out.Items[i].Expr, err = n.expression(s.Items[i].Expr); err != nil {
			return nil, nil, nil, err
		}
	}
	n.shown, out.GroupBy = false, slices.Clone(s.GroupBy)
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

// isHidden reports whether a table's name is one of those that stand for subqueries.
func isHidden(table string) bool { return strings.HasPrefix(table, hidden) }

// hiddenTable returns a table's name that no question can write, and that nothing else in this question has.
func (f from) hiddenTable() string {
	*f.hidden++
	return hidden + strconv.Itoa(*f.hidden)
}

// hide adds a hidden name to the outer rows, and returns a reference to it.
func (n *nesting) hide(e *bounded.Expr, at query.Pos) query.Expr {
	name := Name{table: n.hiddenTable(), e: e, merged: true}
	n.out.Names = append(n.out.Names, name)
	return &query.Column{At: at, Table: name.table, Name: name.name}
}

// named reports whether some name of the relation has this table's name.
func (r *Relation) named(table string) bool {
	return slices.ContainsFunc(r.Names, func(n Name) bool { return n.table == table })
}

// notNull returns e IS NOT NULL.
func notNull(e *bounded.Expr) *bounded.Expr {
	return Logical(bounded.OpNot, &bounded.Expr{Op: bounded.OpNil, Type: value.Boolean, Args: []*bounded.Expr{e}})
}

// nearExtrema says which quantiles to ask for in the place of MIN and MAX, which are refused over rows of persons.
func nearExtrema(rows *Relation, calls []*query.Call) (out string) {
	for _, c := range calls {
		near := QuantileNear(c)
		if near == nil {
			continue
		}
		e, err := rows.Row(c.Args[0])
		if err != nil || e.Type == value.Text || IsUnbounded(e) {
			continue
		}
		out += "with " + query.Print(near) + " in the place of " + query.Print(c) + ", "
	}
	return out
}
