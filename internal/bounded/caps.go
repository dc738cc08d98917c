package bounded

import (
	"math/big"
	"strconv"
	"strings"

	"dither/internal/exact"
)

// Caps bounds how much one unit may contribute to an answer. The engine enforces the caps in every question. A
// field is 0 if it sets no cap. A capped statement sets either Rows, or both Groups and RowsPerGroup. If Groups is
// set beside Rows, it applies to measures of kind CountUnits only.
type Caps struct {
	// Rows is how many of a unit's rows count, after WHERE. The first rows in an order of that unit's own rows are
	// kept. If sealing numbered the unit's rows, this is the order of these numbers (ranks).
	Rows         int64
	Groups       int64 // the most cells (groups) in which a unit counts
	RowsPerGroup int64 // a unit's sum in a cell is clamped to the most that this many rows can add
}

// MostRows returns the most rows of one unit that count in an ordered statement ([Statement.Ordered]), in all cells
// (groups) together.
func (c Caps) MostRows() int64 {
	if c.Rows > 0 {
		return c.Rows
	}
	return c.Groups * c.RowsPerGroup
}

// String describes the caps for people, for example "3 groups, 2 rows worth in each".
func (c Caps) String() string {
	var parts []string
	add := func(n int64, what, more string) {
		if n > 1 {
			what += "s"
		}
		if n > 0 {
			parts = append(parts, strconv.FormatInt(n, 10)+" "+what+more)
		}
	}
	add(c.Rows, "row", "")
	add(c.Groups, "group", "")
	add(c.RowsPerGroup, "row", " worth in each")
	return strings.Join(parts, ", ")
}

// Cells is the policy's contribution_bounds_per_group: what one unit adds to one cell (group) is clamped to [Lo, Hi],
// in grid units. The policy's max_rows_per_group still applies. [Measure.CellBounds] takes the narrower bound at each
// end.
type Cells struct{ Lo, Hi *big.Int }

// Within returns the intersection of c and [lo, hi].
func (c *Cells) Within(lo, hi *big.Int) *Cells {
	return &Cells{exact.Larger(c.Lo, lo), exact.Smaller(c.Hi, hi)}
}
