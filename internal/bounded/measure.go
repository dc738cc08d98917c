package bounded

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"dither/internal/exact"
	"dither/internal/value"
)

// Kind is the quantity that a measure sums or counts.
type Kind string

// The kinds of measure.
const (
	CountRows  Kind = "rows"   // counts rows
	CountValue Kind = "values" // counts rows whose X is not NULL
	CountUnits Kind = "units"  // counts units with at least one row
	// CountUnitsWith counts units with at least one row in which X is not NULL. A unit counts in its first Caps.Groups
	// cells (groups) at most. X does not affect which cells these are.
	CountUnitsWith Kind = "units with"
	Sum            Kind = "sum" // sums X over the rows in which it is not NULL
	// CountDistinct counts the distinct values of X, without NULL. Units may share a value, so the count is not a
	// sum of contributions by unit. The proof of its sensitivity is at countDistinct in package plan.
	CountDistinct Kind = "distinct"
	// SumDistinct sums the distinct values of X, an integer, after clamping to [Lo, Hi]. It needs a cap on rows, like
	// CountDistinct. The proof is at Bound.WithFew in package sensitivity.
	SumDistinct Kind = "distinct sum"
	// Spread is Size·Σd² − (Σd)² for the contributions d to a sum of X. If there are as many contributions as Size
	// says, it is the sum of the squared differences of all pairs of them. A missing one counts as 0. It is computed over
	// one cell (group), to which each unit makes one contribution. The proof of its sensitivity is at spread in package
	// sensitivity.
	Spread Kind = "spread"
	// UnitRows is no sum: it is each unit's number of rows, read in increasing order. The search for a row cap uses
	// it (RowSearch in package plan).
	UnitRows Kind = "rows of units"
)

// Measure is a count or a sum in which one unit's contribution is bounded, evaluated in every cell (group). The result
// is a vector of integers, in units of 2^Grid.
//
// Each row contributes an integer that is a pure function of that row. It is 1 for a count, and clamp(rint(X /
// 2^Grid) − Centre, Lo, Hi) for a sum. All other arithmetic is of integers, so neither the order of rows nor
// floating-point rounding can change what one unit contributes. The sensitivity is computed from these integers.
type Measure struct {
	Kind   Kind
	X      *Expr  // for all kinds but CountRows, CountUnits and UnitRows
	Grid   int    // values are counted in grid units of 2^Grid
	Centre int64  // subtracted from each row's value, in grid units
	Lo, Hi int64  // bounds of one row's contribution after subtracting Centre, in grid units
	Cells  *Cells // bounds on what one unit adds to one cell; if nil, the most that Caps.RowsPerGroup rows can add
	Values int64  // for CountDistinct: the most distinct values that X can have; 0 if unknown
	Size   int64  // for Spread: the declared number of units
}

// String returns the measure's canonical text.
func (m *Measure) String() string {
	b := append(make([]byte, 0, 128), m.Kind...)
	if m.X != nil {
		b = m.X.append(append(b, ' '))
	}
	number := func(before string, n int64) { b = strconv.AppendInt(append(b, before...), n, 10) }
	number(" grid=", int64(m.Grid))
	number(" centre=", m.Centre)
	number(" clamp=[", m.Lo)
	number(",", m.Hi)
	b = append(b, ']')
	if m.Cells != nil {
		b = fmt.Appendf(b, " cells=[%s,%s]", m.Cells.Lo, m.Cells.Hi)
	}
	if m.Kind == Spread {
		number(" size=", m.Size)
	}
	return string(b)
}

// Name returns "sum", "spread" or "count", for people.
func (m *Measure) Name() string {
	switch m.Kind {
	case Sum, SumDistinct:
		return "sum"
	case Spread:
		return "spread"
	}
	return "count"
}

// Sums reports whether rows contribute values of X on the grid, and not ones.
func (m *Measure) Sums() bool { return m.Kind == Sum || m.Kind == Spread }

// Rounds reports whether each row's value is rounded to the grid. Only reals are.
func (m *Measure) Rounds() bool { return m.Sums() && m.X.Type == value.Real }

// Additive reports whether the measure of a union of disjoint groups is the sum of the groups' measures. Counts of
// units and of distinct values are not additive, because a unit or a value may occur in several groups. A spread is not
// linear.
func (m *Measure) Additive() bool { return !m.OfUnits() && !m.Distinct() && m.Kind != Spread }

// Distinct reports whether each distinct value counts once in a cell (group), however many rows have it.
func (m *Measure) Distinct() bool { return m.Kind == CountDistinct || m.Kind == SumDistinct }

// OfUnits reports whether the measure counts units, so that a unit counts once in a cell (group), however many rows it
// has there.
func (m *Measure) OfUnits() bool { return m.Kind == CountUnits || m.Kind == CountUnitsWith }

// CellBounds returns the least and the most that one unit adds to one cell (group), in grid units. They are the amounts
// that c.RowsPerGroup rows can add, narrowed to m.Cells if it is set.
func (m *Measure) CellBounds(c Caps) (lo, hi *big.Int) {
	g := big.NewInt(c.RowsPerGroup)
	if m.OfUnits() {
		g.SetInt64(1)
	}
	lo, hi = new(big.Int).Mul(g, big.NewInt(min(m.Lo, 0))), new(big.Int).Mul(g, big.NewInt(max(m.Hi, 0)))
	if m.Cells != nil { // the planner made m.Cells overlap lo and hi: clampCells in package plan
		lo, hi = exact.Larger(lo, m.Cells.Lo), exact.Smaller(hi, m.Cells.Hi)
	}
	return lo, hi
}

// Units converts n, a measured number, to the unit of X, or to its square for a spread.
func (m *Measure) Units(n *big.Int) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt(n), m.Unit())
}

// RowUnits converts n, a row's value on the grid, to the unit of X.
func (m *Measure) RowUnits(n int64) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt64(n), GridUnit(m.Grid))
}

// Scale returns the exponent of the unit of measured numbers: Grid, or twice as much for a spread.
func (m *Measure) Scale() int {
	if m.Kind == Spread {
		return 2 * m.Grid
	}
	return m.Grid
}

// Unit returns the unit of measured numbers, 2^Scale.
func (m *Measure) Unit() *big.Rat { return GridUnit(m.Scale()) }

// GridUnit returns 2^grid.
func GridUnit(grid int) *big.Rat {
	one := big.NewInt(1)
	if grid < 0 {
		return new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, uint(-grid)))
	}
	return new(big.Rat).SetInt(new(big.Int).Lsh(one, uint(grid)))
}

// Reach returns the largest absolute value that a row can add, in the unit of X.
func (m *Measure) Reach() *big.Rat {
	most := m.Hi
	if m.Lo == math.MinInt64 || -m.Lo > most {
		most = -m.Lo
	}
	return m.Units(big.NewInt(most))
}
