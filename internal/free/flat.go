package free

import (
	"dither/internal/policy"
	"dither/internal/query"
)

// flat returns a question over the rows of a subquery as a question over the subquery's table, if the subquery only selects,
// computes and filters. Tools put the text of a data set into FROM so. It returns any other question as it is.
func flat(p *policy.Policy, tree *query.Select) *query.Select {
	q, ok := tree.From.Relation.(*query.Subquery)
	if !ok || q.Lateral || len(q.Branches) != 1 {
		return tree
	}
	s := flat(p, q.Branches[0])
	t := p.Table(s.From.Table)
	if t == nil || s.From.Relation != nil || s.Distinct || len(s.GroupBy) > 0 || s.Having != nil || s.Limit != nil ||
		s.Offset != nil || s.Options != nil || s.OfUnits {
		return tree
	}
	of := renaming{alias: q.Alias, table: t, names: map[string]query.Expr{}}
	if !of.read(s.Items) {
		return tree
	}
	out := *tree
	out.From, out.Items = s.From, nil
	for _, item := range tree.Items {
		if star, ok := item.Expr.(*query.Star); ok && (star.Table == "" || star.Table == q.Alias) {
			out.Items = append(out.Items, s.Items...)
			continue
		}
		if c, ok := item.Expr.(*query.Column); ok && item.Alias == "" {
			item.Alias = c.Name
		}
		out.Items = append(out.Items, query.Item{Expr: of.expr(item.Expr), Alias: item.Alias})
	}
	out.Where = both(s.Where, of.expr(tree.Where))
	out.Having = of.expr(tree.Having)
	out.GroupBy, out.OrderBy = nil, nil
	for _, x := range tree.GroupBy {
		out.GroupBy = append(out.GroupBy, of.expr(x))
	}
	for _, o := range tree.OrderBy {
		if !isAlias(o.Expr, tree.Items) { // ORDER BY prefers the names of the answer
			o.Expr = of.expr(o.Expr)
		}
		out.OrderBy = append(out.OrderBy, o)
	}
	if of.unknown {
		return tree // another refusal names the column
	}
	return &out
}

// renaming replaces the columns of a subquery by what they stand for.
type renaming struct {
	alias   string
	table   *policy.Table
	names   map[string]query.Expr
	star    bool // whether the subquery has all columns of its table
	unknown bool // whether a name was not found
}

// read reads the SELECT list of the subquery. It returns false if a name may mean two columns.
func (r *renaming) read(items []query.Item) bool {
	for _, item := range items {
		name := item.Alias
		switch x := item.Expr.(type) {
		case *query.Star:
			if r.star {
				return false
			}
			r.star = true
			continue
		case *query.Column:
			if name == "" {
				name = x.Name
			}
		}
		if name == "" { // nothing can name it
			continue
		}
		if r.names[name] != nil {
			return false
		}
		r.names[name] = item.Expr
	}
	for name := range r.names {
		if r.star && r.table.Column(name) != nil {
			return false
		}
	}
	return true
}

func (r *renaming) expr(x query.Expr) query.Expr {
	if x == nil {
		return nil
	}
	return query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		c, ok := e.(*query.Column)
		if !ok {
			return e, false
		}
		to := r.names[c.Name]
		switch {
		case c.Table != "" && c.Table != r.alias:
			r.unknown = true
		case to != nil:
			return to, true
		case r.star && r.table.Column(c.Name) != nil:
			return &query.Column{At: c.At, Name: c.Name}, true
		default:
			r.unknown = true
		}
		return e, true
	})
}

// isAlias reports whether x is the name that an item was given.
func isAlias(x query.Expr, items []query.Item) bool {
	c, ok := x.(*query.Column)
	if !ok || c.Table != "" {
		return false
	}
	for _, item := range items {
		if item.Alias == c.Name {
			return true
		}
	}
	return false
}

func both(a, b query.Expr) query.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &query.Binary{At: a.Pos(), Op: query.And, L: a, R: b}
}
