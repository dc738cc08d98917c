package plan

import (
	"fmt"

	"dither/internal/policy"
	"dither/internal/query"
)

// aliasInWhere returns a clearer refusal where WHERE names an alias of the SELECT list, with the question to write instead. It
// returns nil for any other refusal.
func aliasInWhere(p *policy.Policy, r Request, refused *Error) *Error {
	tree, err := r.tree(p.Clock.Zone)
	if err != nil || tree.Where == nil || !tree.Options.Heads(tree) {
		return nil
	}
	name := ""
	of := func(x query.Expr) (query.Item, bool) {
		c, ok := x.(*query.Column)
		for _, i := range tree.Items {
			if ok && c.Table == "" && i.Alias != "" && i.Alias == c.Name {
				return i, true
			}
		}
		return query.Item{}, false
	}
	query.Replace(tree.Where, func(x query.Expr) (query.Expr, bool) {
		if i, ok := of(x); ok && x.Pos() == refused.Pos {
			name = i.Alias
		}
		return x, false
	})
	if name == "" {
		return nil
	}
	tried := *tree
	tried.Where = nil
	for _, condition := range conditions(tree.Where) {
		having := false
		condition = query.Replace(condition, func(x query.Expr) (query.Expr, bool) {
			i, ok := of(x)
			if !ok {
				return x, false
			}
			having = having || aggregated(i)
			return i.Expr, true
		})
		to := &tried.Where
		if having {
			to = &tried.Having
		}
		if *to != nil {
			condition = &query.Binary{At: condition.Pos(), Op: query.And, L: *to, R: condition}
		}
		*to = condition
	}
	out := *refused
	out.Message = fmt.Sprintf("%q is an alias, which WHERE does not take", name)
	out.Hint = "use HAVING for a condition on an aggregate, and write the expression itself in WHERE"
	again := r
	again.SQL, again.Tree = "", &tried
	text := tried.String()
	if _, err := build(job{policy: p, original: again, unknownKeys: true}); err == nil && len(text) <= mostHint {
		out.Hint = "write " + text
	}
	return &out
}

// conditions returns the conditions that AND joins.
func conditions(x query.Expr) []query.Expr {
	if b, ok := x.(*query.Binary); ok && b.Op == query.And {
		return append(conditions(b.L), conditions(b.R)...)
	}
	return []query.Expr{x}
}
