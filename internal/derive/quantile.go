package derive

import (
	"math"
	"math/big"
	"slices"

	"dither/internal/plan"
	"dither/internal/value"
)

// quantile is a quantile's estimate: what was drawn at its rank, and the interval between the two draws that bracket it (see
// plan.Quantile), within the bounds. The interval is about what PERCENTILE_CONT or PERCENTILE_DISC is of the bounded rows of the cell, and
// holds where there are any. Its level is fixed, so that with a smaller alpha it is the bounds. Rows that are rounded to a grid have quantiles that are
// at most half a unit off, since rounding keeps their order.
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
	e := Estimate{StdDev: math.NaN(), Interval: around(new(big.Rat).Sub(m.Units(low), half), new(big.Rat).Add(m.Units(high), half)).within(bounds)}
	x, _ := m.Units(v).Float64()
	e.Value = math.Min(math.Max(x, bounds.Low), bounds.High)
	return e
}

// inOrder is the value of q where all quantiles of the same value are put in the order of their ranks: what is drawn of each by itself may
// cross. It keeps the bound of ranks that they have in common (quantile.Independent.RankError, where it is proved; plan.RankError).
func (c *cell) inOrder(q *plan.Quantile) *big.Int {
	of := c.answer.plan.Siblings(q)
	values := make([]*big.Int, len(of))
	for i, o := range of {
		values[i] = c.sums[c.answer.plan.QuantileAt(o)]
	}
	slices.SortFunc(values, (*big.Int).Cmp)
	return values[slices.Index(of, q)]
}

// whole is an integer with an interval of integers.
func whole(v, low, high *big.Int) Estimate {
	return Estimate{
		Value: toFloat(v), Whole: v, WholeLow: low, WholeHigh: high, StdDev: math.NaN(),
		Interval: around(new(big.Rat).SetInt(low), new(big.Rat).SetInt(high)),
	}
}

// chosen is a mode's value. A number's interval, for what is computed from it, holds all values that it was chosen from.
func (c *cell) chosen(m *plan.Mode) Estimate {
	v, least, most := c.choice(m), m.Of.Values[0], m.Of.Values[len(m.Of.Values)-1]
	e := Estimate{StdDev: math.NaN(), Interval: everything}
	if v.Type == value.Integer {
		e = whole(big.NewInt(v.Int), big.NewInt(least.Int), big.NewInt(most.Int))
	}
	e.Choice = &v
	return e
}

// choice is the value of a mode's index. A release is checked against its plan when it is read, so the index is one of the values.
func (c *cell) choice(m *plan.Mode) value.Value {
	i := c.sums[c.answer.plan.ModeAt(m)]
	if !i.IsInt64() || i.Int64() < 0 || i.Int64() >= int64(len(m.Of.Values)) {
		return value.NullOf(m.Of.Expr.Type)
	}
	return m.Of.Values[i.Int64()]
}

// picked is the value of an aggregate that is no number, for conditions and order: a date, or a value that was chosen.
func (c *cell) picked(p *plan.Post) (value.Value, bool) {
	if p.Op != plan.PostAggregate {
		return value.Value{}, false
	}
	switch a := c.answer.plan.Aggregates[p.Index]; {
	case a.Mode != nil:
		return c.choice(a.Mode), true
	case a.Quantile != nil && p.Type == value.Date:
		return value.OfDay(c.inOrder(a.Quantile).Int64()), true
	}
	return value.Value{}, false
}

// Ordered is the quantile or the mode that an output releases as it is; both may be nil.
func (a *Answer) Ordered(o plan.Output) (*plan.Quantile, *plan.Mode) {
	if o.Post == nil || o.Post.Op != plan.PostAggregate {
		return nil, nil
	}
	agg := a.plan.Aggregates[o.Post.Index]
	return agg.Quantile, agg.Mode
}
