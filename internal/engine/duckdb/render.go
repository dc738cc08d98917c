package duckdb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// dialect is DuckDB's dialect for the statements that package engine writes.
var dialect = engine.Dialect{
	Integer: integer, Double: double, BigInt: "BIGINT", Real: "DOUBLE",
	Factor: "DECIMAL(9, 0)", Total: "HUGEINT", Wide: "HUGEINT",
}

// render returns the statement that answers b over scan, which reads the sealed file. Its result has the keys k0,
// k1, … and then the sum of each measure. For an ordered measure, the result has the keys, a value m0, and the
// number of rows with this value.
//
// The stages, from the inside out: clean the columns; apply WHERE, and evaluate keys and gridded values; keep each
// unit's rows and cells within the caps; add up. If each unit has one row, no cap can exclude anything. Then the
// stage of caps is omitted, unless the amount that a unit adds to a cell has bounds of its own.
func render(b *bounded.Statement, scan string, known engine.Sealed) string {
	scan = owned(b, scan, known)
	if countsAllUnits(b, known) { // sealing numbers each unit's rows from 1
		scan, known.OneRowEach = fmt.Sprintf("(SELECT * FROM %s WHERE %s = 1)", scan, rankColumn), true
	}
	if marks(b, known) {
		return markedCells(b, scan, known)
	}
	raw, late, dropped := b, []int(nil), dropsLate(b)
	if dropped {
		late = lateKeys(b)
		raw, scan = withRaw(b, scan, late, known)
		if refills(b, known) && !everyRowCounts(b, known) && !engine.AllRowsAreLeft(b, known.Complete) {
			return refilled(b, raw, late, scan, known)
		}
	}
	few, many := evaluated(raw, scan, known), ""
	if b.Unit != nil && (!known.OneRowEach || b.CellsClamped()) {
		few, many = capped(b, raw, scan, known)
		if b.Ordered && b.Caps.Groups > 0 {
			return orderedRows(b, cappedCells(b, both(few, many)))
		}
		if b.Caps.Groups > 0 {
			return dialect.SumUp(b, cellsOfUnits(b, both(few, many)))
		}
	}
	if dropped {
		return addedLate(b, raw, late, few, many)
	}
	return addedUp(b, both(few, many))
}

// countsAllUnits reports whether b counts the units that have a row, and nothing else. A unit's first row then stands
// for all of its rows.
func countsAllUnits(b *bounded.Statement, known engine.Sealed) bool {
	other := func(m *bounded.Measure) bool { return m.Kind != bounded.CountUnits }
	return b.Unit != nil && len(b.Keys) == 0 && len(b.Measures) > 0 && !b.Ordered && b.RowVectors == nil &&
		!slices.ContainsFunc(b.Measures, other) && engine.AllRowsAreLeft(b, known.Complete)
}

// addedUp returns the outermost SELECT of the statement, which adds up the contributions of the rows that count.
func addedUp(b *bounded.Statement, rows string) string {
	switch {
	case b.Ordered:
		return orderedRows(b, rows)
	case b.RowVectors != nil:
		return engine.VectorSums(b, rows, dialect)
	}
	return dialect.SumUp(b, contributed(b, rows))
}

// contributed returns a SELECT of the keys and the contributions m0, m1, … of rows.
func contributed(b *bounded.Statement, rows string) string {
	return "SELECT " + strings.Join(append(engine.KeyNames(b), contributions(b)...), ", ") + " FROM (" + rows + ")"
}

// evaluated returns a SELECT of the rows that pass WHERE and have known keys. Its columns are the unit u and the rank q
// (the row's number among its unit's rows) if rows have units, the keys, and the gridded values v0, v1, …. A value is
// NULL if the row has none for that measure.
func evaluated(b *bounded.Statement, scan string, known engine.Sealed) string {
	return keptOf(b, scan, engine.Kept(b, known.Complete))
}

