package bind

import (
	"slices"

	"dither/internal/query"
)

// personsOf returns the FROM clause of a question with an inner join in the place of each outer join that keeps the
// rows of a public table, if every aggregate ignores these rows:
//
//	SELECT w.name, COUNT(v.id) FROM wards w LEFT JOIN visits v ON v.ward = w.ward GROUP BY w.name
//
// Claim: the aggregates stay the same in each group. Proof: the outer join has the rows of the inner join, and public
// rows beside which each column of the persons' side is NULL. WHERE keeps or drops such a row by itself. Each aggregate
// has an argument or a filter that reads a column of the persons' side, and is NULL if some column in it is NULL
// (strict), so the row adds nothing. ∎
//
// Groups without a row of a person are shown if their keys are known, as in every question.
func (f from) personsOf(tree *query.Select) query.Relation {
	r := tree.From.Relation
	if _, ok := r.(*query.Join); !ok {
		return r
	}
	return f.inner(r, func(public, persons query.Relation) bool {
		l, err := f.relation(public)
		if err != nil {
			return false
		}
		own, err := f.relation(persons)
		return err == nil && !own.public && ignored(tree, l, own)
	})
}

// inner replaces the outer joins of which the public side goes first, and of which all reports true.
func (f from) inner(r query.Relation, all func(public, persons query.Relation) bool) query.Relation {
	j, ok := r.(*query.Join)
	if !ok || j.Kind == query.FullJoin {
		return r
	}
	public, persons := j.L, j.R
	if j.Kind == query.RightJoin {
		public, persons = j.R, j.L
	}
	out := *j
	if j.Kind != query.InnerJoin && f.onlyPublic(public) && !f.onlyPublic(persons) {
		if !all(public, persons) {
			return r
		}
		out.Kind = query.InnerJoin
		return &out
	}
	if j.Kind == query.RightJoin {
		out.R = f.inner(j.R, all)
	} else {
		out.L = f.inner(j.L, all)
	}
	if out.L == j.L && out.R == j.R {
		return r
	}
	return &out
}

// ignored reports whether no aggregate of a question counts rows in which the columns of own are NULL. l is the other
// side of the join.
func ignored(tree *query.Select, l, own *Relation) bool {
	some, all := false, true
	ofOwn := func(x query.Expr) bool {
		found := false
		query.Replace(x, func(e query.Expr) (query.Expr, bool) {
			if c, ok := e.(*query.Column); ok {
				has := func(n Name) bool { return n.name == c.Name && (c.Table == "" || n.table == c.Table) }
				found = found || slices.ContainsFunc(own.Names, has) && (c.Table != "" || !slices.ContainsFunc(l.Names, has))
			}
			return e, false
		})
		return found
	}
	note := func(x query.Expr) {
		query.Replace(x, func(e query.Expr) (query.Expr, bool) {
			c, ok := e.(*query.Call)
			if !ok || !IsAggregate(Renamed(c).Name) && c.Name != "min" && c.Name != "max" {
				return e, false
			}
			of := c.Args
			if c.Within != nil {
				of = []query.Expr{c.Within.Expr}
			}
			some = true
			all = all && (c.Filter != nil && strict(c.Filter, false) && ofOwn(c.Filter) ||
				slices.ContainsFunc(of, func(x query.Expr) bool { return strict(x, true) && ofOwn(x) }))
			return e, true
		})
	}
	for _, item := range tree.Items {
		note(item.Expr)
	}
	note(tree.Having)
	for _, o := range tree.OrderBy {
		note(o.Expr)
	}
	return some && all
}
