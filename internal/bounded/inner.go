package bounded

import (
	"fmt"

	"dither/internal/value"
)

// InnerFunc is an aggregate over one unit's own rows.
type InnerFunc string

// The aggregates inside a unit. They skip NULLs. Without any value, counts are 0 and the others NULL.
const (
	InnerRows     InnerFunc = "rows"
	InnerCount    InnerFunc = "count"
	InnerDistinct InnerFunc = "distinct"
	InnerSum      InnerFunc = "sum"
	InnerAverage  InnerFunc = "avg"
	InnerMin      InnerFunc = "min"
	InnerMax      InnerFunc = "max"
	InnerAny      InnerFunc = "any" // some value is true
	InnerAll      InnerFunc = "all"
)

// Inner is one aggregate over one unit's own rows: exact, and a pure function of them.
//
// Counts, and sums of integers, are clamped to [Lo, Hi], the range for rows_per_unit rows. Sums of reals, and averages,
// are in units of 2^Grid: each row's value is rounded to an integer number of units, so that the order of rows has no
// effect. A sum is clamped to [Lo, Hi]. An average is Lo + the integer nearest to Σ(x − Lo)/n, with ties upward. The
// result is that number times 2^Grid, which a double holds exactly.
type Inner struct {
	Func   InnerFunc
	X      *Expr // nil for InnerRows
	Grid   int
	Lo, Hi int64
	Type   value.Type
}

// Gridded reports whether rows are rounded to the grid.
func (a Inner) Gridded() bool {
	return a.Func == InnerAverage || a.Func == InnerSum && a.X.Type == value.Real
}

// String is the aggregate's canonical text.
func (a Inner) String() string {
	x := ""
	if a.X != nil {
		x = " " + a.X.String()
	}
	return fmt.Sprintf("[%s%s grid=%d clamp=[%d,%d]]", a.Func, x, a.Grid, a.Lo, a.Hi)
}
