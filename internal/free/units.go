package free

import (
	"dither/internal/bind"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// units answers a question whose only aggregates count all rows (bind.Scope.CountsAll) of a table whose number of units the
// policy declares. It returns nil for any other question.
//
// The number is a public constant, the same in neighbouring databases (policy/units.go), and no row is read.
func units(p *policy.Policy, tree *query.Select) *Answer {
	t := p.Table(tree.From.Table)
	scope, one := bind.DeclarationsOf(p, tree)
	if t == nil || t.Units == 0 || !one || tree.Where != nil || len(tree.GroupBy) > 0 {
		return nil
	}
	n, counts := value.OfInt(t.Units).String(), 0
	constant := func(x query.Expr, kind query.LiteralKind) query.Expr {
		return query.Replace(x, func(x query.Expr) (query.Expr, bool) {
			c, ok := x.(*query.Call)
			if !ok || c.Distinct || c.Filter != nil || c.Over != nil || len(c.Named) > 0 || !scope.CountsAll(c) {
				return x, false
			}
			counts++
			return &query.Literal{At: c.At, Kind: kind, Text: n}, true
		})
	}
	out := &query.Select{At: tree.At, Where: tree.Having, Limit: tree.Limit, Offset: tree.Offset}
	for _, item := range tree.Items {
		kind := query.DecimalLiteral // a quotient of released numbers keeps its fraction
		if _, whole := item.Expr.(*query.Call); whole {
			kind = query.IntegerLiteral
		}
		out.Items = append(out.Items, query.Item{Expr: constant(item.Expr, kind), Alias: nameOf(item, map[string]bool{})})
	}
	if out.Where != nil {
		out.Where = constant(out.Where, query.IntegerLiteral)
	}
	a, err := constants(p, out)
	if err != nil || counts == 0 {
		return nil // the planner has a refusal
	}
	a.Units = t.Units
	a.Notes = []string{"The count of all rows is the number of units that the policy declares: a public constant, without noise."}
	return a
}
