package post

import (
	"slices"

	"dither/internal/query"
)

// A question may divide its groups by the groups that another answer ranks, such as the routes with the most trips and all
// others together:
//
//	SELECT CASE WHEN l.r IS NULL THEN 'others' ELSE route END, COUNT(*) FROM trips
//	LEFT JOIN (SELECT route AS r, COUNT(*) FROM trips GROUP BY route ORDER BY 2 DESC LIMIT 5) l ON route = r GROUP BY 1
//
// Over rows of persons, the group of a row would depend on other persons' rows. So the question is first grouped by each
// expression over the rows that stands beside the ranking, and its answer is then combined with the ranking:
//
//	SELECT CASE WHEN l.r IS NULL THEN 'others' ELSE q.route END, SUM(q.n)
//	FROM (SELECT route, COUNT(*) AS n FROM trips GROUP BY route) q LEFT JOIN (SELECT …) l ON q.route = r GROUP BY 1
//
// This holds for counts and sums, and for averages, which are quotients of the two.
//
// Claim: if each row is in a group, the sums are those of the question. Proof. Rows of one group agree in all expressions
// beside the ranking, so they meet the same rows of the ranking, and are in the same group of the question. ∎
//
// A key leaves out the rows in which it is NULL, unless NULL is one of its groups. The keys of the question leave out the
// same rows in both forms. Of any other key that may leave out rows, such as route if a row's route is not among the
// declared values, NULL becomes a group: CASE WHEN route IS NOT NULL THEN route END. Groups of unknown keys may be left
// out because they are small, so a question with such groups is refused.

// regrouped returns a SELECT over an answer that is the same, and the SELECT that is measured; nil if q has no such form.
func regrouped(q *query.Select, parts Parts) (over, inner *query.Select) {
	has := parts.Has
	r := &regrouping{q: q, inner: &query.Select{At: q.At}, alias: "q"}
	var ranking *query.Subquery
	join, kind := (*query.Join)(nil), query.InnerJoin
	r.inner.From = q.From
	if j, ok := q.From.Relation.(*query.Join); ok && !j.Natural && (j.Kind == query.InnerJoin || j.Kind == query.LeftJoin) {
		rows := j.L
		if ranking = asSubquery(j.R); ranking == nil && j.Kind == query.InnerJoin {
			ranking, rows = asSubquery(j.L), j.R
		}
		if ranking != nil {
			r.inner.From = query.From{At: rows.Pos(), Relation: rows}
			if t, ok := rows.(*query.Table); ok {
				r.inner.From = query.From{At: t.At, Table: t.Name, Alias: t.Alias}
			}
			join, kind = j, j.Kind
		}
	}
	if ranking != nil {
		if ranking.Alias == r.alias {
			r.alias = "rows"
		}
		names := namesOf(ranking.Branches[0])
		r.ranked = func(c *query.Column) bool {
			return c.Table != "" && c.Table == ranking.Alias || c.Table == "" && slices.Contains(names, c.Name) && !has(r.inner, c.Name)
		}
	}
	out := *q
	out.Where, out.GroupBy, out.Items, out.OrderBy = nil, nil, nil, slices.Clone(q.OrderBy)
	for _, x := range conjuncts(q.Where) {
		if r.above(x) {
			out.Where = conjunction(append(conjuncts(out.Where), r.keyed(x)))
		} else {
			r.inner.Where = conjunction(append(conjuncts(r.inner.Where), x))
		}
	}
	named := func(name string) bool { return has(r.inner, name) }
	for _, x := range q.GroupBy {
		if _, several := x.(*query.Grouping); several {
			return nil, nil
		}
		x = resolved(q, x, named)
		if !r.above(x) {
			r.own = append(r.own, plain(x))
		}
		out.GroupBy = append(out.GroupBy, r.keyed(x))
	}
	on := r.joined(join, ranking)
	if !r.ranks {
		return nil, nil
	}
	for _, item := range q.Items {
		if _, star := item.Expr.(*query.Star); star {
			return nil, nil
		}
		out.Items = append(out.Items, query.Item{Expr: r.over(item.Expr), Alias: nameOf(item)})
	}
	if q.Having != nil {
		out.Having = r.over(query.Unaliased(q, q.Having, named))
	}
	for i, o := range q.OrderBy {
		c, column := o.Expr.(*query.Column)
		if !column || c.Table != "" || !slices.ContainsFunc(out.Items, func(i query.Item) bool { return i.Alias == c.Name }) {
			out.OrderBy[i].Expr = r.over(o.Expr)
		}
	}
	if r.failed || len(r.inner.GroupBy) == 0 || len(r.inner.Items) == len(r.inner.GroupBy) {
		return nil, nil
	}
	r.keepRows(parts.Whole)
	rows := &query.Subquery{At: q.At, Branches: []*query.Select{r.inner}, Alias: r.alias}
	out.From = query.From{At: q.From.At, Relation: rows}
	if ranking != nil {
		out.From.Relation = &query.Join{At: ranking.At, Kind: kind, L: rows, R: ranking, On: on}
	}
	return &out, r.inner
}

