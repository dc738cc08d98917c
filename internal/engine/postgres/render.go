package postgres

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dither/internal/engine"
	"dither/internal/plan"
)

// render writes the one statement that answers b over rows: its keys
// k0, k1, … (and o, whether it is the group of Other) and then each measure's sum; or, of a measure in order, by cell, its values and how many
// rows have each, in their order.
//
// The stages, from the inside out: read and clean the columns; keep the rows of WHERE and evaluate keys and gridded values; keep
// each unit's rows and cells within the caps; add up. OFFSET 0 makes a stage a fence: the planner would write a stage's expressions
// into the one around it as often as they are named there.
//
// Which rows a unit keeps, and which cells, is decided by its own rows alone. A row's place among its unit's rows that are left
// is its row_number() in the order of a hash of its cleaned columns and then of these columns themselves, over PARTITION BY
// u (which is the same in all of them, and left out of the order). Let R be the multiset of the unit's rows that are left, a row being its cleaned columns. The order compares nothing but
// cleaned columns, each in a total order (bigint, boolean, double without NaN and −0, text by its bytes; NULL last),
// so rows of one place are the same in every column, and the multiset of the first n rows is a function of R and n, whatever
// order the rows arrive in. Keys and contributions are functions of the cleaned columns; so is, then, what the unit adds
// under a cap on rows. A unit's cells are in the order of the least place of their rows or, where rows have none, of a hash of the unit and the
// cell's keys; and then of these keys, in which they differ: a total order, which is a function of R too. The rows of other units appear
// nowhere in this. ∎
// (The hash only spreads which rows are kept. That it collides, or is another one on another server, matters to no proof.)
//
// Nothing that was recorded at sealing is relied on: rows may have changed since. Of a copy, the place q is the rank that the row was given
// when the copy was made, by the same argument a function of its unit's rows.
func render(b *plan.Bounded, in *rows) string {
	rows := cappedRows(b, owned(b, in))
	switch bounded := b.Unit != nil && b.Caps.Groups > 0; {
	case b.Ordered && bounded:
		return orderedRows(b, cappedCells(b, rows))
	case b.Ordered:
		return orderedRows(b, rows)
	case bounded:
		return sumUp(b, cellsOfUnits(b, in, rows))
	case b.RowVectors != nil:
		return engine.VectorSums(b, rows, engine.Dialect{Integer: integer, Double: double, BigInt: "bigint", Real: "double precision", Fence: " OFFSET 0"})
	}
	return sumUp(b, "SELECT "+list(engine.KeyNames(b), contributions(b))+" FROM ("+rows+") AS r")
}

func list(parts ...[]string) string {
	all := slices.Concat(parts...)
	if len(all) == 0 {
		return "1"
	}
	return strings.Join(all, ", ")
}

// sumUp adds the contributions m0, m1, … of rows or of units per cell. Sums of bigint are numeric: exact, of any size.
func sumUp(b *plan.Bounded, from string) string {
	var sums []string
	for i := range b.Measures {
		sums = append(sums, fmt.Sprintf("sum(m%d)", i))
	}
	return "SELECT " + list(engine.KeyNames(b), sums) + " FROM (" + from + ") AS m" + engine.GroupBy(engine.KeyNames(b))
}

func names(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = prefix + strconv.Itoa(i)
	}
	return out
}

// cleaned gives the cleaned columns c0, c1, … of every row. Cleaning maps no two units to one: a unit's column has neither bounds
// nor values, so its cleaned value is its own, or NULL.
func cleaned(b *plan.Bounded, in *rows) string {
	var raw, columns []string
	if in.copied {
		return cleanedCopy(b, in)
	}
	asItIs := true
	for i, c := range b.Columns {
		raw = append(raw, fmt.Sprintf("%s AS x%d", read(c, in.of[i]), i))
		columns = append(columns, fmt.Sprintf("%s AS c%d", clean(c, "x"+strconv.Itoa(i)), i))
		asItIs = asItIs && readAsItIs(c, in.of[i])
	}
	if asItIs { // what is named several times costs nothing
		return "SELECT " + list(columns) + " FROM (SELECT " + list(raw) + " FROM " + in.scan + ") AS x OFFSET 0"
	}
	return "SELECT " + list(columns) + " FROM (SELECT " + list(raw) + " FROM " + in.scan + " OFFSET 0) AS x OFFSET 0"
}

// evaluated gives the rows that are left: the keys, the gridded values v0, v1, … (NULL where a measure has none), and where
// units have several rows the unit u and, where a cap may leave rows out, the row's place q.
func evaluated(b *plan.Bounded, in *rows) string {
	var row, carried []string
	for i, k := range b.Keys {
		row = append(row, fmt.Sprintf("%s AS k%d", expression(k.Expr), i))
	}
	for i, m := range b.Measures {
		row = append(row, fmt.Sprintf("%s AS v%d", gridded(m), i))
	}
	place, fence := "", " OFFSET 0"
	if b.Unit != nil {
		carried = append(carried, column(unitOf(b))+" AS u")
		switch {
		case placed(b, in) && in.copied:
			carried, place = append(carried, "q"), ", q"
		case placed(b, in):
			columns := names("c", len(b.Columns))
			carried = append(append(carried, columns...), in.hash(list(columns))+" AS h")
			others := slices.Delete(columns, unitOf(b), unitOf(b)+1)
			place = ", row_number() OVER (PARTITION BY u ORDER BY " + list([]string{"h"}, others) + ") AS q"
			fence = "" // the window is one
		}
	}
	sql := "SELECT " + list(row, carried) + " FROM (" + cleaned(b, in) + ") AS c"
	if b.Where != nil {
		sql += " WHERE " + expression(b.Where)
	}
	out := list(names("k", len(b.Keys)), names("v", len(b.Measures)))
	if b.Unit != nil {
		out += ", u"
	}
	return relabelled(b, in, "SELECT "+out+place+" FROM ("+sql+fence+") AS e"+engine.Kept(b, nil))
}

