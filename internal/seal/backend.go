package seal

import (
	"context"

	"dither/internal/csvtable"
	"dither/internal/policy"
	"dither/internal/value"
)

// MaxRows is the largest number of rows that a table may have.
const MaxRows = 1 << 32

// Backend writes and reads sealed files. A file to be written exists already, empty and with mode 0600. The backend
// replaces its content and keeps the mode. On an error the caller removes the file.
type Backend interface {
	// Write writes a file with t's declared columns, in their order. It calls the function next for each row, until
	// that returns io.EOF. It returns other errors of that function unchanged.
	Write(ctx context.Context, file string, t *policy.Table, next func(row []value.Value) error) error
	// Import writes such a file from the files of a typed source. It returns an error for values that contradict
	// the declaration, and reports the values that could not be read and became NULL. The function held sets the column
	// that holds units out, which no source has; it is nil if t has none.
	Import(ctx context.Context, file string, t *policy.Table, files []string, held Held) ([]csvtable.Invalid, error)
	// Inspect counts the contents of a sealed file.
	Inspect(ctx context.Context, file string, t *policy.Table) (Facts, error)
}

// Held reports whether a row's unit is held out. It gets the values of policy.Table.HoldoutColumns in a row, and depends on
// nothing else. Several goroutines may call it.
type Held func(deciding []value.Value) bool

// Facts are exact counts of a sealed file, for its owner.
type Facts struct {
	Rows           int64 `json:"rows"`
	Units          int64 `json:"units"`             // distinct units; Rows if each row is a unit; 0 for a public table
	MaxRowsPerUnit int64 `json:"max_rows_per_unit"` // the largest number of rows of one unit
	// units with more rows than rows_per_unit; their further rows do not count
	UnitsOver int64 `json:"units_over"`
	RowsOver  int64 `json:"rows_over"`  // these further rows
	NullUnits int64 `json:"null_units"` // rows whose unit is NULL, which questions ignore

	// The counts above describe the sealed rows. RowsLeftOut counts the source's rows beyond stored_rows_per_unit,
	// and UnitsLeftOut the units that have such rows.
	RowsLeftOut  int64 `json:"rows_left_out,omitempty"`
	UnitsLeftOut int64 `json:"units_left_out,omitempty"`
	// MaxRowsPerKey is the largest number of rows that refer to one row, for a table whose unit is found through a
	// reference. It is 0 in versions that did not count it.
	MaxRowsPerKey int64 `json:"max_rows_per_key,omitempty"`
	// SimilarUnits counts the units, of type text in a sealed file, that differ from another unit only in case, or in
	// blanks around them. They are probably misspelt.
	SimilarUnits int64         `json:"similar_units,omitempty"`
	Columns      []ColumnFacts `json:"columns"`
}

// ColumnFacts are exact counts of one column.
type ColumnFacts struct {
	Name    string `json:"name"`
	Nulls   int64  `json:"nulls"`
	Special int64  `json:"special"` // NaN and ±Inf: NULL in questions
	// outside the bounds (clamped in questions) or the declared values (NULL in questions)
	Outside int64 `json:"outside"`
	// Similar counts those outside the declared texts that differ from one only in case, or in blanks around them
	Similar int64 `json:"similar,omitempty"`
}

// Complete returns the names of the columns that have a value in every row when questions read them: never NULL,
// NaN or infinite.
func (f Facts) Complete() map[string]bool {
	out := map[string]bool{}
	for _, c := range f.Columns {
		out[c.Name] = c.Nulls == 0 && c.Special == 0
	}
	return out
}
