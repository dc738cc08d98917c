package postgres

import (
	"fmt"

	"dither/internal/bounded"
)

// owned restricts a copy to the rows that are in their unit's own parts: see [bounded.Part]. These are the first
// PerUnit parts of the unit, in the order of the least rank of its rows in each. A rank numbers the rows of one unit.
// The choice reads all rows of the unit and no others, before any other step. No two parts of a unit have the same
// least rank, because the copy's key makes the ranks of a unit's rows distinct. Rows without a part are left out.
//
// Questions about parts need a copy: its rows and ranks do not change, so a unit has the same own parts in every
// question about a sealed version. Charges to parts rely on this. In a table whose rows change, a person could move
// from one part to another between two questions. Then both questions would read that person's rows, and each would
// be charged to one part alone. So refuse excludes such tables.
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
		rankColumn, unit, partColumn, firstColumn, parts)
	places := fmt.Sprintf(
		"SELECT *, dense_rank() OVER (PARTITION BY %s ORDER BY %s) AS %s FROM (%s) AS p",
		unit, firstColumn, placeColumn, first)
	out := *in
	out.scan = fmt.Sprintf(
		"(SELECT %s FROM (%s) AS p WHERE %s <= %d) AS own",
		columns, places, placeColumn, b.Part.PerUnit)
	return &out
}

// Names of columns that owned adds to rows and removes again.
const (
	partColumn  = "__dither_part"
	firstColumn = "__dither_first"
	placeColumn = "__dither_place"
)
