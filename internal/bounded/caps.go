package bounded

import (
	"math/big"
	"strconv"
	"strings"

	"dither/internal/exact"
)

// Caps bound what one unit may contribute to an answer. The engine enforces them in every question. 0 means no cap.
// Either Rows is set, or Groups and RowsPerGroup are. Beside Rows, Groups applies to CountUnits alone.
type Caps struct {
	// how many of a unit's remaining rows count: the first ones, in an order of that unit's own rows, by sealed rank if
	// they have one
	Rows         int64
	Groups       int64 // the most cells in which a unit counts
	RowsPerGroup int64 // what a unit adds to a cell is clamped to the most that this many rows can add
}

// MostRows is how many rows of one unit remain under the caps on ordered rows, in all cells together.
func (c Caps) MostRows() int64 {
	if c.Rows > 0 {
		return c.Rows
	}
	return c.Groups * c.RowsPerGroup
}

// String writes the caps for people.
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

// Cells clamps what one unit adds to one cell to [Lo, Hi], in grid units: contribution_bounds_per_group. The policy's
// max_rows_per_group still applies (Measure.CellBounds takes the narrower at each end).
type Cells struct{ Lo, Hi *big.Int }

// Within narrows the bounds to [lo, hi].
func (c *Cells) Within(lo, hi *big.Int) *Cells {
	return &Cells{exact.Larger(c.Lo, lo), exact.Smaller(c.Hi, hi)}
}
