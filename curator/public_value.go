package curator

import (
	"context"
	"errors"
	"strconv"

	"dither/internal/plan"
	"dither/internal/post"
	"dither/internal/query"
	"dither/internal/value"
)

// withPublicValues returns a refused question in which each subquery that aggregates rows of public tables alone, as in
// WHERE cost > (SELECT AVG(price) FROM products), is a constant: its exact value in the newest sealed versions. Public rows
// are not secret, so the constant costs nothing. The plan, the replay key and the ledger have the constant, as they have the
// current time. If no subquery was replaced, it returns the refusal, or that a public table is not sealed yet.
func (c *Session) withPublicValues(q Question, refused error) (Question, error) {
	refusal := (*plan.Error)(nil)
	if !errors.As(refused, &refusal) || !refusal.OfPublicValue() {
		return q, refused
	}
	tree := q.measured
	if tree == nil {
		var err error
		if tree, err = query.ParseIn(q.SQL, c.policy.Clock.Zone); err != nil {
			return q, refused
		}
	}
	r := publicValues{c: c, q: q}
	out := r.in(tree)
	switch {
	case r.unsealed != nil:
		return q, r.unsealed
	case !r.found:
		return q, refused
	}
	q.SQL = out.String()
	if q.measured != nil {
		q.measured = out
	}
	return q, nil
}

// publicValues replaces subqueries by constants.
type publicValues struct {
	c        *Session
	q        Question
	found    bool
	unsealed error // that a public table is not sealed yet
}

func (r *publicValues) in(s *query.Select) *query.Select {
	out := *s
	out.Items, out.GroupBy = nil, nil
	for _, item := range s.Items {
		item.Expr = r.expr(item.Expr)
		out.Items = append(out.Items, item)
	}
	for _, x := range s.GroupBy {
		y := r.expr(x)
		if c, ok := y.(*query.Literal); ok && y != x && c.Kind == query.IntegerLiteral { // else the position of an item
			y = &query.Cast{At: c.At, X: c, Type: value.Integer.String()}
		}
		out.GroupBy = append(out.GroupBy, y)
	}
	out.Where, out.Having = r.expr(s.Where), r.expr(s.Having)
	out.From.Relation = r.relation(s.From.Relation)
	return &out
}

func (r *publicValues) relation(x query.Relation) query.Relation {
	switch x := x.(type) {
	case *query.Subquery:
		return r.subquery(x)
	case *query.Join:
		out := *x
		out.L, out.R, out.On = r.relation(x.L), r.relation(x.R), r.expr(x.On)
		return &out
	case *query.List:
		out := *x
		out.Items = nil
		for _, item := range x.Items {
			out.Items = append(out.Items, r.relation(item))
		}
		return &out
	}
	return x
}

func (r *publicValues) subquery(x *query.Subquery) *query.Subquery {
	out := *x
	out.Branches = nil
	for _, b := range x.Branches {
		out.Branches = append(out.Branches, r.in(b))
	}
	return &out
}

func (r *publicValues) expr(x query.Expr) query.Expr {
	if x == nil {
		return nil
	}
	return query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		n, ok := e.(*query.Nested)
		if !ok {
			return e, false
		}
		if n.Kind == query.ValueNested && len(n.Sub.Branches) == 1 {
			if constant := r.value(n); constant != nil {
				r.found = true
				return constant, true
			}
		}
		out := *n
		out.X, out.Sub = nil, r.subquery(n.Sub)
		for _, x := range n.X {
			out.X = append(out.X, r.expr(x))
		}
		return &out, true
	})
}

// value returns the value of a subquery over public tables as a constant, or nil. A subquery that names a column of the
// outer question is refused as a question of its own, so it has no value here.
func (r *publicValues) value(n *query.Nested) query.Expr {
	q := Question{SQL: n.Sub.Branches[0].String(), Analyst: r.q.Analyst}
	_, refused := plan.Build(r.c.filled(), plan.Request{SQL: q.SQL})
	if refused == nil {
		return nil // it reads rows of persons
	}
	s, err := r.c.combination(q, refused)
	if err != nil {
		r.unsealed = errors.Join(r.unsealed, r.c.unsealed(q))
		return nil
	}
	var rows [][][]post.Cell
	for _, p := range s.parts {
		if p.table == "" {
			return nil
		}
		rows = append(rows, p.free.rows)
	}
	found, err := s.bound.Run(context.Background(), 0.05, rows...)
	if err != nil || found.Excess || len(found.Rows) != 1 || len(found.Columns) != 1 {
		return nil
	}
	return literalOf(found.Rows[0][0].Value, n.At)
}

// unsealed returns that a public table of a question over public tables is not sealed yet, or nil.
func (c *Session) unsealed(q Question) error {
	tree, err := query.ParseIn(q.SQL, c.policy.Clock.Zone)
	if err != nil {
		return nil //nolint:nilerr // the question is refused for another reason
	}
	s := &combination{c: c, q: q, tree: tree}
	_ = s.bind() // only which tables it needs matters
	return s.unsealed
}

// literalOf returns a value as a constant of SQL, or nil if it has none.
func literalOf(v value.Value, at query.Pos) query.Expr {
	kinds := map[value.Type]query.LiteralKind{
		value.Integer: query.IntegerLiteral, value.Text: query.StringLiteral, value.Date: query.DateLiteral,
	}
	kind, ok := kinds[v.Type]
	switch {
	case v.Null:
		return &query.Cast{At: at, X: &query.Literal{At: at, Kind: query.NullLiteral, Text: "NULL"}, Type: v.Type.String()}
	case v.Type == value.Real:
		return &query.Literal{At: at, Kind: query.DecimalLiteral, Text: strconv.FormatFloat(v.Real, 'e', -1, 64)}
	case !ok:
		return nil
	}
	return &query.Literal{At: at, Kind: kind, Text: v.String()}
}
