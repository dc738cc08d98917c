package postgres

import (
	"fmt"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// cappedCopy is cappedRows over a copy. If no row can be dropped, the first rows are those with the lowest ranks, the
// numbers of a unit's rows in the copy, and the cap is a filter. Otherwise only units with more rows than the cap need
// a window, and a well-chosen cap leaves few such units. The recorded facts select the form of the statement. They
// depend on the rows of all units, but the kept rows of one unit do not: [engine.Sealed] has the proof.
func cappedCopy(b *bounded.Statement, in *rows) string {
	filtered := func(column, op string) string {
		some := *in
		some.where = fmt.Sprintf("%s %s %d", column, op, b.Caps.Rows)
		some.inOrder = op == ">"
		return evaluated(b, &some)
	}
	if engine.AllRowsAreLeft(b, in.complete) {
		return filtered(rankColumn, "<=")
	}
	columns := list(engine.KeyNames(b), names("v", len(b.Measures)), []string{"u", "q"})
	return fmt.Sprintf(
		"SELECT %[1]s FROM (%[2]s) AS few UNION ALL SELECT %[1]s FROM (SELECT *, "+
			"row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%[3]s) AS many) AS p WHERE r <= %[4]d",
		columns, filtered(rowsColumn, "<="), filtered(rowsColumn, ">"), b.Caps.Rows)
}

// ordered returns an ORDER BY clause that reads a copy in the order of its key, (unit, rank), if rows will be
// sorted by their unit. The server then sorts the rows of one unit at a time, in little memory and without a file.
// Each stage repeats the clause with its own name of the unit, because a fence hides the order from the next stage.
func ordered(b *bounded.Statement, in *rows, unit string) string {
	switch {
	case !in.copied || b.Unit == nil || b.Caps.Groups == 0 && !in.inOrder:
		return ""
	case placed(b, in):
		return " ORDER BY " + unit + ", q"
	}
	return " ORDER BY " + unit
}
