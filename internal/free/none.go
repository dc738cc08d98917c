package free

import (
	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
)

// none answers a question for single rows of a table that can have no row, because of LIMIT 0 or a WHERE that is false
// for every row, such as 1 <> 1. Tools ask such questions for the names of columns. It returns nil for any other question.
func none(p *policy.Policy, tree *query.Select) *Answer {
	if len(tree.GroupBy) > 0 || tree.Having != nil || tree.Options != nil {
		return nil
	}
	scope, ok := bind.DeclarationsOf(p, tree)
	if !ok {
		return nil
	}
	empty := tree.Limit != nil && *tree.Limit == 0
	if tree.Where != nil {
		e, err := scope.Condition(tree.Where)
		if err != nil {
			return nil
		}
		empty = empty || neverTrue(e)
	}
	if !empty {
		return nil
	}
	out, taken := &Answer{}, map[string]bool{}
	for _, item := range tree.Items {
		if star, ok := item.Expr.(*query.Star); ok {
			if star.Table != "" && star.Table != scope.Name() {
				return nil
			}
			for _, c := range scope.Table.Columns {
				out.Columns = append(out.Columns, nameOf(query.Item{Expr: item.Expr, Alias: c.Name}, taken))
			}
			continue
		}
		if _, err := scope.Row(item.Expr); err != nil { // among others, an aggregate has a row for no rows
			return nil
		}
		if c, ok := item.Expr.(*query.Column); ok && item.Alias == "" {
			item.Alias = c.Name
		}
		out.Columns = append(out.Columns, nameOf(item, taken))
	}
	return out
}

// neverTrue reports whether a condition reads no column, and is FALSE or NULL.
func neverTrue(e *bounded.Expr) bool {
	constant := true
	e.Walk(func(x *bounded.Expr) { constant = constant && x.Op != bounded.OpColumn })
	if !constant {
		return false
	}
	v, err := evaluate(e, query.Pos{})
	return err == nil && !v.IsTrue()
}
