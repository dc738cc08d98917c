package plan

import (
	"math"
	"math/big"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// Measure is a bounded measure with its share of the price, its sensitivity, and the noise that these give.
type Measure struct {
	bounded.Measure

	L1        *big.Int     // the sensitivity over all cells, in grid units
	L2Squared *big.Int     // the square of the L2 sensitivity
	Loss      privacy.Loss // its share of the price
	Noise     Noise        // on each cell
	// of the noise, in grid units: the scale L1/ε of Laplace, σ² = L2Squared/(2ρ) of Gaussian noise
	Parameter *big.Rat
	Rounding  *big.Int // rounding to the grid moves a cell by at most so many grid units
	Search    *Search  // which finds the bounds of X before they are added up; nil where they are known
	centred   bool
	text      string // String's, where it was written when the measure was made
}

// withoutNoise returns the measures as engines know them.
func withoutNoise(all []*Measure) []*bounded.Measure {
	out := make([]*bounded.Measure, len(all))
	for i, m := range all {
		out[i] = &m.Measure
	}
	return out
}

// setMeasures sets what the plan measures: with its noise, and for the engine. Both lists always have the same order.
func (p *Plan) setMeasures(all []*Measure) { p.Measures, p.Statement.Measures = all, withoutNoise(all) }

// MaxRows is the largest sealed table. With it, no sum of 62-bit integers overflows 128 bits.
const MaxRows = 1 << 32

const (
	// gridBits: a Real sum's largest contribution is between 2^(gridBits-1) and 2^gridBits grid units. With MaxRows rows
	// rounded by half a unit each, rounding stays below 2^(31-gridBits+1) of the noise's scale at ε = 1. A centred average over
	// a narrow range far from 0 has a coarser grid (maxGridded): its rounding is at most half a unit of the average.
	gridBits = 46
	// maxGridded bounds |X| in grid units, so that the engine's 64-bit integers hold it doubled and centred.
	maxGridded = 60
	// finestGrid keeps 2^-Grid a finite double.
	finestGrid = -1000
)

// countMeasure counts rows, values or units.
func countMeasure(kind bounded.Kind, x *bounded.Expr) *unpricedMeasure {
	return &unpricedMeasure{Measure: bounded.Measure{Kind: kind, X: x, Lo: 0, Hi: 1}, rounding: new(big.Int)}
}

// sumMeasure sums X, centred about the middle of its range on request.
func sumMeasure(x *bounded.Expr, centred bool, at query.Pos) (*unpricedMeasure, error) {
	of, rounding := realSum, int64(1)<<31 // MaxRows rows, half a unit each
	if x.Type == value.Integer {
		of, rounding = integerSum, 0
	}
	m, err := of(x, centred, at)
	if err != nil {
		return nil, err
	}
	return &unpricedMeasure{Measure: *m, rounding: big.NewInt(rounding)}, nil
}

// integerSum is exact. Where the middle of the range is a half, the grid is halves.
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

// realSum rounds each row to a grid so fine that rounding stays far below the noise.
func realSum(x *bounded.Expr, centred bool, at query.Pos) (*bounded.Measure, error) {
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
	m.Grid = max(bind.ExponentAbove(reach)-gridBits, bind.ExponentAbove(bind.MaxAbs(x.Range))-maxGridded, finestGrid)
	// The grid is a power of two: the divisions are exact but for results below the smallest double, which round to 0.
	m.Centre = int64(math.RoundToEven(math.Ldexp(middle, -m.Grid)))
	m.Lo = int64(math.Floor(math.Ldexp(lo, -m.Grid))) - m.Centre
	m.Hi = int64(math.Ceil(math.Ldexp(hi, -m.Grid))) - m.Centre
	return m, nil
}

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