// regrouping collects the keys and the aggregates of the question that is measured.
type regrouping struct {
	q, inner *query.Select
	alias    string                   // of inner, in the SELECT over its answer
	ranked   func(*query.Column) bool // whether a column is one of the ranking; nil without a join
	ranks    bool                     // whether something stands beside a ranking
	own      []string                 // the keys of the question that do not depend on the ranking
	failed   bool                     // whether an aggregate is neither a count nor a sum nor an average
}

// above reports whether an expression depends on the ranking.
func (r *regrouping) above(x query.Expr) bool {
	return contains(x, func(e query.Expr) bool {
		c, column := e.(*query.Column)
		n, nested := e.(*query.Nested)
		return column && r.ranked != nil && r.ranked(c) || nested && n.Kind == query.InNested && ranks(n.Sub)
	})
}

// keyed replaces the largest subexpressions over the rows by keys of the measured question.
func (r *regrouping) keyed(x query.Expr) query.Expr {
	r.ranks = r.ranks || r.above(x)
	return query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		if c, ok := e.(*query.Column); ok && r.ranked != nil && r.ranked(c) {
			return e, true
		}
		reads := contains(e, func(e query.Expr) bool { _, column := e.(*query.Column); return column })
		nests := contains(e, func(e query.Expr) bool { _, nested := e.(*query.Nested); return nested })
		if !reads || nests || r.above(e) {
			return e, false
		}
		return r.column(e, true), true
	})
}

// joined returns the condition of the join with the ranking.
func (r *regrouping) joined(j *query.Join, ranking *query.Subquery) (on query.Expr) {
	if j == nil {
		return nil
	}
	r.ranks = true
	for _, x := range conjuncts(j.On) {
		on = conjunction(append(conjuncts(on), r.keyed(x)))
	}
	for _, name := range j.Using {
		of := &query.Column{At: j.At, Table: ranking.Alias, Name: name}
		eq := &query.Binary{At: j.At, Op: query.Eq, L: r.column(&query.Column{At: j.At, Name: name}, true), R: of}
		on = conjunction(append(conjuncts(on), eq))
	}
	return on
}

// over replaces keys and aggregates by columns of the measured question.
func (r *regrouping) over(x query.Expr) query.Expr {
	return query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		if c, ok := e.(*query.Column); ok && r.ranked != nil && r.ranked(c) {
			return e, true
		}
		if isMeasure(e) {
			return r.aggregate(e.(*query.Call)), true
		}
		for _, k := range r.inner.GroupBy {
			if !r.above(e) && plain(k) == plain(e) {
				return r.column(e, true), true
			}
		}
		return e, false
	})
}

// aggregate returns the total of an aggregate of the measured question.
func (r *regrouping) aggregate(c *query.Call) query.Expr {
	total := func(c *query.Call) query.Expr {
		return &query.Call{At: c.At, Name: "sum", Args: []query.Expr{r.column(c, false)}}
	}
	plainly := !c.Distinct && c.Within == nil && (c.Filter == nil || !r.above(c.Filter)) && !slices.ContainsFunc(c.Args, r.above)
	switch {
	case plainly && c.Name == "count" && len(r.q.GroupBy) == 0: // no group may be left, and then the count is 0
		none := &query.Literal{At: c.At, Kind: query.IntegerLiteral, Text: "0"}
		return &query.Call{At: c.At, Name: "coalesce", Args: []query.Expr{total(c), none}}
	case plainly && (c.Name == "count" || c.Name == "sum"):
		return total(c)
	case plainly && c.Name == "avg" && len(c.Named) == 0 && len(c.Args) == 1:
		sum, n := *c, *c
		sum.Name, n.Name = "sum", "count"
		return &query.Binary{At: c.At, Op: query.Div, L: &query.Cast{At: c.At, X: total(&sum), Type: "real"}, R: total(&n)}
	}
	r.failed = true
	return c
}

// column returns the column of the measured question for a key or an aggregate, and adds it if it is new.
func (r *regrouping) column(x query.Expr, key bool) query.Expr {
	var names []string
	for _, item := range r.inner.Items {
		if plain(item.Expr) == plain(x) {
			return &query.Column{At: x.Pos(), Table: r.alias, Name: item.Alias}
		}
		names = append(names, item.Alias)
	}
	item := query.Item{Expr: x, Alias: unique(nameOf(query.Item{Expr: x}), names)}
	r.inner.Items = append(r.inner.Items, item)
	if key {
		r.inner.GroupBy = append(r.inner.GroupBy, x)
	}
	return &query.Column{At: x.Pos(), Table: r.alias, Name: item.Alias}
}

// keepRows makes NULL a group of each key that may leave out rows which the question does not leave out.
func (r *regrouping) keepRows(whole func(*query.Select, query.Expr) bool) {
	for i, k := range r.inner.GroupBy {
		if slices.Contains(r.own, plain(k)) || whole != nil && whole(r.inner, k) {
			continue
		}
		some := &query.Is{At: k.Pos(), X: k, What: query.IsNull, Not: true}
		r.inner.GroupBy[i] = &query.Case{At: k.Pos(), Whens: []query.When{{Cond: some, Result: k}}}
		for j, item := range r.inner.Items {
			if plain(item.Expr) == plain(k) {
				r.inner.Items[j].Expr = r.inner.GroupBy[i]
			}
		}
	}
}
