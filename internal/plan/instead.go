package plan

import (
	"slices"

	"dither/internal/bind"
	"dither/internal/policy"
	"dither/internal/query"
)

// mostHint is the length in bytes of the longest question that a hint writes out.
const mostHint = 600

// concrete returns a refusal whose hint is a question, or a part of one, that the analyst may paste. It writes the hint only
// if that question is answered. Otherwise it returns the refusal with its general hint.
func concrete(p *policy.Policy, r Request, refused *Error) *Error {
	if named := aliasInWhere(p, r, refused); named != nil {
		return named
	}
	if refused.Instead == "" {
		return refused
	}
	tree, err := r.tree(p.Clock.Zone)
	if err != nil || !tree.Options.Heads(tree) {
		return refused
	}
	for _, s := range suggestions(p, tree, refused.Instead) {
		s.tried.Options = tree.Options.Outermost()
		again := r
		again.SQL, again.Tree = "", s.tried
		if _, err := build(job{policy: p, original: again, unknownKeys: true}); err == nil && len(s.text) <= mostHint {
			out := *refused
			out.Hint = "write " + s.text
			return &out
		}
	}
	return refused
}

// suggestion is what a hint may say, and the question that must be answered then.
type suggestion struct {
	tried *query.Select
	text  string
}

func suggestions(p *policy.Policy, tree *query.Select, instead bind.Instead) []suggestion {
	switch instead {
	case bind.UnitsFirst:
		return unitsFirst(p, tree)
	case bind.NearExtremum:
		return nearExtremum(tree)
	case bind.OverAnswer:
		return overAnswer(tree)
	}
	return nil
}

// over returns a SELECT over the rows of a question.
func over(tree *query.Select, by ...query.Expr) *query.Select {
	return &query.Select{From: tree.From, Where: tree.Where, GroupBy: by}
}

func countOfRows() *query.Call { return &query.Call{Name: "count", Star: true} }

// nearExtremum suggests a quantile near the least or the greatest value, and for a text the first group of many rows.
func nearExtremum(tree *query.Select) []suggestion {
	var first *query.Call
	quantile := func(x query.Expr) query.Expr {
		return query.Replace(x, func(e query.Expr) (query.Expr, bool) {
			c, ok := e.(*query.Call)
			if !ok || c.Over != nil {
				return e, false
			}
			near := bind.QuantileNear(c)
			if near == nil {
				return e, false
			}
			if first == nil {
				first = c
			}
			return near, true
		})
	}
	out := *tree
	out.Items, out.OrderBy = slices.Clone(tree.Items), slices.Clone(tree.OrderBy)
	for i := range out.Items {
		out.Items[i].Expr = quantile(out.Items[i].Expr)
	}
	out.Having = quantile(out.Having)
	for i := range out.OrderBy {
		out.OrderBy[i].Expr = quantile(out.OrderBy[i].Expr)
	}
	if first == nil {
		return nil
	}
	x, one := first.Args[0], int64(1)
	many := over(tree, x)
	many.Items, many.Limit = []query.Item{{Expr: x}}, &one
	many.Having = &query.Binary{Op: query.Gt, L: countOfRows(), R: &query.Literal{Kind: query.IntegerLiteral, Text: "100"}}
	many.OrderBy = []query.Order{{Expr: x, Desc: first.Name == "max"}}
	return []suggestion{{&out, query.Print(quantile(first))}, {many, many.String()}}
}

// overAnswer suggests a window function over aggregates of groups. The groups are by the selected columns, and by what the
// windows divide and order rows by.
func overAnswer(tree *query.Select) []suggestion {
	windows := func(i query.Item) bool {
		c, ok := i.Expr.(*query.Call)
		return ok && c.Over != nil
	}
	if len(tree.GroupBy) > 0 || !slices.ContainsFunc(tree.Items, windows) {
		return nil
	}
	var keys []query.Expr
	key := func(x query.Expr) {
		if _, constant := x.(*query.Literal); constant {
			return
		}
		text := query.Print(x)
		if !slices.ContainsFunc(keys, func(k query.Expr) bool { return query.Print(k) == text }) {
			keys = append(keys, x)
		}
	}
	out, measured := over(tree), over(tree)
	for _, item := range tree.Items {
		c, ok := item.Expr.(*query.Call)
		if !ok || c.Over == nil {
			key(item.Expr)
			out.Items = append(out.Items, item)
			continue
		}
		for _, x := range c.Over.Partition {
			key(x)
		}
		for _, o := range c.Over.Order {
			key(o.Expr)
		}
		window := *c
		switch c.Name {
		case "sum", "count":
			inner := *c
			inner.Over = nil
			measured.Items = append(measured.Items, query.Item{Expr: &inner})
			window = query.Call{Name: "sum", Args: []query.Expr{&inner}, Over: c.Over}
		case "row_number", "rank", "dense_rank":
		default:
			return nil
		}
		out.Items = append(out.Items, query.Item{Expr: &window, Alias: item.Alias})
	}
	for _, k := range keys {
		measured.Items = append(measured.Items, query.Item{Expr: k})
	}
	out.GroupBy, measured.GroupBy = keys, keys
	measured.Items = append(measured.Items, query.Item{Expr: countOfRows()})
	return []suggestion{{measured, out.String()}}
}
