package postgres

import (
	"fmt"

	"dither/internal/bounded"
)

// owned returns the rows of a copy that are in their unit's own parts (plan.Part): those of its first PerUnit parts, in
// the order of their rows' least rank. That choice reads all of the unit's rows, and no others, before anything else is
// decided. No two parts have the same least rank, since the ranks of a unit's rows differ (the copy's key). Rows
// without a part are left out.
//
// It applies to copies alone, whose rows and ranks do not change. So a unit's own parts are the same in every question
// about a sealed version, on which charges to parts depend. In a table whose rows change they would not be, even if
// they were chosen by content: a person who moves from one part to another between two questions would lose what both
// parts were charged (refuse).
func owned(b *bounded.Statement, in *rows) *rows {
	if b.Part == nil || b.Unit == nil {
		return in
	}
	c := b.Columns[b.Part.Column]
	unit, columns := identifier(b.Unit.Name), list(columnNames(b), []string{rankColumn, rowsColumn})
	parts := fmt.Sprintf("SELECT %s, %s AS %s FROM %s OFFSET 0",
		columns, clean(c, identifier(c.Name)), partColumn, in.scan)
	first := fmt.Sprintf(
		"SELECT *, min(%s) OVER (PARTITION BY %s, %s) AS %s FROM (%s) AS p WHERE %[3]s IS NOT NULL",
		rankColumn,
		unit,
		partColumn,
		firstColumn,
		parts,
	)
	places := fmt.Sprintf(
		"SELECT *, dense_rank() OVER (PARTITION BY %s ORDER BY %s) AS %s FROM (%s) AS p",
		unit,
		firstColumn,
		placeColumn,
		first,
	)
	out := *in
	out.scan = fmt.Sprintf(
		"(SELECT %s FROM (%s) AS p WHERE %s <= %d) AS own",
		columns,
		places,
		placeColumn,
		b.Part.PerUnit,
	)
	return &out
}

// Names of the columns that a row gets while a unit's own parts are determined.
const (
	partColumn  = "__dither_part"
	firstColumn = "__dither_first"
	placeColumn = "__dither_place"
)
