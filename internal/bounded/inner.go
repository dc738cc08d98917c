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

	InnerPlaced  InnerFunc = "placed"  // the value at a place of the values in order
	InnerBetween InnerFunc = "between" // a point between the values at two places next to each other
)

// Inner is one aggregate over the rows of one unit. It is exact, and depends on that unit's rows alone.
//
// Counts, and sums of integers, are clamped to [Lo, Hi]: the range for as many rows as the policy's rows_per_unit
// allows. Sums of reals, and averages, are computed in units of 2^Grid. Each row's value is rounded to an integer
// number of units, so the order of the rows has no effect. A sum is clamped to [Lo, Hi]. An average of n values x
// is Lo plus the integer nearest to Σ(x − Lo)/n, with ties rounded up. The result is this integer times 2^Grid,
// which a double holds exactly.
//
// InnerPlaced is the value at place ⌊(n·Num + Offset) / Den⌋ of the n values in ascending order, counted from 0. For
// n ≥ 1, this place is at least 0 and below n. InnerBetween interpolates reals. Let r be the remainder of (n − 1)·Num
// by Den. The value a is at place ⌊(n − 1)·Num / Den⌋, and b is at ⌈(n − 1)·Num / Den⌉. The result is the lesser of b
// and a + (b − a)·(r/Den), where each operation rounds to a double. Equal values are interchangeable: −0 equals 0,
// and no expression distinguishes them. So the result is a function of the values alone, and lies between the least and
// the greatest of them.
type Inner struct {
	Func   InnerFunc
	X      *Expr // nil for InnerRows
	Grid   int
	Lo, Hi int64
	Type   value.Type

	Num, Den, Offset int64 // for InnerPlaced; without Offset for InnerBetween. 0 ≤ Num ≤ Den ≤ 10⁴
}

// Ordered reports whether a depends on the order of the values.
func (a Inner) Ordered() bool { return a.Func == InnerPlaced || a.Func == InnerBetween }

// Places returns the offsets of the two places between which an InnerBetween interpolates.
//
// Claim: ⌊(n·Num − Num)/Den⌋ and ⌊(n·Num + Den − 1 − Num)/Den⌋ are the floor and the ceiling of (n − 1)·Num / Den. For
// the ceiling: for integers, ⌈x/d⌉ = ⌊(x + d − 1)/d⌋. ∎
func (a Inner) Places() (lower, upper int64) { return -a.Num, a.Den - 1 - a.Num }

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
	if a.Ordered() {
		return fmt.Sprintf("[%s%s at=%d/%d offset=%d]", a.Func, x, a.Num, a.Den, a.Offset)
	}
	return fmt.Sprintf("[%s%s grid=%d clamp=[%d,%d]]", a.Func, x, a.Grid, a.Lo, a.Hi)
}
