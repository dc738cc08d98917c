package bind

import (
	"math"
	"slices"
	"strings"

	"dither/internal/query"
)

// The first rows of the outer row's person, in an order: a subquery that equates the units, with ORDER BY and LIMIT.
//
//	FROM people p LEFT JOIN LATERAL (SELECT v.cost FROM visits v WHERE v.person = p.person ORDER BY v.day LIMIT 1) x ON TRUE
//	(SELECT v.cost FROM visits v WHERE v.person = p.person ORDER BY v.day LIMIT 1)
//
// It has the rows of a subquery that numbers the rows of every person, with the equality outside:
//
//	(SELECT v.cost, v.person AS unit, ROW_NUMBER() OVER (PARTITION BY v.person ORDER BY v.day) AS number FROM visits v) x
//	with x.unit = p.person AND x.number <= 1
//
// because the rows that the subquery finds for one outer row are those of one part. PARTITION BY takes the unit's
// column
// alone, so a condition that equates anything else is refused.

// The names of the columns that numberedRows adds. No question can write them.
const (
	limitedUnit   = hidden + "unit"
	limitedNumber = hidden + "number"
)

// numberedRows returns such a subquery with its rows numbered, and the condition that links it to the outer row. It
// returns
// nil for any other subquery. The alias is the name of the result.
func numberedRows(q *query.Subquery, alias string) (*query.Subquery, query.Expr) {
	s := q.Branches[0]
	if len(q.Branches) > 1 || s.Limit == nil || *s.Limit < 1 || *s.Limit > math.MaxInt32 || s.Offset != nil && *s.Offset > 0 || len(s.OrderBy) == 0 ||
		s.Distinct || grouped(s) {
		return nil, nil
	}
	own := tablesIn(relationIn(s.From))
	var inner, outer *query.Column
	var rest query.Expr
	if s.Where == nil {
		return nil, nil
	}
	for _, x := range split(s.Where) {
		if a, b := equatedColumns(x, own); a != nil && inner == nil {
			inner, outer = a, b
			continue
		}
		if strange(x, own) {
			return nil, nil
		}
		rest = both(rest, x)
	}
	if inner == nil || slices.ContainsFunc(s.Items, func(i query.Item) bool { return strange(i.Expr, own) }) ||
		slices.ContainsFunc(s.OrderBy, func(o query.Order) bool { return strange(o.Expr, own) }) {
		return nil, nil
	}
	out := *s
	out.Where, out.Limit, out.Offset, out.OrderBy = rest, nil, nil, nil
	out.Items = slices.Clone(s.Items)
	over := &query.Window{At: s.At, Partition: []query.Expr{inner}, Order: slices.Clone(s.OrderBy)}
	for i, o := range over.Order {
		if n := integerIn(o.Expr); n != nil {
			if *n < 1 || *n > int64(len(s.Items)) {
				return nil, nil
			}
			over.Order[i].Expr = s.Items[*n-1].Expr
		}
		over.Order[i].Expr = query.Unaliased(s, over.Order[i].Expr, func(string) bool { return false })
	}
	call := &query.Call{At: s.At, Name: "row_number", Over: over}
	out.First = &query.First{Call: call, From: 1, To: *s.Limit}
	out.Items = append(out.Items, query.Item{Expr: inner, Alias: limitedUnit})
	link := &query.Binary{At: q.At, Op: query.Eq, L: &query.Column{At: q.At, Table: alias, Name: limitedUnit}, R: outer}
	return &query.Subquery{At: q.At, Branches: []*query.Select{&out}, Alias: alias}, link
}

// tablesIn returns the names that tables and subqueries have in a FROM clause.
func tablesIn(r query.Relation) (out []string) {
	switch r := r.(type) {
	case *query.Table:
		if r.Alias != "" {
			return []string{r.Alias}
		}
		return []string{r.Name}
	case *query.Subquery:
		return []string{r.Alias}
	case *query.Join:
		return append(tablesIn(r.L), tablesIn(r.R)...)
	case *query.List:
		for _, item := range r.Items {
			out = append(out, tablesIn(item)...)
		}
	}
	return out
}

