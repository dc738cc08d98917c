package postgres

import (
	"fmt"

	"dither/internal/engine"
	"dither/internal/plan"
)

// cleanedCopy is cleaned over a copy, whose columns are read already, with each row's rank as q.
func cleanedCopy(b *plan.Bounded, in *rows) string {
	var columns []string
	for i, c := range b.Columns {
		columns = append(columns, fmt.Sprintf("%s AS c%d", clean(c, identifier(c.Name)), i))
	}
	if placed(b, in) {
		columns = append(columns, rankColumn+" AS q")
	}
	sql := "SELECT " + list(columns) + " FROM " + in.scan
	if in.where != "" {
		sql += " WHERE " + in.where
	}
	return sql + " OFFSET 0"
}

// cappedCopy is cappedRows over a copy. Where all rows are left, these are those of the lowest ranks, and the cap is a filter. Where not, it is
// needed only by units with more rows than the cap, which are few if the cap was well chosen.
func cappedCopy(b *plan.Bounded, in *rows) string {
	filtered := func(column, op string) string {
		some := *in
		some.where = fmt.Sprintf("%s %s %d", column, op, b.Caps.Rows)
		return evaluated(b, &some)
	}
	if engine.AllRowsAreLeft(b, in.complete) {
		return filtered(rankColumn, "<=")
	}
	columns := list(engine.KeyNames(b), names("v", len(b.Measures)), []string{"u", "q"})
	return fmt.Sprintf("SELECT %[1]s FROM (%[2]s) AS few UNION ALL SELECT %[1]s FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%[3]s) AS many) AS p WHERE r <= %[4]d",
		columns, filtered(rowsColumn, "<="), filtered(rowsColumn, ">"), b.Caps.Rows)
}
