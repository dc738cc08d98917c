package bounded

import (
	"fmt"

	"dither/internal/value"
)

// InnerFunc is an aggregate function over the rows of one unit.
type InnerFunc string

// The aggregate functions over one unit's rows. InnerRows counts rows. All others skip NULLs; over no values, a
// count is 0 and any other result is NULL.
const (
	InnerRows     InnerFunc = "rows"
	InnerCount    InnerFunc = "count"
	InnerDistinct InnerFunc = "distinct"
	InnerSum      InnerFunc = "sum"
	InnerAverage  InnerFunc = "avg"
	InnerMin      InnerFunc = "min"
	InnerMax      InnerFunc = "max"
	InnerAny      InnerFunc = "any" // true if some value is true
	InnerAll      InnerFunc = "all"
)

// Inner is one aggregate over the rows of one unit. It is exact, and depends on that unit's rows alone.
//
// Counts, and sums of integers, are clamped to [Lo, Hi]: the range for as many rows as the policy's rows_per_unit
// allows. Sums of reals, and averages, are computed in units of 2^Grid. Each row's value is rounded to an integer
// number of units, so the order of the rows has no effect. A sum is clamped to [Lo, Hi]. An average of n values x
// is Lo plus the integer nearest to Σ(x − Lo)/n, with ties rounded up. The result is this integer times 2^Grid,
// which a double holds exactly.
type Inner struct {
	Func   InnerFunc
	X      *Expr // nil for InnerRows
	Grid   int
	Lo, Hi int64
	Type   value.Type
}

// Gridded reports whether a rounds each row's value to a multiple of 2^Grid.
func (a Inner) Gridded() bool {
	return a.Func == InnerAverage || a.Func == InnerSum && a.X.Type == value.Real
}

// String returns the aggregate's canonical text.
func (a Inner) String() string {
	x := ""
	if a.X != nil {
		x = " " + a.X.String()
	}
	return fmt.Sprintf("[%s%s grid=%d clamp=[%d,%d]]", a.Func, x, a.Grid, a.Lo, a.Hi)
}
