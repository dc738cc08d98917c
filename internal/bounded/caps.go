package bounded

import (
	"math/big"
	"strconv"
	"strings"

	"dither/internal/exact"
)

// Caps bound what one unit may contribute to an answer, and are enforced by the engine in every question. Each is there or
// not (0); either Rows is, or Groups and RowsPerGroup are. Beside Rows, Groups is there for CountUnits alone.
type Caps struct {
	Rows         int64 // of a unit's rows that are left, the first so many count, in an order of that unit's own rows: their sealed rank, if they have one
	Groups       int64 // a unit counts in at most so many cells
	RowsPerGroup int64 // what a unit adds to a cell is clamped to as much as so many rows can add
}

// MostRows is how many rows of one unit are left under the caps of rows in order, in all cells together.
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

// Cells says that what one unit adds to one cell is clamped to [Lo, Hi], in grid units: contribution_bounds_per_group. Beside it the
// policy's max_rows_per_group holds as ever (Measure.CellBounds takes the narrower at each end).
type Cells struct{ Lo, Hi *big.Int }

// Within are the bounds that hold between lo and hi, too.
func (c *Cells) Within(lo, hi *big.Int) *Cells {
	return &Cells{exact.Larger(c.Lo, lo), exact.Smaller(c.Hi, hi)}
}
