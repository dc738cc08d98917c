package duckdb

import (
	"fmt"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// partColumn is the column that holds a row's part while owned finds the parts in which each unit counts
// ([bounded.Part]).
const partColumn = "__dither_part"

// owned returns the rows of scan that are in their unit's own parts: see [bounded.Part]. These are the first PerUnit
// parts of the unit, in the order of the least rank of its rows in each. Sealing numbers the rows of each unit, and a
// rank is such a number. The choice depends on the unit's rows alone.
func owned(b *bounded.Statement, scan string, known engine.Sealed) string {
	if b.Part == nil || b.Unit == nil || known.OneRowEach {
		return scan
	}
	unit := identifier(b.Unit.Name)
	rows := fmt.Sprintf("(SELECT *, %s AS %s FROM %s)", clean(b.Columns[b.Part.Column]), partColumn, scan)
	parts := fmt.Sprintf(
		"(SELECT %[1]s, %[2]s, row_number() OVER (PARTITION BY %[1]s ORDER BY min(%[3]s)) AS r FROM %[4]s "+
			"WHERE %[2]s IS NOT NULL GROUP BY %[1]s, %[2]s)",
		unit,
		partColumn,
		rankColumn,
		rows,
	)
	return fmt.Sprintf(
		"(SELECT * FROM %s SEMI JOIN (SELECT %[2]s, %[3]s FROM %[4]s WHERE r <= %[5]d) USING (%[2]s, %[3]s))",
		rows, unit, partColumn, parts, b.Part.PerUnit)
}
