package duckdb

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/internal/plan"
)

// render writes the one statement that answers b over a scan of the sealed file: its keys k0, k1, … and then each measure's
// sum.
//
// The stages, from the inside out: clean the columns; keep the rows of WHERE and evaluate keys and gridded values; where
// rows have units, keep each unit's rows and cells within the caps; add up.
func render(b *plan.Bounded, scan string) string {
	if b.Unit == nil {
		return sumUp(b, "SELECT "+strings.Join(append(keyNames(b), contributions(b)...), ", ")+" FROM ("+evaluated(b, scan)+")")
	}
	return sumUp(b, cappedCells(b, scan))
}

// sumUp adds the contributions m0, m1, … of rows or of units per cell.
func sumUp(b *plan.Bounded, from string) string {
	out := keyNames(b)
	for i := range b.Measures {
		out = append(out, fmt.Sprintf("sum(m%d)", i))
	}
	if len(out) == 0 {
		out = []string{"1"}
	}
	return "SELECT " + strings.Join(out, ", ") + " FROM (" + from + ")" + groupBy(keyNames(b))
}

func keyNames(b *plan.Bounded) []string {
	var out []string
	for i := range b.Keys {
		out = append(out, "k"+strconv.Itoa(i))
	}
	return out
}

func groupBy(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(names, ", ")
}

// evaluated gives the kept rows: the unit u, the keys, and the gridded values v0, v1, … (NULL where a measure has none).
func evaluated(b *plan.Bounded, scan string) string {
	var cleaned, row []string
	for i, c := range b.Columns {
		cleaned = append(cleaned, clean(c)+" AS "+column(i))
	}
	if b.Unit != nil { // as it is sealed: cleaning must not make one unit of two
		cleaned, row = append(cleaned, identifier(b.Unit.Name)+" AS u"), append(row, "u")
	}
	if len(cleaned) == 0 {
		cleaned = []string{"1"}
	}
	for i, k := range b.Keys {
		row = append(row, fmt.Sprintf("%s AS k%d", expression(k.Expr), i))
	}
	for i, m := range b.Measures {
		row = append(row, fmt.Sprintf("%s AS v%d", gridded(m), i))
	}
	sql := "SELECT " + strings.Join(row, ", ") + " FROM (SELECT " + strings.Join(cleaned, ", ") +
		" FROM " + scan + ")"
	if b.Where != nil {
		sql += " WHERE " + expression(b.Where)
	}
	return "SELECT * FROM (" + sql + ")" + kept(b)
}

// kept drops rows without a unit, and rows whose key is NULL where NULL is no group.
func kept(b *plan.Bounded) string {
	var conditions []string
	if b.Unit != nil {
		conditions = append(conditions, "u IS NOT NULL")
	}
	for i, k := range b.Keys {
		if !k.Values[len(k.Values)-1].Null {
			conditions = append(conditions, fmt.Sprintf("k%d IS NOT NULL", i))
		}
	}
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// gridded is a row's value in grid units, not yet clamped: a pure function of the row.
func gridded(m *plan.Measure) string {
	switch m.Kind {
	case plan.CountValue:
		return "CASE WHEN " + expression(m.X) + " IS NOT NULL THEN CAST(1 AS BIGINT) END"
	case plan.CountRows, plan.CountUnits:
		return "CAST(1 AS BIGINT)"
	}
	x := expression(m.X)
	if m.Rounds() { // a power of two times a double is exact; the cast rounds half to even
		x = "CAST((" + x + " * " + double(math.Ldexp(1, -m.Grid)) + ") AS BIGINT)"
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
		v := "v" + strconv.Itoa(i)
		lo, hi := integer(m.Lo), integer(m.Hi)
		out = append(out, fmt.Sprintf("CASE WHEN %[1]s BETWEEN %[2]s AND %[3]s THEN %[1]s WHEN %[1]s < %[2]s THEN %[2]s "+
			"WHEN %[1]s > %[3]s THEN %[3]s ELSE CAST(0 AS BIGINT) END AS m%[4]d", v, lo, hi, i))
	}
	return out
}

// cappedCells gives one row for each unit and cell that it keeps. Which rows and cells a unit keeps depends on that
// unit's own rows alone: they are ordered by a digest of what the question sees of them, and rows that it cannot tell
// apart contribute the same.
func cappedCells(b *plan.Bounded, scan string) string {
	keys := keyNames(b)
	var values, sums []string
	for i, m := range b.Measures {
		values = append(values, "v"+strconv.Itoa(i))
		sum := "sum"
		if m.Kind == plan.CountUnits {
			sum = "max" // once a cell, however many rows
		}
		sums = append(sums, fmt.Sprintf("%s(m%d) AS m%d", sum, i, i))
	}
	seen := append(append([]string{"u"}, keys...), values...)
	rows := capped(evaluated(b, scan), seen, b.Caps.Rows)
	contributed := "SELECT " + strings.Join(append(append([]string{"u"}, keys...), contributions(b)...), ", ") + " FROM (" + rows + ")"
	cell := append([]string{"u"}, keys...)
	cells := "SELECT " + strings.Join(append(cell, sums...), ", ") + " FROM (" + contributed + ")" +
		groupBy(append([]string{"u"}, keys...))
	return capped(cells, append([]string{"u"}, keys...), b.Caps.Groups)
}

// capped keeps at most n rows of each unit u, in the order of a digest of the named columns, then of the columns: a total
// order up to rows that are equal in all of them.
func capped(from string, names []string, n int64) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = "coalesce(CAST(" + name + " AS VARCHAR), '~')"
	}
	digest := "md5(concat_ws('|', " + strings.Join(parts, ", ") + "))"
	return fmt.Sprintf("SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY %s, %s) AS r FROM (%s)) WHERE r <= %d",
		digest, strings.Join(names, ", "), from, n)
}
