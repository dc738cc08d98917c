package plan

import (
	"math/big"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// MaxItems is the largest number of coordinates of a row's vector.
const MaxItems = 1000

// BuildRows plans a pass over rows as vectors: SELECT x1, x2, …, y FROM t WHERE …. Each item is a coordinate, and
// has a measure in the target. The measure turns the item's values into integers, within the item's range. A
// condition is 1 if it holds and 0 if it does not. A row with a NULL coordinate does not count, and at most
// Caps.Rows rows of one unit count. Errors are as in Build.
func BuildRows(p *policy.Policy, r Request) (*Target, error) {
	q, err := read(job{policy: p, original: r})
	if err != nil {
		return nil, err
	}
	k, err := bindPlainKeys(q, func(tree *query.Select) error {
		if len(tree.GroupBy) > 0 {
			return bind.Refuse(tree.Items[0].Expr.Pos(), "leave GROUP BY out", "rows are vectors, without groups")
		}
		if len(tree.Items) > MaxItems {
			return bind.Refuse(tree.Items[0].Expr.Pos(), "select fewer", "a row has at most %d coordinates", MaxItems)
		}
		return nil
	})
	m, err := next(measureItems, k, err)
	c, err := next(capRows, m, err)
	if err != nil {
		return nil, err
	}
	t := targetOf(c)
	t.Sensitivity = big.NewInt(c.caps.Rows)
	for i, o := range m.outputs {
		t.Names, t.Order = append(t.Names, o.Name), append(t.Order, i)
	}
	return unless(t, c.unitWithin(&t.Statement, &t.Statement))
}

// measureItems makes a measure of each item of the SELECT list, and excludes rows in which an item is NULL.
func measureItems(k *keyed) (*measured, error) {
	b := newMeasuring(k)
	b.present = b.where
	for _, item := range b.tree.Items {
		x := item.Expr
		e, err := b.Row(x)
		if err != nil {
			return nil, err
		}
		if bind.IsUntypedNull(e) {
			return nil, bind.Refuse(x.Pos(), "", "a number is needed here")
		}
		nullable := e.Nullable
		if e.Type == value.Boolean {
			if e, err = b.Row(indicator(x)); err != nil {
				return nil, err
			}
		}
		if err := bind.Numeric(e, x.Pos()); err != nil {
			return nil, err
		}
		m, err := sumMeasure(e, false, x.Pos())
		if err != nil {
			return nil, err
		}
		b.measures = append(b.measures, m)
		b.outputs = append(b.outputs, Output{Name: b.outputName(item)})
		if nullable {
			there, err := b.Is(&query.Is{At: x.Pos(), X: item.Expr, What: query.IsNull, Not: true})
			if err != nil {
				return nil, err
			}
			b.present = bind.Conjunction(b.present, there)
		}
	}
	if b.present != nil && b.present.Weight() > bounded.MaxWeight {
		return nil, bind.Refuse(query.Pos{}, "simplify them", "the conditions are too large when they are expanded")
	}
	return b.measured, nil
}

// indicator returns an expression that is 1 if the condition x holds, 0 if it does not, and NULL if x is NULL.
func indicator(x query.Expr) query.Expr {
	n := func(text string) query.Expr {
		return &query.Literal{At: x.Pos(), Kind: query.IntegerLiteral, Text: text}
	}
	return &query.Case{At: x.Pos(), Whens: []query.When{
		{Cond: &query.Is{At: x.Pos(), X: x, What: query.IsTrue}, Result: n("1")},
		{Cond: &query.Is{At: x.Pos(), X: x, What: query.IsTrue, Not: true}, Result: n("0")},
	}}
}
