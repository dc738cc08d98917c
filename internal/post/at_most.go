package post

import (
	"strconv"

	"dither/internal/query"
)

// atMost returns a count of at most n rows, which tools send for the length of a table that they show, as a number that
// is computed from the count of all rows:
//
//	SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 200) q
//	SELECT LEAST(COUNT(*), 200) FROM (SELECT * FROM visits) q
//
// With OFFSET m, the count is first reduced by m, to 0 at the least. atMost returns nil for any other SELECT.
func atMost(q *query.Select) *query.Select {
	of := below(q)
	if of == nil || of.Limit == nil && of.Offset == nil || measured(of) || q.Where != nil || len(q.GroupBy) > 0 ||
		q.Having != nil || q.Distinct || len(q.OrderBy) > 0 {
		return nil
	}
	out, in, rows := *q, *q.From.Relation.(*query.Subquery), *of
	number := func(n int64) query.Expr {
		return &query.Literal{At: q.At, Kind: query.IntegerLiteral, Text: strconv.FormatInt(n, 10)}
	}
	out.Items = nil
	for _, item := range q.Items {
		c, ok := item.Expr.(*query.Call)
		if !ok || c.Name != "count" || !c.Star || c.Filter != nil || c.Over != nil || len(c.Named) > 0 {
			return nil
		}
		item.Alias = nameOf(item)
		if of.Offset != nil {
			less := &query.Binary{At: c.At, Op: query.Sub, L: item.Expr, R: number(*of.Offset)}
			item.Expr = &query.Call{At: c.At, Name: "greatest", Args: []query.Expr{less, number(0)}}
		}
		if of.Limit != nil {
			item.Expr = &query.Call{At: c.At, Name: "least", Args: []query.Expr{item.Expr, number(*of.Limit)}}
		}
		out.Items = append(out.Items, item)
	}
	rows.Limit, rows.Offset, rows.OrderBy = nil, nil, nil
	in.Branches = []*query.Select{&rows}
	out.From.Relation = &in
	return &out
}
