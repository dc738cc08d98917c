package plan

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
)

// output is a column that holds e, as its readers see it. It weighs what e does, so that no expression is large once
// columns are replaced by what they stand for, as an engine may.
func (l *lowering) output(name string, e *bounded.Expr) bounded.Column {
	c := &policy.Column{Name: name, Type: e.Type, Nullable: l.nullGroup(e)}
	if values, ok := l.known(e); ok && e.Type != 0 {
		if all, ok := knownByType(e); !ok || len(values) < len(all) {
			c.Values = values
		}
	}
	if len(c.Values) == 0 {
		c.Values = nil
	}
	return bounded.Column{Column: c, Range: e.Range, Weight: e.Weight()}
}

// maxWritten bounds what a question over a relation is, written out: a name may stand for much, and stand in many places.
const maxWritten = 20 * bounded.MaxWeight

// inProportion refuses what is too large once names are replaced by what they stand for.
func (b *builder) inProportion() error {
	b.roundings()
	if b.names == nil {
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
	if b.source != nil {
		b.source.Walk(func(s *bounded.Source) { s.Expressions(add) })
	}
	if total > maxWritten {
		return refuse(query.Pos{}, "ask for less at once", "the question is too large once it is written out")
	}
	return nil
}

// roundings widens what rounding may amount to: of a relation a unit's rows, and so all rows, may be more than a table's.
func (b *builder) roundings() {
	if b.source == nil {
		return
	}
	for _, m := range b.plan.Measures {
		m.Rounding.Mul(m.Rounding, big.NewInt(b.table.Unit.RowsPerUnit))
	}
}

// conjunction is a AND b, where either may be nil.
func conjunction(a, b *bounded.Expr) *bounded.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return logical(bounded.OpAnd, a, b)
}

// times are the bounds of a unit where each of its rows becomes at most n.
func times(u policy.Unit, n int64, at query.Pos) (policy.Unit, error) {
	u.RowsPerUnit, u.MaxGroups, u.RowsPerGroup = u.RowsPerUnit*n, u.MaxGroups*n, u.RowsPerGroup*n
	return u, fits(u, at)
}

// plus are the bounds of a unit that has what u and v bound.
func plus(u, v policy.Unit, at query.Pos) (policy.Unit, error) {
	u.RowsPerUnit += v.RowsPerUnit
	u.MaxGroups += v.MaxGroups
	u.RowsPerGroup += v.RowsPerGroup
	return u, fits(u, at)
}

func fits(u policy.Unit, at query.Pos) error {
	if u.RowsPerUnit > policy.MaxRowsPerUnit {
		return refuse(at, "the owner can declare fewer rows_per_unit; or count each person's rows in a subquery first, GROUP BY the person",
			"one unit could have %d rows here, more than %d", u.RowsPerUnit, policy.MaxRowsPerUnit)
	}
	return nil
}
