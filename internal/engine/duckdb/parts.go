package duckdb

import (
	"fmt"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// partColumn holds a row's part while a unit's own parts are determined.
const partColumn = "__dither_part"

// owned returns the rows of a scan that are in their unit's own parts (plan.Part): those of its first PerUnit parts, in
// the order of their rows' least sealed rank. That choice reads all of the unit's rows, and no others.
func owned(b *bounded.Statement, scan string, known engine.Sealed) string {
	if b.Part == nil || b.Unit == nil || known.OneRowEach {
		return scan
	}
	unit := identifier(b.Unit.Name)
	rows := fmt.Sprintf("(SELECT *, %s AS %s FROM %s)", clean(b.Columns[b.Part.Column]), partColumn, scan)
	parts := fmt.Sprintf(
		"(SELECT %[1]s, %[2]s, row_number() OVER (PARTITION BY %[1]s ORDER BY min(%[3]s)) AS r FROM %[4]s WHERE %[2]s IS NOT NULL GROUP BY %[1]s, %[2]s)",
		unit,
		partColumn,
		rankColumn,
		rows,
	)
	return fmt.Sprintf(
		"(SELECT * FROM %s SEMI JOIN (SELECT %[2]s, %[3]s FROM %[4]s WHERE r <= %[5]d) USING (%[2]s, %[3]s))",
		rows, unit, partColumn, parts, b.Part.PerUnit)
}
