package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// render returns the statement that answers b over the rows `in`. Its result has the keys k0, k1, …, the column o if b
// has the group Other, and then the sum of each measure. For an ordered measure, the result has the keys, a value, and
// the number of rows with this value, sorted by the value.
//
// The stages, from the inside out: read and clean the columns; apply WHERE, and evaluate keys and gridded values;
// keep each unit's rows and cells within the caps; add up. OFFSET 0 at the end of a stage is a fence: without it,
// the planner copies an expression of the stage into the next stage as often as that stage names it. A stage needs
// no fence if the next stage names each of its expressions once: see fenceOf.
//
// Claim: the rows and cells of a unit that count depend on that unit's own rows alone. Let R be the multiset of the
// unit's rows that pass WHERE, where a row consists of the cleaned columns that the statement reads
// (bounded.Statement.Reads). A row's place is its row_number() among the unit's rows in R, by PARTITION BY u. The
// order is by a hash of the row's columns, and then by the columns other than the unit. Each column has a total
// order: bigint, boolean, double without NaN and −0, or text by its bytes; NULL comes last. So rows that the order
// does not distinguish are equal in every column. The multiset of the first n rows is therefore a function of R and
// n, in whatever order the rows arrive. Keys and contributions are functions of the cleaned columns. So what the
// unit adds under a cap on rows is a function of R too.
//
// Under a cap on groups, a unit's cells are in the order of the least place of their rows. If rows have no places,
// they are in the order of a hash of the unit and the cell's keys. Cells that this does not distinguish are ordered
// by their keys, in which they differ. This is a total order and a function of R. If no unit can have more cells than
// the cap (bounded.Statement.GroupsCapped), all its cells count. No row of another unit takes part in any of this. ∎
//
// The hash only spreads which rows are kept. The proof does not depend on collisions, nor on whether servers hash
// alike.
//
// No fact recorded at sealing is used for a table that is read in place, because its rows may have changed. In a
// copy, the place q is the rank that the row got when the copy was made. By the same argument, the rank is a
// function of its unit's rows.
func render(b *bounded.Statement, in *rows) string {
	if b.Source != nil {
		return renderSource(b, in)
	}
	rows := cappedRows(b, owned(b, in))
	switch bounded := b.Unit != nil && b.Caps.Groups > 0; {
	case b.Ordered && bounded:
		return orderedRows(b, cappedCells(b, rows))
	case bounded:
		return dialect.SumUp(b, cellsOfUnits(b, in, rows))
	case rowsAreAddedUp(b):
		return sumOfRows(b, in)
	}
	return addedUp(b, rows)
}

// dialect is PostgreSQL's dialect for the statements that package engine writes. The server's sums of bigint are
// exact numerics of any size.
var dialect = engine.Dialect{
	Integer: integer, Double: double, BigInt: "bigint", Real: "double precision",
	Fence: " OFFSET 0", Wide: "numeric",
}

// addedUp returns the outermost SELECT of the statement, which adds up the contributions of the rows that count.
func addedUp(b *bounded.Statement, rows string) string {
	switch {
	case b.Ordered:
		return orderedRows(b, rows)
	case b.RowVectors != nil:
		return engine.VectorSums(b, rows, dialect)
	}
	return dialect.SumUp(b, "SELECT "+list(engine.KeyNames(b), contributions(b))+" FROM ("+rows+") AS r")
}

func list(parts ...[]string) string {
	all := slices.Concat(parts...)
	if len(all) == 0 {
		return "1"
	}
	return strings.Join(all, ", ")
}

func names(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = prefix + strconv.Itoa(i)
	}
	return out
}

// cleaned returns a SELECT of the cleaned columns c0, c1, … of every row. If the rows are a copy's and need places, it
// adds each row's rank, its number among its unit's rows in the copy, as q. Cleaning cannot merge two units: the column
// of the unit has neither bounds nor values, so cleaning leaves it as it is.
func cleaned(b *bounded.Statement, in *rows) string {
	from, raw := columnsRead(b, in)
	columns := cleanColumns(b, raw)
	if in.copied && placed(b, in) {
		columns = append(columns, rankColumn+" AS q")
	}
	sql := "SELECT " + list(columns) + " FROM " + from
	if in.where != "" {
		sql += " WHERE " + in.where
	}
	return sql
}

// columnsRead returns a FROM item with the columns of every row as read returns them, and the names of these columns.
// For a table that is read in place, it adds the columns that the list `more` names.
func columnsRead(b *bounded.Statement, in *rows, more ...string) (from string, raw []string) {
	if in.copied {
		return in.scan, columnNames(b)
	}
	raw = names("x", len(b.Columns))
	var columns []string
	asItIs := true
	for i, c := range b.Columns {
		columns = append(columns, read(c, in.of[i])+" AS "+raw[i])
		asItIs = asItIs && readAsItIs(c, in.of[i])
	}
	fence := " OFFSET 0"
	if asItIs { // without a fence, the planner repeats only conversions that cost nothing
		fence = ""
	}
	return "(SELECT " + list(columns, more) + " FROM " + in.scan + fence + ") AS x", raw
}

