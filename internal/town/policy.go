package town

import (
	_ "embed"
	"strconv"
	"strings"
)

// Format is the format of the town's source files.
type Format string

// Formats of the town's source files.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

// RowsPerUnit is the policy's limit on the visits that count for one person. The average is two visits, and one person
// in 20,000 has more than the limit. What the limit cuts is therefore small beside the noise, even in a town of a
// million people.
const RowsPerUnit = 30

// declared is the template of the policy, which [Town.Policy] fills in. Its bounds are common knowledge about such
// towns. Its numbers of rows follow from the size of the town, which is public.
//
//go:embed policy.yaml
var declared string

// Policy returns the text of the town's policy, for source files of the given format in the policy's folder.
func (t Town) Policy(f Format) string {
	return strings.NewReplacer(
		"FORMAT", string(f), "PEOPLE", strconv.FormatInt(t.people, 10), "VISITS", strconv.FormatInt(2*t.people, 10),
		"ROWS_PER_UNIT", strconv.Itoa(RowsPerUnit),
	).Replace(declared)
}
