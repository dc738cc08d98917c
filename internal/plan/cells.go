package plan

import (
	"math/big"

	"dither/internal/bind"
	"dither/internal/bounded"
)

// clampCells sets the bounds on one unit's contribution to a cell (group), from contribution_bounds_per_group. In grid
// units, they are ⌊low/grid⌋ and ⌈high/grid⌉.
func (b *measuring) clampCells(a unpricedAggregate) error {
	s := b.given.cells
	if s == nil {
		return nil
	}
	m := a.measure()
	unit := m.Unit()
	lo, hi := new(big.Rat).Quo(s.lo, unit), new(big.Rat).Quo(s.hi, unit)
	floor := new(big.Int).Div(lo.Num(), lo.Denom())
	ceil := new(big.Int).Neg(new(big.Int).Div(new(big.Int).Neg(hi.Num()), hi.Denom()))
	m.Cells = &bounded.Cells{Lo: floor, Hi: ceil}
	own := *m
	own.Cells = nil
	least, most := own.CellBounds(bounded.Caps{RowsPerGroup: b.Table.Unit.RowsPerGroup})
	if floor.Cmp(most) > 0 || ceil.Cmp(least) < 0 {
		return bind.Refuse(s.at, "", "the bounds exclude all possible amounts: under the policy, one %s adds %s to %s to a group",
			b.Table.Unit.Column, short(m.Units(least)), short(m.Units(most)))
	}
	if floor.Cmp(least) < 0 || ceil.Cmp(most) > 0 {
		// as CellBounds clamps them, so that bounds that reach further give the same question
		m.Cells = m.Cells.Within(least, most)
		b.notes.add("The bounds per group reach beyond the amounts that %s of one %s can add, %s to %s, and are clamped to them.",
			plural(b.Table.Unit.RowsPerGroup, "row"), b.Table.Unit.Column, short(m.Units(least)), short(m.Units(most)))
	}
	return nil
}
