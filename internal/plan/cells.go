package plan

import (
	"math/big"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/exact"
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
	if b.countsRowsOnce(m) {
		ceil = exact.Larger(floor, exact.Smaller(ceil, big.NewInt(b.request.MaxRows)))
	}
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

// countsRowsOnce reports whether a question without groups counts rows, under a bound on the rows of a unit. The bound
// then needs no choice of rows, because it narrows the bounds per group.
//
// Claim: among the first R rows of a unit, n rows in all, the clamped count is that of all n rows, clamped to [l, max(l,
// min(h, R))]. Proof: a unit without rows adds nothing in both. Otherwise R and n are at least 1, the count of the first
// rows is min(n, R), and there is one group. If R ≥ h, then min(n, R) and n differ only above h, and clamp alike. If l ≤ R <
// h, both give n for l ≤ n ≤ R, R above, and l below. If R < l, both give l. ∎
func (m *measured) countsRowsOnce(of *unpricedMeasure) bool {
	return m.request.MaxRows > 0 && len(m.keys) == 0 && of.Kind == bounded.CountRows
}
