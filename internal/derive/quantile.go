package derive

import (
	"math"
	"math/big"
	"slices"

	"dither/internal/plan"
	"dither/internal/value"
)

// quantile is a quantile's estimate: the value drawn at its rank, and the interval between the two draws that bracket
// it (see plan.Quantile), within the bounds. The interval covers PERCENTILE_CONT or PERCENTILE_DISC of the bounded rows
// of the cell, if it has any. Its level is fixed; for a smaller alpha the interval is the bounds. Quantiles of rows
// that are rounded to a grid are off by at most half a unit, since rounding keeps the order.
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

// inOrder is the value of q after sorting the draws of all quantiles of the same expression, because independent draws
// may cross. Sorting keeps their common bound on ranks (quantile.Independent.RankError, where it is proved;
// plan.RankError).
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

// chosen is a mode's value. For expressions over it, a number's interval contains all values from which it was chosen.
func (c *cell) chosen(m *plan.Mode) Estimate {
	v, least, most := c.choice(m), m.Of.Values[0], m.Of.Values[len(m.Of.Values)-1]
	e := Estimate{StdDev: math.NaN(), Interval: everything}
	if v.Type == value.Integer {
		e = whole(big.NewInt(v.Int), big.NewInt(least.Int), big.NewInt(most.Int))
	}
	e.Choice = &v
	return e
}

// choice is the value of a mode's index. A release is checked against its plan when it is read, so the index is one of
// the values.
func (c *cell) choice(m *plan.Mode) value.Value {
	i := c.sums[c.answer.plan.ModeAt(m)]
	if !i.IsInt64() || i.Int64() < 0 || i.Int64() >= int64(len(m.Of.Values)) {
		return value.NullOf(m.Of.Expr.Type)
	}
	return m.Of.Values[i.Int64()]
}

// picked is the value of a non-numeric aggregate, for conditions and sorting: a date, or a chosen value.
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

// Ordered returns the quantile or the mode that an output releases as it is; both may be nil.
func (a *Answer) Ordered(o plan.Output) (*plan.Quantile, *plan.Mode) {
	if o.Post == nil || o.Post.Op != plan.PostAggregate {
		return nil, nil
	}
	agg := a.plan.Aggregates[o.Post.Index]
	return agg.Quantile, agg.Mode
}
