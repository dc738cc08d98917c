package seal

import (
	"context"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/value"
)

// MaxRows is the largest table.
const MaxRows = 1 << 32

// Backend writes and reads the sealed files. A file that it is given to write exists already, empty and 0600; it is
// replaced by content of the same mode, or left to the caller to remove on an error.
type Backend interface {
	// Write makes a file of t's declared columns, in their order, from the rows that next fills in, in theirs, until
	// next returns io.EOF. It returns next's other errors as they are.
	Write(ctx context.Context, file string, t *policy.Table, next func(row []value.Value) error) error
	// Import makes the same from a typed source, which is these files, and refuses what contradicts the declaration. It
	// reports the values that could not be read and became NULL.
	Import(ctx context.Context, file string, t *policy.Table, files []string) ([]csvtable.Invalid, error)
	// Inspect counts what a sealed file holds.
	Inspect(ctx context.Context, file string, t *policy.Table) (Facts, error)
}

// Facts are exact counts of a sealed file, for its owner.
type Facts struct {
	Rows           int64 `json:"rows"`
	Units          int64 `json:"units"`             // distinct units; Rows where the row is the unit, 0 if public
	MaxRowsPerUnit int64 `json:"max_rows_per_unit"` // the most rows of one unit
	UnitsOver      int64 `json:"units_over"`        // units with more rows than rows_per_unit: the others don't count
	RowsOver       int64 `json:"rows_over"`         // those other rows
	NullUnits      int64 `json:"null_units"`        // rows whose unit is NULL: in questions they do not exist

	// The counts above are of what is sealed. Of the source, so many rows were left out, of so many units: those beyond
	// stored_rows_per_unit.
	RowsLeftOut  int64 `json:"rows_left_out,omitempty"`
	UnitsLeftOut int64 `json:"units_left_out,omitempty"`
	// MaxRowsPerKey is the most rows that refer to one row, where the table has its unit through a reference; 0 in
	// versions that did not count them.
	MaxRowsPerKey int64         `json:"max_rows_per_key,omitempty"`
	Columns       []ColumnFacts `json:"columns"`
}

// ColumnFacts are exact counts of one column.
type ColumnFacts struct {
	Name    string `json:"name"`
	Nulls   int64  `json:"nulls"`
	Special int64  `json:"special"` // NaN and ±Inf: NULL in questions
	// outside the bounds (clamped in questions) or the declared values (NULL in questions)
	Outside int64 `json:"outside"`
}

// Complete are the columns in which every row has a value, as questions read them: none is NULL, NaN or infinite.
func (f Facts) Complete() map[string]bool {
	out := map[string]bool{}
	for _, c := range f.Columns {
		out[c.Name] = c.Nulls == 0 && c.Special == 0
	}
	return out
}