// equatedColumns returns the inner and the outer column if x equates a column of the tables with a column of another
// table.
func equatedColumns(x query.Expr, own []string) (inner, outer *query.Column) {
	b, ok := x.(*query.Binary)
	if !ok || b.Op != query.Eq {
		return nil, nil
	}
	l, isL := b.L.(*query.Column)
	r, isR := b.R.(*query.Column)
	if !isL || !isR {
		return nil, nil
	}
	isOwn := func(c *query.Column) bool { return c.Table == "" || slices.Contains(own, c.Table) }
	switch {
	case isOwn(l) && !isOwn(r):
		return l, r
	case isOwn(r) && !isOwn(l):
		return r, l
	}
	return nil, nil
}

// strange reports whether x names a table that is not among own, or has a subquery.
func strange(x query.Expr, own []string) (found bool) {
	query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		switch e := e.(type) {
		case *query.Column:
			found = found || e.Table != "" && !slices.Contains(own, e.Table)
		case *query.Nested:
			found = true
		}
		return e, false
	})
	return found
}

// OuterColumn returns a column in a SELECT of a table that its FROM does not name, so of the question around it. It
// returns
// nil if there is none.
func OuterColumn(s *query.Select) (out *query.Column) {
	own := tablesIn(relationIn(s.From))
	note := func(x query.Expr) {
		query.Replace(x, func(e query.Expr) (query.Expr, bool) {
			if c, ok := e.(*query.Column); ok && out == nil && c.Table != "" && !slices.Contains(own, c.Table) {
				out = c
			}
			return e, false
		})
	}
	for _, item := range s.Items {
		note(item.Expr)
	}
	for _, x := range s.GroupBy {
		note(x)
	}
	note(s.Where)
	note(s.Having)
	return out
}

// limitedLaterals returns s with such LATERAL subqueries of FROM replaced by joins.
func limitedLaterals(s *query.Select) *query.Select {
	r := limitedIn(s.From.Relation)
	if r == s.From.Relation {
		return s
	}
	out := *s
	out.From.Relation = r
	return &out
}

func limitedIn(r query.Relation) query.Relation {
	switch r := r.(type) {
	case *query.List:
		// a LATERAL item of a list is a cross join with the items before it
		i := slices.IndexFunc(r.Items, func(item query.Relation) bool {
			q, ok := item.(*query.Subquery)
			return ok && q.Lateral
		})
		if i < 1 {
			return r
		}
		q := r.Items[i].(*query.Subquery)
		rows, link := numberedRows(q, q.Alias)
		if rows == nil || len(r.Items) != 2 {
			return r
		}
		return &query.Join{At: q.At, Kind: query.InnerJoin, L: limitedIn(r.Items[0]), R: rows, On: link}
	case *query.Join:
		out := *r
		out.L = limitedIn(r.L)
		if q, ok := r.R.(*query.Subquery); ok && q.Lateral && (r.Cross() || always(r.On)) {
			if rows, link := numberedRows(q, q.Alias); rows != nil {
				out.R, out.On = rows, link
			}
		}
		if out.L != r.L || out.R != r.R {
			return &out
		}
	}
	return r
}

// always reports whether a condition is the constant TRUE.
func always(x query.Expr) bool {
	c, ok := x.(*query.Literal)
	return ok && c.Kind == query.BooleanLiteral && c.Bool
}

// limitedValue returns a subquery for one value with its rows numbered, or x as it is.
func limitedValue(x *query.Nested) *query.Nested {
	s := x.Sub.Branches[0]
	if s.Limit == nil || *s.Limit != 1 || len(s.Items) != 1 {
		return x
	}
	named := *s
	named.Items = slices.Clone(s.Items)
	if named.Items[0].Alias == "" {
		named.Items[0].Alias = strings.TrimPrefix(limitedNumber, hidden)
	}
	q := *x.Sub
	q.Branches = append([]*query.Select{&named}, q.Branches[1:]...)
	rows, link := numberedRows(&q, limitedNumber)
	if rows == nil {
		return x
	}
	column := &query.Column{At: x.At, Table: limitedNumber, Name: named.Items[0].Alias}
	outer := &query.Select{At: x.At, Items: []query.Item{{Expr: column}}, From: query.From{At: x.At, Relation: rows}, Where: link}
	out := *x
	out.Sub = &query.Subquery{At: x.At, Branches: []*query.Select{outer}}
	return &out
}
