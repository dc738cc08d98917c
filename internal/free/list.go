package free

import (
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/prune"
	"dither/internal/query"
	"dither/internal/value"
)

// MaxRows is the largest number of combinations of values that an answer is made of.
const MaxRows = 100_000

// list answers a question for the values of keys. It returns nil if the question needs rows, or if it is for the planner
// to refuse.
//
// Such a question is SELECT DISTINCT, or GROUP BY without aggregates, over keys with known values. Its answer lists the
// values that the policy declares, and NULL where a column is nullable, whether or not a row has them. WHERE removes
// values, as in other questions. It may read only columns of the keys: whether a value occurs beside a value of another
// column is a fact about rows.
//
// Under a budget for private key selection, a key without declared values is unknown here too, as in other questions.
func list(p *policy.Policy, tree *query.Select) (*Answer, error) {
	q, ok := read(p, tree)
	if !ok {
		return nil, nil
	}
	if err := q.onlyKeys(); err != nil {
		if q.narrowed { // the planner says that the values of the key are not declared
			err = nil
		}
		return nil, err
	}
	return q.answer()
}

// question is a question about values of keys.
type question struct {
	tree  *query.Select
	scope *bind.Declarations
	where *bounded.Expr
	keys  []bounded.Key
	// whether the values of some key are not declared, and follow from WHERE
	narrowed bool
	items    []*bounded.Expr // functions of the keys
	order    []*bounded.Expr // functions of the keys, in the order of ORDER BY
}

// read binds a question. It returns false unless each item is a function of keys with known values.
func read(p *policy.Policy, tree *query.Select) (*question, bool) {
	by := tree.GroupBy
	if len(by) == 0 && tree.Distinct {
		for _, item := range tree.Items {
			by = append(by, item.Expr)
		}
	}
	scope, ok := bind.DeclarationsOf(p, tree)
	if !ok || len(by) == 0 || tree.Options != nil {
		return nil, false
	}
	q := &question{tree: tree, scope: scope}
	if !q.conditions(tree.Where, tree.Having) {
		return nil, false
	}
	var keys []*bounded.Expr
	for _, x := range by {
		e, err := scope.Row(named(scope, tree, x))
		if err != nil || bind.IsUntypedNull(e) || scope.OneUnit(p, e) != "" {
			return nil, false
		}
		keys = append(keys, e)
	}
	for _, item := range tree.Items {
		e, err := scope.Row(item.Expr)
		if err != nil || !isFunction(e, keys) {
			return nil, false
		}
		q.items = append(q.items, e)
	}
	for _, o := range tree.OrderBy {
		e, err := scope.Row(item(tree, o.Expr))
		if err != nil || !isFunction(e, keys) {
			return nil, false
		}
		q.order = append(q.order, e)
	}
	_, selects := p.Budget.Loss.ZCDP()
	return q, q.known(keys, selects.IsZero())
}

// conditions binds WHERE and HAVING. HAVING without aggregates is a condition on the keys too.
func (q *question) conditions(xs ...query.Expr) bool {
	for _, x := range xs {
		if x == nil {
			continue
		}
		e, err := q.scope.Condition(x)
		if err != nil {
			return false
		}
		q.where = bind.Conjunction(q.where, e)
	}
	return true
}

// known sets the keys and their values: the declared ones, or else those that WHERE leaves. It returns false if some are
// not known.
func (q *question) known(keys []*bounded.Expr, leaves bool) bool {
	rows := prune.Where(q.where, q.scope.Columns)
	for _, e := range keys {
		k, err := q.scope.Key(e, query.Pos{})
		if err != nil {
			values, ok := q.scope.ValuesOf(e)
			if !ok && leaves {
				values, ok = rows.Values(e)
				q.narrowed = true
			}
			if !ok || e.Type == value.Real {
				return false
			}
			k = q.scope.KeyOf(e, values)
		}
		q.keys = append(q.keys, k)
	}
	return true
}

// counted returns the question that counts the rows of each value, and shows those with many rows.
func (q *question) counted() string {
	out := *q.tree
	out.Distinct, out.Items = false, slices.Clone(q.tree.Items)
	if len(out.GroupBy) == 0 {
		for _, item := range q.tree.Items {
			out.GroupBy = append(out.GroupBy, item.Expr)
		}
	}
	rows := &query.Call{Name: "count", Star: true}
	out.Items = append(out.Items, query.Item{Expr: rows})
	out.Having = &query.Binary{Op: query.Gt, L: rows, R: &query.Literal{Kind: query.IntegerLiteral, Text: "100"}}
	return out.String()
}

// onlyKeys refuses a condition that reads a column which no key reads.
func (q *question) onlyKeys() (err error) {
	if q.where == nil {
		return nil
	}
	q.where.Walk(func(x *bounded.Expr) {
		if x.Op != bounded.OpColumn || err != nil {
			return
		}
		for _, k := range q.keys {
			read := false
			k.Expr.Walk(func(y *bounded.Expr) { read = read || y.Same(x) })
			if read {
				return
			}
		}
		err = bind.Refuse(
			q.tree.From.At,
			"leave the condition out; or, at a price, write "+q.counted(),
			"a list of known values reads no rows, so its conditions can only concern the listed columns, and %q is not one",
			x.Name,
		)
	})
	return err
}
