package plan

import (
	"math"
	"math/big"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/sensitivity"
	"dither/internal/value"
	"dither/privacy"
)

// Measure is a measure of a statement with its share of the price, its sensitivity and its noise.
type Measure struct {
	bounded.Measure

	L1        *big.Int     // the L1 sensitivity over all cells, in grid units
	L2Squared *big.Int     // the square of the L2 sensitivity over all cells, in squared grid units
	Loss      privacy.Loss // the measure's share of the price
	Noise     Noise        // the kind of noise on each cell
	// the noise's parameter, in grid units: the scale L1/ε of Laplace noise, or the variance σ² = L2Squared/(2ρ) of
	// Gaussian noise
	Parameter *big.Rat
	Rounding  *big.Int // the largest error of a cell that rounding to the grid causes, in grid units
	Search    *Search  // the search that finds the bounds of X; nil if they are known
	Rows      int64    // the declared number of rows, if X has a value in each of them; else 0
	centred   bool
	text      string // the result of String, if it was written when the measure was made
}

// withoutNoise returns the measures as statements have them.
func withoutNoise(all []*Measure) []*bounded.Measure {
	out := make([]*bounded.Measure, len(all))
	for i, m := range all {
		out[i] = &m.Measure
	}
	return out
}

// setMeasures sets the plan's measures, with their noise and in the statement. Both lists have the same order.
func (p *Plan) setMeasures(all []*Measure) { p.Measures, p.Statement.Measures = all, withoutNoise(all) }

// MaxRows is the largest number of rows of a sealed table. With it, no sum of 62-bit integers overflows 128 bits.
const MaxRows = 1 << 32

const (
	// gridBits sets the grid of sums of reals: the largest contribution of a row is between 2^(gridBits-1) and
	// 2^gridBits grid units. For MaxRows rows, each rounded by at most half a unit, rounding stays below
	// 2^(31-gridBits+1) of the noise's scale at ε = 1. A centred average over a narrow range far from 0 has a
	// coarser grid (maxGridded). Its rounding is at most half a unit of the average.
	gridBits = 46
	// maxGridded bounds the bits of |X| in grid units, so that an engine's 64-bit integers can hold X after it is
	// doubled and centred.
	maxGridded = 60
	// finestGrid is the smallest exponent of a grid, so that 2^-Grid is a finite double.
	finestGrid = -1000
)

// countMeasure returns a measure that counts rows, values or units.
func countMeasure(kind bounded.Kind, x *bounded.Expr) *unpricedMeasure {
	return &unpricedMeasure{Measure: bounded.Measure{Kind: kind, X: x, Lo: 0, Hi: 1}, rounding: new(big.Int)}
}

// sumMeasure returns a measure that sums x. With centred, it sums x minus the middle of its range.
func sumMeasure(x *bounded.Expr, centred bool, at query.Pos) (*unpricedMeasure, error) {
	of, rounding := realSum, int64(1)<<31 // MaxRows rows, each rounded by at most half a unit
	if x.Type == value.Integer {
		of, rounding = integerSum, 0
	}
	m, err := of(x, centred, at)
	if err != nil {
		return nil, err
	}
	return &unpricedMeasure{Measure: *m, rounding: big.NewInt(rounding)}, nil
}

// integerSum returns an exact sum of integers. If the middle of the range is a half-integer, the grid unit is one
// half.
func integerSum(x *bounded.Expr, centred bool, at query.Pos) (*bounded.Measure, error) {
	lo, hi := x.Range.IntLo, x.Range.IntHi
	if max(bind.AbsInt(lo), bind.AbsInt(hi)) >= 1<<(maxGridded-1) {
		return nil, bind.BoundsNeeded(x, at)
	}
	m := &bounded.Measure{Kind: bounded.Sum, X: x, Lo: lo, Hi: hi}
	if !centred {
		return m, nil
	}
	if (lo+hi)%2 != 0 {
		m.Grid, lo, hi = -1, 2*lo, 2*hi
	}
	m.Centre = (lo + hi) / 2
	m.Lo, m.Hi = lo-m.Centre, hi-m.Centre
	return m, nil
}

// realSum returns a sum that rounds each row to a grid. The grid is so fine that rounding stays far below the
// noise.
func realSum(x *bounded.Expr, centred bool, at query.Pos) (*bounded.Measure, error) {
	return realSumOf(x, centred, gridBits, at)
}

// realSumOf is realSum for contributions of another number of bits.
func realSumOf(x *bounded.Expr, centred bool, bits int, at query.Pos) (*bounded.Measure, error) {
	lo, hi := x.Range.Lo, x.Range.Hi
	if bind.MaxAbs(x.Range) > math.Ldexp(1, 100) {
		return nil, bind.BoundsNeeded(x, at)
	}
	middle := 0.0
	if centred {
		middle = lo + (hi-lo)/2
	}
	reach := math.Max(math.Abs(lo-middle), math.Abs(hi-middle))
	m := &bounded.Measure{Kind: bounded.Sum, X: x}
	m.Grid = max(bind.ExponentAbove(reach)-bits, bind.ExponentAbove(bind.MaxAbs(x.Range))-maxGridded, finestGrid)
	// The grid unit is a power of two, so the divisions are exact, except for results below the smallest double,
	// which become 0.
	m.Centre = int64(math.RoundToEven(math.Ldexp(middle, -m.Grid)))
	m.Lo = int64(math.Floor(math.Ldexp(lo, -m.Grid))) - m.Centre
	m.Hi = int64(math.Ceil(math.Ldexp(hi, -m.Grid))) - m.Centre
	return m, nil
}

// moves sets the measure's sensitivities: how far one unit can move the measure's cells.
func (m *Measure) moves(by sensitivity.Bound) { m.L1, m.L2Squared = by.L1, by.L2Squared }

// String returns the measure's canonical text, without its share of the price.
func (m *Measure) String() string {
	if m.text != "" {
		return m.text
	}
	return measureText(&m.Measure, m.Search != nil, m.centred)
}

func measureText(m *bounded.Measure, searched, centred bool) string {
	text := m.String()
	if searched {
		text += " within found bounds"
		if centred { // the centre may be 0 for the widest bounds, and not for the bounds that are found
			text += ", centred"
		}
	}
	return text
}
