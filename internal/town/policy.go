package town

import (
	_ "embed"
	"strconv"
	"strings"
)

// Format is how the town's files are written.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

// RowsPerUnit is how many visits of a person the policy lets count. Some people have more. On average it is 5/2.
const RowsPerUnit = 20

// declared is the policy, with gaps. Its bounds are common knowledge about such towns. Its sizes follow from the town's
// size, which was chosen publicly.
//
//go:embed policy.yaml
var declared string

// Policy is the text of the town's policy: its two tables, in files of the format beside it.
func (t Town) Policy(f Format) string {
	return strings.NewReplacer(
		"FORMAT", string(f), "PEOPLE", strconv.FormatInt(t.people, 10), "VISITS", strconv.FormatInt(5*t.people/2, 10),
		"ROWS_PER_UNIT", strconv.Itoa(RowsPerUnit),
	).Replace(declared)
}
