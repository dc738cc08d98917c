package derive

import (
	"math"
	"math/big"
	"slices"

	"dither/internal/plan"
	"dither/internal/value"
)

// quantile returns the estimate of a quantile from its three released numbers (see plan.Quantile). The first is the
// value, after sorting with the other quantiles of the same expression. The others are the ends of the interval, which is
// widened if necessary to contain the value. The interval
// covers PERCENTILE_CONT or PERCENTILE_DISC of the bounded rows of the cell, if there are any. Its confidence is fixed
// by the plan. If alpha is smaller, the interval is the declared bounds. If rows are rounded to a grid, the quantile is
// off by at most half a grid unit, because rounding keeps the order.
func (c *cell) quantile(q *plan.Quantile, alpha float64) Estimate {
	at := c.answer.plan.QuantileAt(q)
	v, low, high := c.inOrder(q), c.sums[at+1], c.sums[at+2]
	if low.Cmp(v) > 0 {
		low = v
	}
	if high.Cmp(v) < 0 {
		high = v
	}
	m := q.Value
	if alpha < plan.BracketAlpha {
		low, high = big.NewInt(m.Lo), big.NewInt(m.Hi)
	}
	if !m.Rounds() {
		return whole(v, low, high)
	}
	half := new(big.Rat).Quo(m.Unit(), big.NewRat(2, 1))
	bounds := Interval{m.X.Range.Lo, m.X.Range.Hi}
	e := Estimate{
		StdDev:   math.NaN(),
		Interval: around(new(big.Rat).Sub(m.Units(low), half), new(big.Rat).Add(m.Units(high), half)).within(bounds),
	}
	x, _ := m.Units(v).Float64()
	e.Value = math.Min(math.Max(x, bounds.Low), bounds.High)
	return e
}

// inOrder returns the value of q after sorting the draws of all quantiles of the same expression. Independent draws
// may be out of order. Sorting keeps their common bound on ranks: quantile.Independent.RankError has the proof.
func (c *cell) inOrder(q *plan.Quantile) *big.Int {
	of := c.answer.plan.Siblings(q)
	values := make([]*big.Int, len(of))
	for i, o := range of {
		values[i] = c.sums[c.answer.plan.QuantileAt(o)]
	}
	slices.SortFunc(values, (*big.Int).Cmp)
	return values[slices.Index(of, q)]
}

// whole returns the estimate of an integer whose interval has integer ends.
func whole(v, low, high *big.Int) Estimate {
	return Estimate{
		Value: toFloat(v), Whole: v, WholeLow: low, WholeHigh: high, StdDev: math.NaN(),
		Interval: around(new(big.Rat).SetInt(low), new(big.Rat).SetInt(high)),
	}
}

// chosen returns the estimate of a mode. If the mode is an integer, its interval, for expressions over it, contains
// all values from which it was chosen.
func (c *cell) chosen(m *plan.Mode) Estimate {
	v, least, most := c.choice(m), m.Of.Values[0], m.Of.Values[len(m.Of.Values)-1]
	e := Estimate{StdDev: math.NaN(), Interval: everything}
	if v.Type == value.Integer {
		e = whole(big.NewInt(v.Int), big.NewInt(least.Int), big.NewInt(most.Int))
	}
	e.Choice = &v
	return e
}

// choice returns the value that a mode's released index stands for. A release is checked against its plan when it
// is read, so the index is valid.
func (c *cell) choice(m *plan.Mode) value.Value {
	i := c.sums[c.answer.plan.ModeAt(m)]
	if !i.IsInt64() || i.Int64() < 0 || i.Int64() >= int64(len(m.Of.Values)) {
		return value.NullOf(m.Of.Expr.Type)
	}
	return m.Of.Values[i.Int64()]
}

// picked returns the value of an aggregate that is not a number, for conditions and sorting: a date, or the value
// of a mode. It returns false for any other expression.
func (c *cell) picked(p *plan.Post) (value.Value, bool) {
	if p.Op != plan.PostAggregate {
		return value.Value{}, false
	}
	switch a := c.answer.plan.Aggregates[p.Index]; {
	case a.Mode != nil:
		return c.choice(a.Mode), true
	case a.Quantile != nil && p.Type.Whole() && p.Type != value.Integer:
		return value.Value{Type: p.Type, Int: c.inOrder(a.Quantile).Int64()}, true
	}
	return value.Value{}, false
}

// Ordered returns the quantile or the mode whose released value is the output. Both are nil for any other output.
func (a *Answer) Ordered(o plan.Output) (*plan.Quantile, *plan.Mode) {
	if o.Post == nil || o.Post.Op != plan.PostAggregate {
		return nil, nil
	}
	agg := a.plan.Aggregates[o.Post.Index]
	return agg.Quantile, agg.Mode
}
