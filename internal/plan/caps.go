package plan

import (
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/privacy"
)

// caps fixes what one unit may contribute, and the unit's column.
//
// A unit is bounded in one of two ways, whichever gives the measures less noise, and by rows where they are equal: that cuts
// off no value, and needs no grouping by unit. So does an average: clamping a unit's sum and its count apart would move their
// quotient. Where units alone are counted there is nothing to cap but groups. The choice does not look at data, so it says
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
		byRows.Groups = min(groups, rows) // selection counts units
	}
	onlyUnits := len(b.measures) > 0
	averages := slices.ContainsFunc(b.aggregates, func(a unpricedAggregate) bool { return a.of == Average })
	distinct := slices.ContainsFunc(b.aggregates, unpricedAggregate.distinct)
	for _, m := range b.measures {
		if m.Kind == bounded.CountUnits { // who is in a cell is known by grouping alone
			byRows.Groups = min(groups, rows)
		} else {
			onlyUnits = false
		}
	}
	b.caps = byRows
	if averages && b.tree.Options != nil {
		b.notes.add("AVG is over rows, whoever's they are; GoogleSQL's is over what each %s has on average.", unit.Column)
	}
	if b.cellsClamped() {
		return b.cellCaps(byGroups, averages, distinct)
	}
	if onlyUnits || !averages && !distinct && b.maxRows == 0 && b.noiseUnder(byGroups) < b.noiseUnder(byRows) {
		b.caps = byGroups
	}
	return nil
}

// cellCaps bounds units by groups, as bounds per group need; an average would be moved by them, as by all clamping of units' sums, and distinct
// values need a bound on rows.
func (b *bounding) cellCaps(byGroups bounded.Caps, averages, distinct bool) error {
	at := b.first()
	switch {
	case averages:
		return bind.Refuse(
			at,
			"ask for the average in a question of its own",
			"an average and bounds per group exclude each other: what a unit adds to a group is clamped, and a quotient of clamped numbers is no average",
		)
	case distinct:
		return bind.Refuse(
			at,
			"ask for the distinct values in a question of their own",
			"COUNT(DISTINCT …) of values and bounds per group exclude each other: distinct values are bounded by a unit's rows",
		)
	case b.maxRows > 0:
		return bind.Refuse(at, "leave one out", "max_rows_contributed and bounds per group exclude each other")
	}
	b.caps = byGroups
	return nil
}

// unitColumn makes the column that identifies a unit the plan's, which then has no caps yet. Where each row is a unit there is
// none, and one row counts (in a relation, as many as it makes of one).
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

// noiseUnder compares caps: the sum of the measures' squared L2 sensitivities, or of their L1 sensitivities' squares under
// a pure budget, to which the noise's variance is proportional. (But for CountUnits all measures change by one factor, so that
// neither shares of the price nor units play a part; beside it, this is a rule of thumb.)
func (b *bounding) noiseUnder(c bounded.Caps) float64 {
	type over struct { // what a measure's sensitivity over a grouping depends on
		grouped bool
		parts   int64
	}
	var groupings []over
	for _, g := range groupingsOf(b.sets, len(b.keys)) {
		of := over{len(g.Keys) > 0, 1}
		if c.Rows == 0 { // else boundOver asks for no parts
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
				try := Measure{Measure: m.Measure}
				try.boundOver(b.neighbours(), c, g.grouped, g.parts)
				x := try.L2Squared
				if pure {
					x = new(big.Int).Mul(try.L1, try.L1)
				}
				inUnits := new(big.Float).SetInt(x) // exactly; and so times the square of the unit, a power of two
				f, _ = inUnits.SetMantExp(inUnits, 2*try.Grid).Float64()
				found[g] = f
			}
			total += f
		}
	}
	return total
}

// bound fixes how far the measure's vector of cells can move between neighbours, in grid units: L1, and the square of L2.
//
// Proof. Let c be a unit's contribution to the vector. Other units' contributions do not depend on it: which rows and cells
// a unit keeps is decided by its own rows alone. Each kept row is an integer in [Lo, Hi] put in one cell; let
// M = max(|Lo|, |Hi|).
//   - Row cap: c is a sum of at most Rows rows, so ‖c‖₂ ≤ ‖c‖₁ ≤ R := Rows·M, both attained with all rows in one cell; Q := R².
//   - Groups: c has at most Groups cells that are not 0, each within CellBounds, so at most G in size, the larger of their ends:
//     ‖c‖₁ ≤ R := Groups·G, and ‖c‖₂² ≤ Q := Groups·G². G is RowsPerGroup·M, or less where Cells says so. (Cells may leave 0
//     out: then what a unit adds to a cell is 0, where it has none of it, or within CellBounds.)
//   - CountUnits is at most 1 in each of at most Groups cells: R := Q := Groups.
//
// Add/remove: the vectors differ by c. Change-one: by c − c′, so in L1 by at most ‖c‖₁ + ‖c′‖₁ ≤ 2R, and
// ‖c − c′‖₂² = ‖c‖₂² + ‖c′‖₂² − 2c·c′, at most 4Q in general, and 2Q where contributions have one sign, since then c·c′ ≥ 0. With
// one cell, c and c′ both lie between as many rows' least and most, 0 included, so they differ by at most that length.
// What a unit keeps is decided by its own rows alone in whichever form an engine writes a statement: its forms give one
// answer, so that taking one by what was recorded of the file (engine.Sealed) changes no contribution.
// At least 1 is taken: a sum that is 0 by its bounds gets noise all the same. ∎
func (m *Measure) bound(n privacy.Neighbours, caps bounded.Caps, grouped bool) {
	lo, hi := big.NewInt(min(m.Lo, 0)), big.NewInt(max(m.Hi, 0)) // what is added to one cell
	cells := int64(1)
	switch {
	case m.Kind == bounded.CountUnits:
		cells = caps.Groups
	case caps.Rows > 0:
		rows := big.NewInt(caps.Rows)
		lo.Mul(lo, rows)
		hi.Mul(hi, rows)
	default:
		cells = caps.Groups
		zero := new(big.Int)
		lo, hi = m.CellBounds(caps)
		lo, hi = exact.Smaller(lo, zero), exact.Larger(hi, zero)
	}
	cell := new(big.Int).Neg(lo) // how much a cell moves by
	switch {
	case n == privacy.ChangeOne && !grouped:
		cell.Add(cell, hi)
	case cell.Cmp(hi) < 0:
		cell.Set(hi)
	}
	if cell.Sign() == 0 {
		cell.SetInt64(1)
	}
	m.L1 = new(big.Int).Mul(cell, big.NewInt(cells))
	m.L2Squared = new(big.Int).Mul(m.L1, cell) // cells·cell²
	if n == privacy.ChangeOne && grouped {
		m.L1.Lsh(m.L1, 1)
		m.L2Squared.Lsh(m.L2Squared, 1)
		if lo.Sign() < 0 && hi.Sign() > 0 {
			m.L2Squared.Lsh(m.L2Squared, 1)
		}
	}
}
