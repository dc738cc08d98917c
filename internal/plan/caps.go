package plan

import (
	"math/big"
	"slices"
	"strings"

	"dither/internal/query"
	"dither/privacy"
)

// Caps bound what one unit may contribute to an answer, and are enforced by the engine in every question. Each is there or
// not (0); either Rows is, or Groups and RowsPerGroup are. Beside Rows, Groups is there for CountUnits alone.
type Caps struct {
	Rows         int64 // of a unit's rows that are left, the first so many count, in an order of that unit's own rows: their sealed rank, if they have one
	Groups       int64 // a unit counts in at most so many cells
	RowsPerGroup int64 // what a unit adds to a cell is clamped to as much as so many rows can add
}

// caps fixes what one unit may contribute, and the unit's column.
//
// A unit is bounded in one of two ways, whichever gives the measures less noise, and by rows where they are equal: that cuts
// off no value, and needs no grouping by unit. So does an average: clamping a unit's sum and its count apart would move their
// quotient. Where units alone are counted there is nothing to cap but groups. The choice does not look at data, so it says
// nothing.
func (b *builder) caps() error {
	unit := b.table.Unit
	if unit.IsRow() && b.maxGroups > 0 {
		return refuse(query.Pos{}, "leave it out", "max_groups is for tables with a unit column: here each row is one unit")
	}
	if err := b.unitColumn(); err != nil || b.plan.Unit == nil {
		return err
	}
	groups := unit.MaxGroups
	if b.maxGroups > 0 {
		groups = b.maxGroups
	}
	groups = min(groups, int64(b.plan.Cells())) // 1 without keys
	byRows, byGroups := Caps{Rows: unit.RowsPerUnit}, Caps{Groups: groups, RowsPerGroup: unit.RowsPerGroup}
	onlyUnits := true
	averages := slices.ContainsFunc(b.plan.Aggregates, func(a Aggregate) bool { return a.Func == Average })
	for _, m := range b.plan.Measures {
		if m.Kind == CountUnits { // who is in a cell is known by grouping alone
			byRows.Groups = min(groups, unit.RowsPerUnit)
		} else {
			onlyUnits = false
		}
	}
	b.plan.Caps = byRows
	if onlyUnits || !averages && b.noiseUnder(byGroups) < b.noiseUnder(byRows) {
		b.plan.Caps = byGroups
	}
	return nil
}

// unitColumn makes the column that identifies a unit the plan's, which then has no caps yet. Where each row is a unit there is
// none, and one row counts.
func (b *builder) unitColumn() error {
	unit := b.table.Unit
	if unit.IsRow() {
		b.plan.Caps = Caps{Rows: 1}
		return nil
	}
	if _, err := b.column(&query.Column{Name: unit.Column}); err != nil {
		return err
	}
	for i := range b.columns {
		if b.columns[i].Name == unit.Column {
			b.plan.Unit = &b.columns[i]
		}
	}
	return nil
}

// noiseUnder compares caps: the sum of the measures' squared L2 sensitivities, or of their L1 sensitivities' squares under
// a pure budget, to which the noise's variance is proportional. (But for CountUnits all measures change by one factor, so that
// neither shares of the price nor units play a part; beside it, this is a rule of thumb.)
func (b *builder) noiseUnder(c Caps) float64 {
	total := 0.0
	for _, m := range b.plan.Measures {
		try := *m
		try.bound(b.plan.Neighbours, c, len(b.plan.Keys) > 0)
		x := try.L2Squared
		if _, pure := b.plan.Price.Pure(); pure {
			x = new(big.Int).Mul(try.L1, try.L1)
		}
		unit := try.Unit()
		f, _ := unit.Mul(unit, try.Units(x)).Float64()
		total += f
	}
	return total
}

// String writes the caps for people.
func (c Caps) String() string {
	var parts []string
	if c.Rows > 0 {
		parts = append(parts, plural(c.Rows, "row"))
	}
	if c.Groups > 0 {
		parts = append(parts, plural(c.Groups, "group"))
	}
	if c.RowsPerGroup > 0 {
		parts = append(parts, plural(c.RowsPerGroup, "row")+" worth in each")
	}
	return strings.Join(parts, ", ")
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return big.NewInt(n).String() + " " + what + "s"
}

// CellBounds are the least and the most that one unit adds to a cell where RowsPerGroup bounds it.
func (m *Measure) CellBounds(c Caps) (lo, hi *big.Int) {
	g := big.NewInt(c.RowsPerGroup)
	if m.Kind == CountUnits {
		g.SetInt64(1)
	}
	return new(big.Int).Mul(g, big.NewInt(min(m.Lo, 0))), new(big.Int).Mul(g, big.NewInt(max(m.Hi, 0)))
}

// bound fixes how far the measure's vector of cells can move between neighbours, in grid units: L1, and the square of L2.
//
// Proof. Let c be a unit's contribution to the vector. Other units' contributions do not depend on it: which rows and cells
// a unit keeps is decided by its own rows alone. Each kept row is an integer in [Lo, Hi] put in one cell; let
// M = max(|Lo|, |Hi|).
//   - Row cap: c is a sum of at most Rows rows, so ‖c‖₂ ≤ ‖c‖₁ ≤ R := Rows·M, both attained with all rows in one cell; Q := R².
//   - Groups: c has at most Groups cells that are not 0, each within CellBounds, so at most G := RowsPerGroup·M in size:
//     ‖c‖₁ ≤ R := Groups·G, and ‖c‖₂² ≤ Q := Groups·G².
//   - CountUnits is at most 1 in each of at most Groups cells: R := Q := Groups.
//
// Add/remove: the vectors differ by c. Change-one: by c − c′, so in L1 by at most ‖c‖₁ + ‖c′‖₁ ≤ 2R, and
// ‖c − c′‖₂² = ‖c‖₂² + ‖c′‖₂² − 2c·c′, at most 4Q in general, and 2Q where contributions have one sign, since then c·c′ ≥ 0. With
// one cell, c and c′ both lie between as many rows' least and most, 0 included, so they differ by at most that length.
// What a unit keeps is decided by its own rows alone in whichever form an engine writes a statement: its forms give one
// answer, so that taking one by what was recorded of the file (engine.Sealed) changes no contribution.
// At least 1 is taken: a sum that is 0 by its bounds gets noise all the same.
func (m *Measure) bound(n privacy.Neighbours, caps Caps, grouped bool) {
	lo, hi := min(m.Lo, 0), max(m.Hi, 0)
	one := big.NewInt(max(-lo, hi)) // what one row adds to one cell
	if n == privacy.ChangeOne && !grouped {
		one = new(big.Int).Add(big.NewInt(hi), big.NewInt(-lo))
	}
	cells, cell := int64(1), new(big.Int) // how many cells, and how much in each
	switch {
	case m.Kind == CountUnits:
		cells = caps.Groups
		cell.Set(one)
	case caps.Rows > 0:
		cell.Mul(one, big.NewInt(caps.Rows))
	default:
		cells = caps.Groups
		cell.Mul(one, big.NewInt(caps.RowsPerGroup))
	}
	if cell.Sign() == 0 {
		cell.SetInt64(1)
	}
	m.L1 = new(big.Int).Mul(cell, big.NewInt(cells))
	m.L2Squared = new(big.Int).Mul(m.L1, cell) // cells·cell²
	if n == privacy.ChangeOne && grouped {
		m.L1.Lsh(m.L1, 1)
		m.L2Squared.Lsh(m.L2Squared, 1)
		if lo < 0 && hi > 0 {
			m.L2Squared.Lsh(m.L2Squared, 1)
		}
	}
}