// keptOf is like evaluated, with the WHERE clause that drops rows without a unit or a known key.
func keptOf(b *bounded.Statement, scan, kept string) string {
	var cleaned, row []string
	own := b.ReadingToo(nil)
	read := own.Reads()
	for i := range b.Columns { // DuckDB would compute some of the columns that nothing reads
		if slices.Contains(read, i) {
			cleaned = append(cleaned, cleanFor(b, i)+" AS "+column(i))
		}
	}
	if b.Unit != nil { // the unit is not cleaned: cleaning could merge two units
		cleaned, row = append(cleaned, identifier(b.Unit.Name)+" AS u", rankColumn+" AS q"), append(row, "u", "q")
	}
	if len(cleaned) == 0 {
		cleaned = []string{"1"}
	}
	row = append(row, engine.KeysAndValues(b, expression, gridded)...)
	sql := "SELECT " + strings.Join(row, ", ") + " FROM (SELECT " + strings.Join(cleaned, ", ") +
		" FROM " + scan + ")"
	if b.Where != nil {
		sql += " WHERE " + expression(b.Where)
	}
	return relabelled(b, "SELECT * FROM ("+sql+")"+kept)
}

// gridded returns the SQL of a row's value for m, in grid units, before clamping: a pure function of the row.
func gridded(m *bounded.Measure) string {
	x := dialect.Gridded(m, expression)
	if m.Kind == bounded.CountDistinct && m.X.Type == value.Real { // 0 and −0 count as one value
		x = "CASE WHEN (" + x + ") = 0 THEN CAST(0 AS DOUBLE) ELSE (" + x + ") END"
	}
	return x
}

// contributions returns the SQL of each measure's contribution.
func contributions(b *bounded.Statement) []string {
	var out []string
	for i := range b.Measures {
		out = append(out, contribution(b, i))
	}
	return out
}

// contribution returns the SQL of the contribution of measure i, the clamped gridded value. A NULL contributes 0.
func contribution(b *bounded.Statement, i int) string {
	m, v := b.Measures[i], "v"+strconv.Itoa(i)
	if m.Distinct() {
		return dialect.FirstOfValue(b, i) + fmt.Sprintf(" AS m%d", i)
	}
	lo, hi := integer(m.Lo), integer(m.Hi)
	return fmt.Sprintf("CASE WHEN %[1]s BETWEEN %[2]s AND %[3]s THEN %[1]s WHEN %[1]s < %[2]s THEN %[2]s "+
		"WHEN %[1]s > %[3]s THEN %[3]s ELSE CAST(0 AS BIGINT) END AS m%[4]d", v, lo, hi, i)
}

// cappedRows returns the rows that count under Caps.Rows: the first rows of each unit that pass WHERE, in the order of
// their ranks, by which sealing numbers the rows of each unit. A rank depends on its unit's rows alone. The recorded
// facts select the form of the statement. They depend on the rows of all units, but the kept rows of one unit do not:
// [engine.Sealed] has the proof.
//
// If no unit has more rows than the cap, all rows count. If no row can be dropped, the first rows are those of the lowest ranks, and the cap is a filter. Otherwise only
// units with more rows than the cap need a window, and a well-chosen cap leaves few such units.
func cappedRows(b *bounded.Statement, scan string, known engine.Sealed) string {
	return both(capped(b, b, scan, known))
}