// placed holds where rows have a place: where a cap may leave some of a unit's rows out, and where a copy knows them,
// or rows were given other keys, some of its cells.
func placed(b *plan.Bounded, in *rows) bool {
	return b.Unit != nil && (b.Caps.Rows > 0 || len(b.Keys) > 0 && (in.copied || b.Other) || b.Ordered && b.Caps.Groups > 0)
}

func unitOf(b *plan.Bounded) int {
	return slices.IndexFunc(b.Columns, func(c plan.Column) bool { return c.Name == b.Unit.Name })
}

// gridded is a row's value in grid units, not yet clamped: a pure function of the row.
func gridded(m *plan.Measure) string {
	switch m.Kind {
	case plan.CountValue:
		return "CASE WHEN " + expression(m.X) + " IS NOT NULL THEN " + integer(1) + " END"
	case plan.CountRows, plan.CountUnits:
		return integer(1)
	}
	x := expression(m.X)
	if m.Kind == plan.CountDistinct { // 0 and −0 are equal here
		return x
	}
	if m.Rounds() { // a power of two times a double is exact, and 0 only for 0: X's size is 0 or far above 2^-1000; half to even
		x = "CAST((" + x + " * " + double(math.Ldexp(1, -m.Grid)) + ") AS bigint)"
	} else if m.Grid < 0 {
		x = "(" + x + " * " + integer(1<<-m.Grid) + ")"
	}
	if m.Centre != 0 {
		x = "(" + x + " - " + integer(m.Centre) + ")"
	}
	return x
}

// contributions clamp each row's gridded value; NULL contributes 0.
func contributions(b *plan.Bounded) []string {
	var out []string
	for i, m := range b.Measures {
		if m.Kind == plan.CountDistinct {
			out = append(out, firstOfValue(b, i))
			continue
		}
		out = append(out, fmt.Sprintf("CASE WHEN v%[1]d IS NULL THEN %[2]s ELSE least(greatest(v%[1]d, %[3]s), %[4]s) END AS m%[1]d",
			i, integer(0), integer(m.Lo), integer(m.Hi)))
	}
	return out
}

// firstOfValue is 1 in one of the rows of a cell that have the same value, whichever, and else 0: their sum is the number of distinct values.
func firstOfValue(b *plan.Bounded, i int) string {
	v := "v" + strconv.Itoa(i)
	return fmt.Sprintf("CASE WHEN %s IS NOT NULL AND row_number() OVER (PARTITION BY %s) = 1 THEN %s ELSE %s END AS m%d",
		v, list(engine.KeyNames(b), []string{v}), integer(1), integer(0), i)
}

// cappedRows gives the rows that count: of each unit, the first so many of those that are left.
func cappedRows(b *plan.Bounded, in *rows) string {
	switch {
	case b.Unit == nil || b.Caps.Rows == 0:
		return evaluated(b, in)
	case in.copied:
		return cappedCopy(b, in)
	}
	return fmt.Sprintf("SELECT * FROM (%s) AS p WHERE q <= %d", evaluated(b, in), b.Caps.Rows)
}

// cellsOfUnits gives one row for each unit and cell that it keeps: the Caps.Groups cells that come first by their first
// row, or, where rows have no places, by a hash of unit and keys.
func cellsOfUnits(b *plan.Bounded, in *rows, rows string) string {
	keys := engine.KeyNames(b)
	cell := append([]string{"u"}, keys...)
	sums, bounded := slices.Clone(cell), slices.Clone(keys)
	for i, m := range b.Measures {
		name := fmt.Sprintf("m%d", i)
		sum := "sum"
		if m.Kind == plan.CountUnits {
			sum = "max" // once a cell, however many rows
		}
		sums = append(sums, fmt.Sprintf("%s(%s) AS %s", sum, name, name))
		bounded = append(bounded, cellBounded(b, m, name)+" AS "+name)
	}
	capped := len(keys) > 0
	of := slices.Clone(cell)
	if capped {
		first := in.hash(list(cell))
		if placed(b, in) {
			of, first = append(of, "q"), "min(q)"
		}
		order := list([]string{first}, keys)
		sums = append(sums, "row_number() OVER (PARTITION BY u ORDER BY "+order+") AS r")
	}
	cells := "SELECT " + list(sums) + " FROM (SELECT " + list(of, contributions(b)) + " FROM (" + rows + ") AS r) AS m" + engine.GroupBy(cell)
	if capped && b.Caps.Rows == 0 {
		cells = fmt.Sprintf("SELECT * FROM (%s) AS g WHERE r <= %d", cells, b.Caps.Groups)
	}
	return "SELECT " + list(bounded) + " FROM (" + cells + ") AS f"
}

// cellBounded clamps what a unit adds to a cell. Beside a cap on rows, which bounds the others, the cap on cells is for
// CountUnits alone.
func cellBounded(b *plan.Bounded, m *plan.Measure, name string) string {
	if b.Caps.RowsPerGroup == 0 {
		if m.Kind == plan.CountUnits && len(b.Keys) > 0 {
			return fmt.Sprintf("CASE WHEN r <= %d THEN %s ELSE %s END", b.Caps.Groups, name, integer(0))
		}
		return name
	}
	lo, hi := m.CellBounds(b.Caps)
	return fmt.Sprintf("least(greatest(%s, CAST('%s' AS numeric)), CAST('%s' AS numeric))", name, lo, hi)
}
