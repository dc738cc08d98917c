package plan

import (
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/sensitivity"
)

// chooseCaps sets the caps on one unit, and the column that identifies it.
//
// A unit is bounded by rows or by groups, whichever gives the measures less noise. If both give the same noise, the
// bound is by rows, because that clamps no value and needs no grouping by unit. An average, and a sum that is computed
// from its measures, are always bounded by rows, because clamping a unit's sum and its count separately would bias
// them. If all measures count units, only a cap on groups is needed. The choice does not depend on data, so it reveals
// nothing.
func (b *bounding) chooseCaps() error {
	unit := b.Table.Unit
	if unit.IsRow() && b.request.MaxGroups > 0 {
		return bind.Refuse(
			query.Pos{},
			"leave it out",
			"max_groups is for tables with a unit column: here each row is one unit",
		)
	}
	if err := b.unitColumn(); err != nil || b.unit == nil {
		return err
	}
	groups := unit.MaxGroups
	if b.request.MaxGroups > 0 {
		groups = b.request.MaxGroups
	}
	if !b.open() {
		groups = min(groups, int64(b.cells().Cells())) // 1 without keys
	}
	rows := b.rowCap()
	if b.maxRows > 0 {
		groups = min(groups, rows)
	}
	byRows, byGroups := bounded.Caps{Rows: rows}, bounded.Caps{Groups: groups, RowsPerGroup: unit.RowsPerGroup}
	if b.open() {
		byRows.Groups = min(groups, rows) // the selection of groups counts units
	}
	onlyUnits := len(b.measures) > 0
	averages := slices.ContainsFunc(b.aggregates, func(a unpricedAggregate) bool { return a.of == Average || a.centred() })
	distinct := slices.ContainsFunc(b.aggregates, unpricedAggregate.distinct)
	for _, m := range b.measures {
		if m.OfUnits() { // a unit is in a cell or not, and its number of rows there does not matter
			byRows.Groups = min(groups, rows)
		} else {
			onlyUnits = false
		}
	}
	b.caps = byRows
	switch {
	case b.unitsFirst:
		b.notes.add("AVG averages the rows of each %s in a group, and then these averages.", unit.Column)
	case averages && b.tree.Options != nil:
		b.notes.add("AVG is the average over all rows. GoogleSQL averages the rows of each %s first.", unit.Column)
	}
	if b.cellsClamped() {
		return b.cellCaps(byGroups, averages, distinct)
	}
	if onlyUnits || !averages && !distinct && b.maxRows == 0 && b.noiseUnder(byGroups) < b.noiseUnder(byRows) {
		b.caps = byGroups
	}
	return nil
}

// cellCaps bounds units by groups, as bounds per group require. It refuses an average, which clamped sums of units
// would bias, and a count of distinct values, which needs a cap on rows.
func (b *bounding) cellCaps(byGroups bounded.Caps, averages, distinct bool) error {
	at := b.first()
	switch {
	case averages:
		return bind.Refuse(
			at,
			"ask for the average in a question of its own",
			"an average and bounds per group exclude each other: the quotient of a clamped sum and a clamped count is not an average",
		)
	case distinct:
		return bind.Refuse(
			at,
			"ask for the distinct values in a question of their own",
			"COUNT(DISTINCT …) of values and bounds per group exclude each other: distinct values are bounded by a unit's rows",
		)
	case b.maxRows > 0 && slices.ContainsFunc(b.measures, func(m *unpricedMeasure) bool {
		return !m.OfUnits() && (m.Cells == nil || !b.countsRowsOnce(m))
	}):
		if onlyUnlimited(b.tree.Options) { // as many rows as the policy lets a unit have are in at most as many groups
			byGroups.Groups = b.rowCap()
			if !b.open() {
				byGroups.Groups = min(byGroups.Groups, int64(b.cells().Cells()))
			}
			break
		}
		return bind.Refuse(
			at,
			"leave one out; or write contribution_bounds_per_row => (low, high), which max_rows_contributed allows",
			"max_rows_contributed and bounds per group exclude each other, except for COUNT(*) without groups: "+
				"a unit is bounded by its rows or by its groups, not by both",
		)
	}
	b.caps = byGroups
	return nil
}

// unitColumn sets the column that identifies a unit. If each row is a unit, there is no such column, and unitColumn
// sets the caps: one row counts, or in a relation the number of rows that it makes of one row.
func (b *bounding) unitColumn() error {
	unit := b.Table.Unit
	switch {
	case unit.IsRow():
		b.readColumns()
		b.caps = bounded.Caps{Rows: unit.RowsPerUnit}
		return nil
	case b.Source != nil:
		b.readColumns()
		b.unit = &bounded.Column{Column: &policy.Column{Name: unit.Column}}
		return nil
	case b.Names != nil:
		b.Declared(b.Table.Column(unit.Column))
	default:
		if _, err := b.Column(&query.Column{Name: unit.Column}); err != nil {
			return err
		}
	}
	b.readColumns()
	for i := range b.columns {
		if b.columns[i].Name == unit.Column {
			b.unit = &b.columns[i]
		}
	}
	return nil
}

// noiseUnder returns a number to which the total variance of the measures' noise under caps is proportional. It is
// the sum of the squared L1 sensitivities under a pure budget, and of the squared L2 sensitivities otherwise.
// Except for counts of units, other caps change all measures by one factor, so shares of the price and units do not
// matter. With counts of units among the measures, the number is a rule of thumb.
func (b *bounding) noiseUnder(c bounded.Caps) float64 {
	type over struct { // everything about a grouping that a measure's sensitivity depends on
		grouped bool
		parts   int64
	}
	var groupings []over
	for _, g := range groupingsOf(b.sets, len(b.keys)) {
		of := over{len(g.Keys) > 0, 1}
		if c.Rows == 0 { // OverGrouping ignores its parameter parts if rows are capped
			of.parts = g.Parts(b.cells())
		}
		groupings = append(groupings, of)
	}
	_, pure := b.price.Pure()
	total := 0.0
	for _, m := range b.measures {
		found := map[over]float64{}
		for _, g := range groupings {
			f, ok := found[g]
			if !ok {
				by := sensitivity.OverGrouping(&m.Measure, b.neighbours(), c, g.grouped, g.parts)
				x := by.L2Squared
				if pure {
					x = new(big.Int).Mul(by.L1, by.L1)
				}
				// exact, and so is the product with the squared grid unit, a power of two
				inUnits := new(big.Float).SetInt(x)
				f, _ = inUnits.SetMantExp(inUnits, 2*m.Scale()).Float64()
				found[g] = f
			}
			total += f
		}
	}
	return total
}
