package curator

import (
	"slices"

	"dither/internal/plan"
	"dither/internal/release"
)

// Ordering is the price and the error of a quantile or a mode in one grouping. Each grouping is measured
// separately. The errors are those of [Column], at the answer's confidence.
type Ordering struct {
	Column                             string
	Mechanism                          string
	Share                              Loss
	RankError, IntervalRows, Shortfall *float64
}

// orderings returns the Ordering of each quantile and mode in a grouping.
func (c *Session) orderings(a *asked, g plan.Grouping) (out []Ordering) {
	if g.Order == nil {
		return nil
	}
	for _, o := range a.plan.Outputs {
		q, m := a.derived.Ordered(o)
		x := Ordering{Column: o.Name}
		switch {
		case q != nil:
			q = g.Order.Quantiles[slices.Index(a.plan.Quantiles, q)]
			rank, span := a.within(g.Order, q)
			x.Mechanism, x.Share, x.RankError, x.IntervalRows = Exponential, c.loss(q.Loss), &rank, &span
		case m != nil:
			m = g.Order.Modes[slices.Index(a.plan.Modes, m)]
			short := m.Shortfall(a.plan.Neighbours, a.alpha)
			x.Mechanism, x.Share, x.Shortfall = release.ModeMechanism(m), c.loss(m.Loss), &short
		default:
			continue
		}
		out = append(out, x)
	}
	return out
}

const orderSetsNote = "Each grouping measures its own quantiles and modes, for an equal share of their price, and " +
	"nothing is fitted to them. They are over the rows whose value of every GROUP BY expression is a known key. A " +
	"total's median need not lie between the medians of its parts."
