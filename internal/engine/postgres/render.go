package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// render writes the one statement that answers b over rows. Its columns are the keys k0, k1, … (and o, whether it is
// the group of Other) and then each measure's sum. For an ordered measure they are, by cell, its values and how many
// rows have each, in order.
//
// The stages, from the inside out: read and clean the columns; keep the rows of WHERE, and evaluate keys and gridded
// values; keep each unit's rows and cells within the caps; add up. OFFSET 0 makes a stage a fence: without it the
// planner copies a stage's expressions into the next stage as often as they are named there. If each is named once, it
// may (fenceOf).
//
// Claim: a unit's own rows alone decide which rows and cells it keeps. A row's place among its unit's rows that are
// left is its row_number() in the order of a hash of its cleaned columns, as far as anything reads them
// (bounded.Statement.Reads), and then of these columns themselves, over PARTITION BY u (which is the same in all of
// them, and left out of the order). Let R be the multiset of the unit's rows that are left, a row being these columns.
// The order compares nothing but cleaned columns, each in a total order (bigint, boolean, double without NaN and −0,
// text by its bytes; NULL last), so rows of one place are the same in every column, and the multiset of the first n
// rows is a function of R and n, whatever order the rows arrive in. Keys and contributions are functions of the cleaned
// columns; so is, then, what the unit adds under a cap on rows. A unit's cells are in the order of the least place of
// their rows or, where rows have none, of a hash of the unit and the cell's keys; and then of these keys, in which they
// differ: a total order, which is a function of R too. The rows of other units appear nowhere in this. ∎ (The hash
// only spreads which rows are kept. That it collides, or is another one on another server, matters to no proof.)
//
// No fact recorded at sealing is used, because rows may have changed since. In a copy, the place q is the rank that the
// row got when the copy was made, which by the same argument is a function of its unit's rows.
func render(b *bounded.Statement, in *rows) string {
	if b.Source != nil {
		return renderSource(b, in)
	}
	rows := cappedRows(b, owned(b, in))
	switch bounded := b.Unit != nil && b.Caps.Groups > 0; {
	case b.Ordered && bounded:
		return orderedRows(b, cappedCells(b, rows))
	case bounded:
		return engine.SumUp(b, cellsOfUnits(b, in, rows))
	case rowsAreAddedUp(b):
		return sumOfRows(b, in)
	}
	return addedUp(b, rows)
}

// dialect is PostgreSQL's form of the shared parts of statements. Sums of bigint are exact numerics of any size.
var dialect = engine.Dialect{
	Integer: integer, Double: double, BigInt: "bigint", Real: "double precision",
	Fence: " OFFSET 0",
}

// addedUp is the output for the rows that count.
func addedUp(b *bounded.Statement, rows string) string {
	switch {
	case b.Ordered:
		return orderedRows(b, rows)
	case b.RowVectors != nil:
		return engine.VectorSums(b, rows, dialect)
	}
	return engine.SumUp(b, "SELECT "+list(engine.KeyNames(b), contributions(b))+" FROM ("+rows+") AS r")
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

// cleaned writes the cleaned columns c0, c1, … of every row; for a copy with places, also each row's rank as q.
// Cleaning merges no two units: a unit's column has neither bounds nor values, so its cleaned value is its own, or
// NULL.
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

// columnsRead writes the columns read of every row, and returns their names. For a table that is read directly, it
// writes more columns beside them.
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
	if asItIs { // naming it several times costs nothing
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

// evaluated writes the remaining rows: the keys, the gridded values v0, v1, … (NULL if a measure has none), and, if
// units have several rows, the unit u and, if a cap may leave rows out, the row's place q.
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
			fence = "" // the window is one
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

// placed reports whether rows have a place: if a cap may leave some of a unit's rows out, or, in a copy or after
// relabelling, some of its cells.
func placed(b *bounded.Statement, in *rows) bool {
	return b.Unit != nil &&
		(b.Caps.Rows > 0 || len(b.Keys) > 0 && (in.copied || b.Other) || b.Ordered && b.Caps.Groups > 0)
}

// placing are the columns that order a unit's rows, the unit's first, so that the same rows count in all questions with
// one canonical text.
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

// gridded is a row's value in grid units, before clamping. (Among distinct reals 0 and −0 are equal here.)
func gridded(m *bounded.Measure) string { return dialect.Gridded(m, expression) }

// contributions are the values that rows add, as m0, m1, ….
func contributions(b *bounded.Statement) []string {
	var out []string
	for i := range b.Measures {
		out = append(out, contribution(b, i)+" AS m"+strconv.Itoa(i))
	}
	return out
}

// contribution clamps a row's gridded value; NULL contributes 0.
func contribution(b *bounded.Statement, i int) string {
	m := b.Measures[i]
	switch {
	case m.Kind == bounded.CountDistinct:
		return dialect.FirstOfValue(b, i)
	case clampIsIdle(b, m):
		return fmt.Sprintf("coalesce(v%d, %s)", i, integer(0))
	}
	return fmt.Sprintf(
		"CASE WHEN v%[1]d IS NULL THEN %[2]s ELSE least(greatest(v%[1]d, %[3]s), %[4]s) END",
		i,
		integer(0),
		integer(m.Lo),
		integer(m.Hi),
	)
}

// cappedRows writes the rows that count: of each unit, the first Caps.Rows of the remaining ones.
func cappedRows(b *bounded.Statement, in *rows) string {
	switch {
	case b.Unit == nil || b.Caps.Rows == 0:
		return evaluated(b, in)
	case in.copied:
		return cappedCopy(b, in)
	}
	return fmt.Sprintf("SELECT * FROM (%s) AS p WHERE q <= %d", evaluated(b, in), b.Caps.Rows)
}

// cellBounded clamps what a unit adds to a cell. Beside a cap on rows, which bounds the other measures, the cap on
// cells applies to CountUnits alone.
func cellBounded(b *bounded.Statement, m *bounded.Measure, name string) string {
	if b.Caps.RowsPerGroup == 0 {
		if m.Kind == bounded.CountUnits && len(b.Keys) > 0 {
			return fmt.Sprintf("CASE WHEN r <= %d THEN %s ELSE %s END", b.Caps.Groups, name, integer(0))
		}
		return name
	}
	lo, hi := m.CellBounds(b.Caps)
	return fmt.Sprintf("least(greatest(%s, CAST('%s' AS numeric)), CAST('%s' AS numeric))", name, lo, hi)
}
