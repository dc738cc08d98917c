package post

import (
	"slices"

	"dither/internal/query"
)

// A question may limit its groups to those that another answer chooses, such as the routes with the most trips:
//
//	… WHERE route IN (SELECT route FROM trips GROUP BY route ORDER BY COUNT(*) DESC LIMIT 5) GROUP BY route
//	… JOIN (SELECT route AS r, COUNT(*) FROM trips GROUP BY route ORDER BY 2 DESC LIMIT 5) l ON route = r GROUP BY route
//
// Over rows of persons, which rows stay would depend on other persons' rows. Over the answer it does not matter: if the
// question is grouped by the compared expressions, its groups are either left out whole, or not at all. So the question is
// measured for all groups, and the released groups are limited.

// limited returns a SELECT that is the same, with its limits as conditions of HAVING; nil if it has none.
func limited(q *query.Select, has func(*query.Select, string) bool) *query.Select {
	out := *q
	list := unjoined(&out)
	var rest []query.Expr
	for _, x := range conjuncts(out.Where) {
		of := x
		if not, ok := x.(*query.Unary); ok && not.Op == query.Not {
			of = not.X
		}
		if n, ok := of.(*query.Nested); ok && n.Kind == query.InNested && ranks(n.Sub) {
			list = append(list, x)
		} else {
			rest = append(rest, x)
		}
	}
	if len(list) == 0 {
		return nil
	}
	out.Where = conjunction(rest)
	keys := map[string]bool{}
	for _, x := range out.GroupBy {
		keys[plain(resolved(&out, x, func(name string) bool { return has(&out, name) }))] = true
	}
	for _, x := range list {
		other := contains(x, func(e query.Expr) bool {
			n, ok := e.(*query.Nested)
			return ok && slices.ContainsFunc(n.X, func(x query.Expr) bool { return !keys[plain(x)] })
		})
		if other {
			return nil
		}
	}
	out.Having = conjunction(append(conjuncts(out.Having), list...))
	return &out
}

// ranks reports whether a subquery chooses groups of an answer: whether each SELECT aggregates.
func ranks(s *query.Subquery) bool {
	return !slices.ContainsFunc(s.Branches, func(q *query.Select) bool { return !measured(q) && below(q) == nil })
}

func conjunction(list []query.Expr) (out query.Expr) {
	for _, x := range list {
		if out == nil {
			out = x
		} else {
			out = &query.Binary{At: x.Pos(), Op: query.And, L: out, R: x}
		}
	}
	return out
}

// unjoined removes a join with a subquery of groups from a SELECT, and returns the same limit as a condition. It returns
// none if there is no such join, or if it may do more than limit groups: if one row may match several groups, or if the
// join has other conditions. If the SELECT uses another column of the subquery, the planner refuses the result.
func unjoined(q *query.Select) []query.Expr {
	j, ok := q.From.Relation.(*query.Join)
	if !ok || j.Kind != query.InnerJoin || j.Natural || j.Cross() {
		return nil
	}
	sub, rest := asSubquery(j.R), j.L
	if sub == nil {
		sub, rest = asSubquery(j.L), j.R
	}
	if sub == nil || len(sub.Branches) != 1 || !ranks(sub) {
		return nil
	}
	names := namesOf(sub.Branches[0])
	in, columns := &query.Nested{At: j.At, Kind: query.InNested}, []string{}
	for _, name := range j.Using {
		in.X, columns = append(in.X, &query.Column{At: j.At, Name: name}), append(columns, name)
	}
	for _, x := range conjuncts(j.On) {
		eq, ok := x.(*query.Binary)
		if !ok || eq.Op != query.Eq {
			return nil
		}
		name, other := sideOf(eq.L, sub, names), eq.R
		if name == "" {
			name, other = sideOf(eq.R, sub, names), eq.L
		} else if sideOf(eq.R, sub, names) != "" {
			return nil
		}
		if name == "" {
			return nil
		}
		in.X, columns = append(in.X, other), append(columns, name)
	}
	if !keyed(sub.Branches[0], columns) {
		return nil
	}
	renamed(q, func(c *query.Column) query.Expr {
		if i := slices.Index(columns, c.Name); i >= 0 && c.Table == sub.Alias && c.Table != "" {
			return in.X[i]
		}
		return nil
	})
	chosen := &query.Select{At: sub.At, From: query.From{At: sub.At, Relation: sub}}
	for _, name := range columns {
		chosen.Items = append(chosen.Items, query.Item{Expr: &query.Column{At: sub.At, Name: name}})
	}
	in.Sub = &query.Subquery{At: sub.At, Branches: []*query.Select{chosen}}
	q.From = query.From{At: rest.Pos(), Relation: rest}
	if t, ok := rest.(*query.Table); ok {
		q.From = query.From{At: t.At, Table: t.Name, Alias: t.Alias}
	}
	return []query.Expr{in}
}

func asSubquery(r query.Relation) *query.Subquery {
	if s, ok := r.(*query.Subquery); ok && ranks(s) {
		return s
	}
	return nil
}

// namesOf returns the names of a SELECT's columns; nil if it has a star.
func namesOf(q *query.Select) (out []string) {
	for _, item := range q.Items {
		if _, star := item.Expr.(*query.Star); star {
			return nil
		}
		out = append(out, nameOf(item))
	}
	return out
}

// sideOf returns the name of a subquery's column; "" for any other expression.
func sideOf(x query.Expr, sub *query.Subquery, names []string) string {
	c, ok := x.(*query.Column)
	if !ok || !slices.Contains(names, c.Name) || c.Table != "" && c.Table != sub.Alias {
		return ""
	}
	return c.Name
}

// keyed reports whether no two rows of a SELECT are equal in these columns: whether they have all keys of its groups.
func keyed(q *query.Select, columns []string) bool {
	if len(q.GroupBy) == 0 || len(columns) == 0 {
		return false
	}
	for _, k := range q.GroupBy {
		key := plain(resolved(q, k, func(string) bool { return false }))
		found := slices.ContainsFunc(q.Items, func(i query.Item) bool {
			return slices.Contains(columns, nameOf(i)) && plain(i.Expr) == key
		})
		if !found {
			return false
		}
	}
	return true
}

// renamed replaces columns in the clauses of a SELECT, except FROM. by returns nil for a column that stays.
func renamed(q *query.Select, by func(*query.Column) query.Expr) {
	change := func(x query.Expr) query.Expr {
		if x == nil {
			return nil
		}
		return query.Replace(x, func(e query.Expr) (query.Expr, bool) {
			c, ok := e.(*query.Column)
			if !ok {
				return e, false
			}
			if to := by(c); to != nil {
				return to, true
			}
			return e, true
		})
	}
	q.Where, q.Having = change(q.Where), change(q.Having)
	q.Items, q.GroupBy, q.OrderBy = slices.Clone(q.Items), slices.Clone(q.GroupBy), slices.Clone(q.OrderBy)
	for i := range q.Items {
		q.Items[i].Alias, q.Items[i].Expr = nameOf(q.Items[i]), change(q.Items[i].Expr)
	}
	for i := range q.GroupBy {
		q.GroupBy[i] = change(q.GroupBy[i])
	}
	for i := range q.OrderBy {
		q.OrderBy[i].Expr = change(q.OrderBy[i].Expr)
	}
}
