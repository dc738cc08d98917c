package bounded

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"dither/internal/exact"
	"dither/internal/value"
)

// Kind is the quantity that a measure adds up.
type Kind string

// The kinds of measure.
const (
	CountRows  Kind = "rows"   // rows
	CountValue Kind = "values" // rows whose X is not NULL
	CountUnits Kind = "units"  // units with at least one row
	Sum        Kind = "sum"    // X, over the rows in which it is not NULL
	// CountDistinct counts the distinct values of X, over the rows in which it is not NULL. It is not a sum of rows'
	// contributions: see the proof at countDistinct.
	CountDistinct Kind = "distinct"
	// UnitRows is not a sum: it asks, in order, how many rows each unit has (RowSearch).
	UnitRows Kind = "rows of units"
)

// Measure is one bounded linear query on every cell at once: a vector of integer sums in units of 2^Grid.
//
// Each row contributes an integer that is a pure function of that row alone: clamp(rint(X / 2^Grid) − Centre, Lo,
// Hi), and 1 for a count. Everything above a row is integer addition, so neither the order of rows nor a float can
// change what one unit contributes. The sensitivity is computed from these integers.
type Measure struct {
	Kind   Kind
	X      *Expr  // CountValue, CountDistinct, Sum
	Grid   int    // the grid's unit is 2^Grid
	Centre int64  // in grid units; subtracted from each row's value
	Lo, Hi int64  // in grid units, after centring: the bounds of one row's contribution
	Cells  *Cells // bounds on what one unit adds to one cell; nil for those of RowsPerGroup rows
	Values int64  // CountDistinct: the most values that X has; 0 if unknown
}

// String is the measure's canonical text.
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
	return string(b)
}

// Name is the measured quantity, in a word.
func (m *Measure) Name() string {
	if m.Kind == Sum {
		return "sum"
	}
	return "count"
}

// Rounds reports whether rows are rounded to the grid: X is Real.
func (m *Measure) Rounds() bool { return m.Kind == Sum && m.X.Type == value.Real }

// Additive reports whether the measure of a group is the sum of those of its parts. Distinct counts are not additive,
// because a value may occur in several parts.
func (m *Measure) Additive() bool { return m.Kind != CountUnits && m.Kind != CountDistinct }

// CellBounds are the least and the most that one unit adds to a cell under RowsPerGroup: the amount of that many rows,
// but no more than the measure's own Cells allow.
func (m *Measure) CellBounds(c Caps) (lo, hi *big.Int) {
	g := big.NewInt(c.RowsPerGroup)
	if m.Kind == CountUnits {
		g.SetInt64(1)
	}
	lo, hi = new(big.Int).Mul(g, big.NewInt(min(m.Lo, 0))), new(big.Int).Mul(g, big.NewInt(max(m.Hi, 0)))
	if m.Cells != nil { // they overlap with these (clampCells)
		lo, hi = exact.Larger(lo, m.Cells.Lo), exact.Smaller(hi, m.Cells.Hi)
	}
	return lo, hi
}

// Units converts a number of grid units to the measure's own unit.
func (m *Measure) Units(n *big.Int) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt(n), m.Unit())
}

// Unit is the grid's unit, 2^Grid.
func (m *Measure) Unit() *big.Rat { return GridUnit(m.Grid) }

// GridUnit is 2^grid.
func GridUnit(grid int) *big.Rat {
	one := big.NewInt(1)
	if grid < 0 {
		return new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, uint(-grid)))
	}
	return new(big.Rat).SetInt(new(big.Int).Lsh(one, uint(grid)))
}

// Reach is the largest absolute value that a row adds, in the measure's own unit.
func (m *Measure) Reach() *big.Rat {
	most := m.Hi
	if m.Lo == math.MinInt64 || -m.Lo > most {
		most = -m.Lo
	}
	return m.Units(big.NewInt(most))
}