// capped returns the rows of cappedRows in two parts: those of units of which every row that passes WHERE counts, and
// those of the other units, or "" if there are none. The first part is of the statement raw, in which fewer rows are
// dropped (withRaw).
func capped(b, raw *bounded.Statement, scan string, known engine.Sealed) (few, many string) {
	filtered := func(condition string) string { return fmt.Sprintf("(SELECT * FROM %s WHERE %s)", scan, condition) }
	switch {
	case b.Caps.Rows == 0, everyRowCounts(b, known):
		return evaluated(raw, scan, known), ""
	case engine.AllRowsAreLeft(b, known.Complete):
		return evaluated(raw, filtered(fmt.Sprintf("%s <= %d", rankColumn, b.Caps.Rows)), known), ""
	}
	few = evaluated(raw, filtered(fmt.Sprintf("%s <= %d", rowsColumn, b.Caps.Rows)), known)
	kept := engine.Kept(b, known.Complete)
	if kept != "" {
		// a rank is never negative. Without this test, DuckDB would clean the keys of all rows before it drops most rows
		kept = " WHERE (" + strings.TrimPrefix(kept, " WHERE ") + ") OR q < 0"
	}
	many = keptOf(b, filtered(fmt.Sprintf("%s > %d", rowsColumn, b.Caps.Rows)), kept)
	return few, fmt.Sprintf(
		"SELECT * EXCLUDE (r) FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)) WHERE r <= %d",
		many, b.Caps.Rows)
}

// everyRowCounts reports whether no unit has more rows than may count.
func everyRowCounts(b *bounded.Statement, known engine.Sealed) bool {
	return known.MostRows > 0 && known.MostRows <= b.Caps.Rows
}

// both returns the rows of two parts, the second of which may be "".
func both(few, many string) string {
	if many == "" {
		return few
	}
	return few + " UNION ALL " + many
}

// cellsOfUnits returns a SELECT with one row for each unit and each of its cells (groups) that count. These are the
// first Caps.Groups cells of the unit, in the order of the least rank, as sealing numbered the unit's rows, so the
// choice depends on that unit's own rows alone. Two cells of a unit never have the same least rank, because a row is in
// one cell.
func cellsOfUnits(b *bounded.Statement, rows string) string {
	keys := engine.KeyNames(b)
	cell := append([]string{"u"}, keys...)
	of, sums, out := slices.Clone(cell), slices.Clone(cell), slices.Clone(keys)
	added := contributions(b)
	for i, m := range b.Measures {
		name := fmt.Sprintf("m%d", i)
		switch m.Kind {
		case bounded.CountUnits: // once in a cell, however many rows the unit has there
			sums = append(sums, "CAST(1 AS BIGINT) AS "+name)
		case bounded.CountUnitsWith:
			of, sums = append(of, added[i]), append(sums, fmt.Sprintf("max(%[1]s) AS %[1]s", name))
		default:
			of, sums = append(of, added[i]), append(sums, fmt.Sprintf("sum(%[1]s) AS %[1]s", name))
		}
		out = append(out, cellBounded(b, m, name)+" AS "+name)
	}
	capped := b.GroupsCapped()
	if capped {
		of, sums = append(of, "q"), append(sums, "min(q) AS q")
	}
	cells := "SELECT " + strings.Join(sums, ", ") + " FROM (SELECT " + strings.Join(of, ", ") +
		" FROM (" + rows + "))" + engine.GroupBy(cell)
	if capped {
		cells = fmt.Sprintf("SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)", cells)
		if b.Caps.Rows == 0 {
			cells = fmt.Sprintf("SELECT * FROM (%s) WHERE r <= %d", cells, b.Caps.Groups)
		}
	}
	return "SELECT " + strings.Join(out, ", ") + " FROM (" + cells + ")"
}

// cellBounded returns the SQL that clamps what a unit adds to a cell (group). If the statement caps rows, the sums need
// no further bound, and Caps.Groups applies only to counts of units.
func cellBounded(b *bounded.Statement, m *bounded.Measure, name string) string {
	if b.Caps.RowsPerGroup == 0 {
		if m.OfUnits() && b.GroupsCapped() {
			return fmt.Sprintf("CASE WHEN r <= %d THEN %s ELSE CAST(0 AS BIGINT) END", b.Caps.Groups, name)
		}
		return name
	}
	lo, hi := m.CellBounds(b.Caps)
	return fmt.Sprintf(
		"CASE WHEN %[1]s < %[2]s THEN %[2]s WHEN %[1]s > %[3]s THEN %[3]s ELSE CAST(%[1]s AS HUGEINT) END",
		name, sealHugeint(lo), sealHugeint(hi))
}
