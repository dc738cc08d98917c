package plan

import (
	"math/big"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// MaxItems is how many coordinates a row's vector has at most.
const MaxItems = 1000

// BuildRows plans a pass over rows as vectors: SELECT x1, x2, …, y FROM t WHERE …. Each item is a coordinate, and a measure of its own in
// the target: its integers are those of Measure, within the item's own range. A condition is 1 where it holds, and 0 where it does
// not. A row counts where none of its coordinates is NULL, and of a unit's rows that count the first Caps.Rows. Errors are as Build's.
func BuildRows(p *policy.Policy, r Request) (*Target, error) {
	b, err := newBuilder(p, r)
	if err != nil {
		return nil, err
	}
	if err := b.plainly(); err != nil {
		return nil, err
	}
	if len(b.tree.GroupBy) > 0 {
		return nil, bind.Refuse(b.tree.Items[0].Expr.Pos(), "leave GROUP BY out", "rows are vectors, without groups")
	}
	if len(b.tree.Items) > MaxItems {
		return nil, bind.Refuse(b.tree.Items[0].Expr.Pos(), "select fewer", "a row has at most %d coordinates", MaxItems)
	}
	if err := run(b.where, b.confine, b.items, b.rowCaps); err != nil {
		return nil, err
	}
	t := &Target{Sensitivity: big.NewInt(b.plan.Caps.Rows)}
	for i, item := range b.tree.Items {
		t.Names, t.Order = append(t.Names, b.outputName(item)), append(t.Order, i)
	}
	b.target(t)
	if err := b.unitWithin(&t.Statement); err != nil {
		return nil, err
	}
	return t, nil
}

// items makes a measure of each item, and leaves out rows in which one is NULL.
func (b *builder) items() error {
	for _, item := range b.tree.Items {
		x := item.Expr
		e, err := b.Row(x)
		if err != nil {
			return err
		}
		if bind.IsUntypedNull(e) {
			return bind.Refuse(x.Pos(), "", "a number is needed here")
		}
		nullable := e.Nullable
		if e.Type == value.Boolean {
			if e, err = b.Row(indicator(x)); err != nil {
				return err
			}
		}
		if err := bind.Numeric(e, x.Pos()); err != nil {
			return err
		}
		m, err := sumMeasure(e, false, x.Pos())
		if err != nil {
			return err
		}
		b.plan.addMeasures(m)
		if nullable {
			there, err := b.Is(&query.Is{At: x.Pos(), X: item.Expr, What: query.IsNull, Not: true})
			if err != nil {
				return err
			}
			b.plan.Where = bind.Conjunction(b.plan.Where, there)
		}
	}
	if b.plan.Where != nil && b.plan.Where.Weight() > bounded.MaxWeight {
		return bind.Refuse(query.Pos{}, "simplify them", "the conditions are too large once they are written out")
	}
	return nil
}

// indicator is 1 where a condition holds, 0 where it does not, and else NULL.
func indicator(x query.Expr) query.Expr {
	n := func(text string) query.Expr {
		return &query.Literal{At: x.Pos(), Kind: query.IntegerLiteral, Text: text}
	}
	return &query.Case{At: x.Pos(), Whens: []query.When{
		{Cond: &query.Is{At: x.Pos(), X: x, What: query.IsTrue}, Result: n("1")},
		{Cond: &query.Is{At: x.Pos(), X: x, What: query.IsTrue, Not: true}, Result: n("0")},
	}}
}
