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

// chooseCaps sets the caps on one unit, and the column that identifies it.
//
// A unit is bounded by rows or by groups, whichever gives the measures less noise. If both give the same noise, the
// bound is by rows, because that clamps no value and needs no grouping by unit. An average is always bounded by
// rows, because clamping a unit's sum and its count separately would bias their quotient. If all measures count
// units, only a cap on groups is needed. The choice does not depend on data, so it reveals nothing.
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
	averages := slices.ContainsFunc(b.aggregates, func(a unpricedAggregate) bool { return a.of == Average })
	distinct := slices.ContainsFunc(b.aggregates, unpricedAggregate.distinct)
	for _, m := range b.measures {
		if m.Kind == bounded.CountUnits { // a unit is in a cell or not, and its number of rows there does not matter
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

// cellCaps bounds units by groups, as bounds per group require. It refuses an average, which clamped sums of units
// would bias, and a count of distinct values, which needs a cap on rows.
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
// Except for CountUnits, other caps change all measures by one factor, so shares of the price and units do not
// matter. With CountUnits among the measures, the number is a rule of thumb.
func (b *bounding) noiseUnder(c bounded.Caps) float64 {
	type over struct { // everything about a grouping that a measure's sensitivity depends on
		grouped bool
		parts   int64
	}
	var groupings []over
	for _, g := range groupingsOf(b.sets, len(b.keys)) {
		of := over{len(g.Keys) > 0, 1}
		if c.Rows == 0 { // boundOver ignores parts if rows are capped
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
				// exact, and so is the product with the squared grid unit, a power of two
				inUnits := new(big.Float).SetInt(x)
				f, _ = inUnits.SetMantExp(inUnits, 2*try.Grid).Float64()
				found[g] = f
			}
			total += f
		}
	}
	return total
}

// bound sets L1 and L2Squared: how far the measure's vector of cells can move between neighbouring datasets, in
// grid units. The vector has one cell unless grouped is set.
//
// Claim: the vector moves by at most L1 in L1 norm, and by at most the square root of L2Squared in L2 norm.
//
// Proof. Let c be the contribution of one unit to the vector. Contributions of other units do not depend on the
// unit, because a unit's own rows alone decide which of its rows and cells count. Each counting row adds an integer
// in [Lo, Hi] to one cell. Engines enforce both: they clamp each value, and they choose the counting rows by ranks
// within the unit (docs/design/engines.md, rules 1 and 3); the replay audits test it. Let M = max(|Lo|, |Hi|).
//   - If rows are capped, c is a sum of at most Rows rows. So ‖c‖₂ ≤ ‖c‖₁ ≤ R := Rows·M. Equality holds in both if
//     all rows are in one cell and have magnitude M. Let Q := R².
//   - If groups are capped, c has at most Groups nonzero cells. Each lies within CellBounds, so its magnitude is at
//     most G, the larger magnitude of these bounds. So ‖c‖₁ ≤ R := Groups·G, and ‖c‖₂² ≤ Q := Groups·G². G is
//     RowsPerGroup·M, or less if Cells is set. (The bounds in Cells may exclude 0. Then a cell of c is 0 if the
//     unit has no row in it, and otherwise within CellBounds.)
//   - CountUnits adds at most 1 to each of at most Groups cells: R := Q := Groups.
//
// Under add/remove, the vectors differ by c. Under change-one, they differ by c − c′, where c′ is the contribution
// of the changed unit. So the L1 distance is at most ‖c‖₁ + ‖c′‖₁ ≤ 2R. The squared L2 distance ‖c − c′‖₂² = ‖c‖₂²
// + ‖c′‖₂² − 2c·c′ is at most 4Q. It is at most 2Q if all contributions have one sign, because then c·c′ ≥ 0. With
// one cell, c and c′ both lie between the least and the largest sum of the counting rows, which include 0, so they
// differ by at most the length of that interval.
//
// An engine may write a statement in several forms, depending on facts recorded about the file (engine.Sealed). All
// forms give one answer, so the choice of a form changes no contribution. Both sensitivities are at least 1, so a
// sum that is 0 by its bounds gets noise too. ∎
func (m *Measure) bound(n privacy.Neighbours, caps bounded.Caps, grouped bool) {
	lo, hi := big.NewInt(min(m.Lo, 0)), big.NewInt(max(m.Hi, 0)) // what one row adds to its cell
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
	cell := new(big.Int).Neg(lo) // the largest change of one cell
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