func cleanColumns(b *bounded.Statement, raw []string) []string {
	var out []string
	for i, c := range b.Columns {
		out = append(out, fmt.Sprintf("%s AS c%d", clean(c, raw[i]), i))
	}
	return out
}

// evaluated returns a SELECT of the rows that pass WHERE and have known keys. Its columns are the keys, the gridded
// values v0, v1, …, the unit u if rows have units, and the row's place q (its number among its unit's rows) if it is
// needed: see placed. A value is NULL if the row has none for that measure.
func evaluated(b *bounded.Statement, in *rows) string {
	row := engine.KeysAndValues(b, expression, gridded)
	var carried []string
	place, fence, unit := "", " OFFSET 0", ""
	if b.Unit != nil {
		unit = column(unitOf(b))
		carried = append(carried, unit+" AS u")
		switch {
		case placed(b, in) && in.copied:
			carried, place = append(carried, "q"), ", q"
		case placed(b, in):
			columns := placing(b)
			carried = append(append(carried, columns...), in.hash(list(columns))+" AS h")
			place = ", row_number() OVER (PARTITION BY u ORDER BY " + list([]string{"h"}, columns[1:]) + ") AS q"
			fence = "" // the window function acts as a fence
		}
	}
	where := ""
	if b.Where != nil {
		where = " WHERE " + expression(b.Where)
	}
	from := cleaned(b, in)
	if c := fenceOf(cleanColumns(b, names("x", len(b.Columns))), list(row, carried)+where); c != "" {
		from += ordered(b, in, unit) + c
	}
	sql := "SELECT " + list(row, carried) + " FROM (" + from + ") AS c" + where + ordered(b, in, "u")
	out := list(names("k", len(b.Keys)), names("v", len(b.Measures)))
	if b.Unit != nil {
		out += ", u"
	}
	return relabelled(b, in, "SELECT "+out+place+" FROM ("+sql+fence+") AS e"+engine.Kept(b, nil))
}

// placed reports whether the statement needs the place of each row: its number in the order of its unit's rows. It
// does if a cap may leave out some of a unit's rows. It also does if a cap may leave out some of a unit's cells and
// either the rows are a copy's or the keys were relabelled.
func placed(b *bounded.Statement, in *rows) bool {
	return b.Unit != nil &&
		(b.Caps.Rows > 0 || b.GroupsCapped() && (in.copied || b.Other) || b.Ordered && b.Caps.Groups > 0)
}

// placing returns the columns that order a unit's rows, with the unit's column first. They are the same for all
// questions with one canonical text, so the same rows count.
func placing(b *bounded.Statement) []string {
	out := []string{column(unitOf(b))}
	for _, i := range b.Reads() {
		if i != unitOf(b) {
			out = append(out, column(i))
		}
	}
	return out
}

func unitOf(b *bounded.Statement) int {
	return slices.IndexFunc(b.Columns, func(c bounded.Column) bool { return c.Name == b.Unit.Name })
}

// gridded returns the SQL of a row's value for m, in grid units, before clamping. The server treats 0 and −0 as one
// value.
func gridded(m *bounded.Measure) string { return dialect.Gridded(m, expression) }

// contributions returns the SQL of each measure's contribution, as m0, m1, ….
func contributions(b *bounded.Statement) []string {
	var out []string
	for i := range b.Measures {
		out = append(out, contribution(b, i)+" AS m"+strconv.Itoa(i))
	}
	return out
}

// contribution returns the SQL of a row's contribution to measure i: the clamped gridded value. A NULL contributes
// 0.
func contribution(b *bounded.Statement, i int) string {
	m := b.Measures[i]
	switch {
	case m.Distinct():
		return dialect.FirstOfValue(b, i)
	case clampIsIdle(b, m):
		return fmt.Sprintf("coalesce(v%d, %s)", i, integer(0))
	}
	return fmt.Sprintf(
		"CASE WHEN v%[1]d IS NULL THEN %[2]s ELSE least(greatest(v%[1]d, %[3]s), %[4]s) END",
		i, integer(0), integer(m.Lo), integer(m.Hi))
}

// cappedRows returns a SELECT of the rows that count under Caps.Rows: the first rows of each unit that pass WHERE.
func cappedRows(b *bounded.Statement, in *rows) string {
	switch {
	case b.Unit == nil || b.Caps.Rows == 0:
		return evaluated(b, in)
	case in.copied:
		return cappedCopy(b, in)
	}
	return fmt.Sprintf("SELECT * FROM (%s) AS p WHERE q <= %d", evaluated(b, in), b.Caps.Rows)
}

// cellBounded returns the SQL that clamps what a unit adds to a cell (group). If the statement caps rows, the sums need
// no further bound, and Caps.Groups applies only to counts of units.
func cellBounded(b *bounded.Statement, m *bounded.Measure, name string) string {
	if b.Caps.RowsPerGroup == 0 {
		if m.OfUnits() && b.GroupsCapped() {
			return fmt.Sprintf("CASE WHEN r <= %d THEN %s ELSE %s END", b.Caps.Groups, name, integer(0))
		}
		return name
	}
	lo, hi := m.CellBounds(b.Caps)
	return fmt.Sprintf("least(greatest(%s, CAST('%s' AS numeric)), CAST('%s' AS numeric))", name, lo, hi)
}
