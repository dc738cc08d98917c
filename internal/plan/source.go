package plan

import (
	"math/big"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
)

// maxWritten bounds what a question over a relation is, written out: a name may stand for much, and stand in many places.
const maxWritten = 20 * bounded.MaxWeight

// inProportion refuses what is too large once names are replaced by what they stand for.
func (b *builder) inProportion() error {
	b.roundings()
	if b.Names == nil {
		return nil
	}
	total := 0
	add := func(e *bounded.Expr) {
		if e != nil {
			total += e.Weight()
		}
	}
	add(b.plan.Where)
	for _, k := range b.plan.Keys {
		add(k.Expr)
	}
	for _, m := range append(b.plan.OrderedValues(), b.plan.Statement.Measures...) {
		add(m.X)
	}
	for _, m := range b.plan.Modes {
		add(m.Of.Expr)
	}
	if b.Source != nil {
		b.Source.Walk(func(s *bounded.Source) { s.Expressions(add) })
	}
	if total > maxWritten {
		return bind.Refuse(query.Pos{}, "ask for less at once", "the question is too large once it is written out")
	}
	return nil
}

// roundings widens what rounding may amount to: of a relation a unit's rows, and so all rows, may be more than a table's.
func (b *builder) roundings() {
	if b.Source == nil {
		return
	}
	for _, m := range b.plan.Measures {
		m.Rounding.Mul(m.Rounding, big.NewInt(b.Table.Unit.RowsPerUnit))
	}
}
