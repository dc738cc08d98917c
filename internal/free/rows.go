package free

import (
	"slices"
	"strconv"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/prune"
	"dither/internal/query"
	"dither/internal/value"
)

// named returns the expression that an item of GROUP BY stands for. A column takes precedence over an alias.
func named(scope *bind.Declarations, tree *query.Select, x query.Expr) query.Expr {
	if c, ok := x.(*query.Column); ok && c.Table == "" && scope.Has(c.Name) {
		return x
	}
	return item(tree, x)
}

// item returns the expression that ORDER BY 1 or ORDER BY alias stands for, or x itself.
func item(tree *query.Select, x query.Expr) query.Expr {
	switch x := x.(type) {
	case *query.Literal:
		if n, err := strconv.Atoi(x.Text); x.Kind == query.IntegerLiteral && err == nil && n >= 1 && n <= len(tree.Items) {
			return tree.Items[n-1].Expr
		}
	case *query.Column:
		for _, i := range tree.Items {
			if x.Table == "" && i.Alias == x.Name {
				return i.Expr
			}
		}
	}
	return x
}

// isFunction reports whether e is a function of the keys that every engine computes alike.
func isFunction(e *bounded.Expr, keys []*bounded.Expr) bool {
	if slices.ContainsFunc(keys, e.Same) || e.Op == bounded.OpConst {
		return true
	}
	return e.Op.Agreed() && len(e.Args) > 0 &&
		!slices.ContainsFunc(e.Args, func(a *bounded.Expr) bool { return !isFunction(a, keys) })
}

// at returns the value of a function of the keys in a group.
func (q *question) at(e *bounded.Expr, group []value.Value) value.Value {
	if i := slices.IndexFunc(q.keys, func(k bounded.Key) bool { return k.Expr.Same(e) }); i >= 0 {
		return group[i]
	}
	args := make([]value.Value, len(e.Args))
	for i, a := range e.Args {
		args[i] = q.at(a, group)
	}
	return e.Apply(args...)
}

// answer returns the rows of the groups that WHERE leaves, in the question's order.
func (q *question) answer() (*Answer, error) {
	type row struct{ shown, by []value.Value }
	var rows []row
	groups := prune.Where(q.where, q.scope.Columns).Groups(q.keys)
	n := 1
	for _, values := range groups.Values {
		if n *= len(values); n > MaxRows {
			return nil, bind.Refuse(q.tree.From.At, "list fewer columns at once", "the list would have more than %d rows", MaxRows)
		}
	}
	cell, group := make([]int, len(q.keys)), make([]value.Value, len(q.keys))
	var add func(int)
	add = func(k int) {
		if k == len(q.keys) {
			if groups.Has(cell) {
				out := row{}
				for _, e := range q.items {
					out.shown = append(out.shown, q.at(e, group))
				}
				for _, e := range q.order {
					out.by = append(out.by, q.at(e, group))
				}
				rows = append(rows, out)
			}
			return
		}
		for i, v := range groups.Values[k] {
			cell[k], group[k] = i, q.keys[k].Values[v]
			add(k + 1)
		}
	}
	add(0)
	if q.tree.Distinct {
		seen := map[string]bool{}
		rows = slices.DeleteFunc(rows, func(r row) bool {
			name := bounded.GroupName(r.shown)
			was := seen[name]
			seen[name] = true
			return was
		})
	}
	slices.SortStableFunc(rows, func(x, y row) int { return q.compare(x.by, y.by) })
	if o := q.tree.Offset; o != nil {
		rows = rows[min(*o, int64(len(rows))):]
	}
	if l := q.tree.Limit; l != nil {
		rows = rows[:min(*l, int64(len(rows)))]
	}
	out := &Answer{Columns: q.names(), Rows: [][]value.Value{}}
	for _, r := range rows {
		out.Rows = append(out.Rows, r.shown)
	}
	return out, nil
}

// compare compares two rows by ORDER BY. NULL is greater than every value, as in PostgreSQL.
func (q *question) compare(x, y []value.Value) int {
	for i, o := range q.tree.OrderBy {
		first := o.Desc
		if o.NullsFirst != nil {
			first = *o.NullsFirst
		}
		if x[i].Null != y[i].Null {
			if x[i].Null == first {
				return -1
			}
			return 1
		}
		d := value.Compare(x[i], y[i])
		if o.Desc {
			d = -d
		}
		if d != 0 {
			return d
		}
	}
	return 0
}

// names returns the names of the columns. A repeated name gets a number.
func (q *question) names() (out []string) {
	taken := map[string]bool{}
	for _, item := range q.tree.Items {
		if c, ok := item.Expr.(*query.Column); ok && item.Alias == "" {
			item.Alias = c.Name
		}
		out = append(out, nameOf(item, taken))
	}
	return out
}
