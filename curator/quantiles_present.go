package curator

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/derive"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/release"
	"dither/internal/value"
)

// shown returns the estimate of an output. It shows dates and times as such, and the value of a mode as that value.
func shown(o plan.Output, e derive.Estimate) *Estimate {
	switch {
	case e.Choice != nil:
		return chosenEstimate(*e.Choice)
	case o.Post != nil && o.Post.Type.Whole() && o.Post.Type != value.Integer && e.Whole != nil:
		at := func(n int64) *Number { return textNumber(value.Value{Type: o.Post.Type, Int: n}.String(), n) }
		return &Estimate{Value: at(e.Whole.Int64()), Low: at(e.WholeLow.Int64()), High: at(e.WholeHigh.Int64())}
	}
	return estimate(e)
}

// chosenEstimate returns a chosen value, which has no interval.
func chosenEstimate(v value.Value) *Estimate {
	out := &Estimate{Chosen: true}
	switch {
	case v.Null:
	case v.Type == value.Integer:
		out.Value = wholeNumber(big.NewInt(v.Int))
	default:
		out.Value = textNumber(v.String(), v.Int)
	}
	return out
}

// textNumber returns the Number of a date or a time, with its days or microseconds, or of a text.
func textNumber(text string, day int64) *Number { return &Number{Text: &text, Real: float64(day)} }

// orderColumn describes a quantile's or a mode's column. It reports false for any other column.
func (c *Session) orderColumn(out *Column, a *asked, o plan.Output) bool {
	q, m := a.derived.Ordered(o)
	switch {
	case q != nil:
		rank, span := a.within(a.plan, q)
		out.Mechanism, out.Share, out.RankError, out.IntervalRows = Exponential, c.loss(q.Loss), &rank, &span
	case m != nil:
		short := m.Shortfall(a.plan.Neighbours, a.alpha)
		out.Mechanism, out.Share, out.Shortfall = release.ModeMechanism(m), c.loss(m.Loss), &short
	default:
		return false
	}
	return true
}

// within returns the rank error of a quantile, and the rows of its interval, as its release drew them.
func (a *asked) within(p *plan.Plan, q *plan.Quantile) (rank, span float64) {
	if a.former {
		return p.Formerly(q, a.alpha)
	}
	return p.RankError(q, a.alpha), p.Span(q, a.alpha)
}

// drawnFormerly reports whether a release has quantiles that an earlier version drew, by the names of its mechanisms.
func (c *Session) drawnFormerly(a *asked, s *release.Released) (bool, error) {
	if !s.Replayed || s.From != nil || !slices.ContainsFunc(a.plan.Orders(), func(p *plan.Plan) bool { return len(p.Quantiles) > 0 }) {
		return false, nil
	}
	_, paid, err := c.named(s.Name())
	return slices.ContainsFunc(paid.Mechanisms, func(m ledger.Mechanism) bool {
		return strings.HasSuffix(m.Name, " rows to either side")
	}), err
}

// orderNotes returns what an analyst should know about quantiles and modes before reading them.
func orderNotes(p *plan.Plan, alpha float64) (notes []string) {
	if len(p.Quantiles) > 0 {
		notes = append(
			notes,
			"A quantile's error is predicted in rows, ordered by value. Its error in values depends on how dense "+
				"the rows are there, which the interval shows. Seven tenths of the price are for the interval.",
		)
		if alpha < plan.BracketAlpha {
			notes = append(
				notes,
				fmt.Sprintf(
					"A quantile's interval supports a confidence of at most %.4g %%. Above that, the interval is the bounds.",
					100*(1-plan.BracketAlpha),
				),
			)
		}
	}
	if len(p.Modes) > 0 {
		notes = append(
			notes,
			"MODE chooses one of the known values. With the stated confidence, the chosen value has at most the "+
				"shortfall fewer rows than the most frequent value.",
		)
	}
	orders := p.Orders()
	if p.Unit == nil || orders == nil {
		return notes
	}
	caps, rows, where := orders[0].OrderCaps, orders[0].RowCaps.Rows, "in all groups together"
	if p.Sets != nil {
		where = "in all groups of one grouping together"
		for _, of := range orders {
			if caps.MostRows() < of.OrderCaps.MostRows() {
				caps = of.OrderCaps
			}
		}
	}
	if len(p.Quantiles) > 0 {
		notes = append(
			notes,
			fmt.Sprintf(
				"For quantiles, at most %s of one %s count, %s%s.",
				plural(caps.MostRows(), "row"),
				p.Unit.Name,
				where,
				eachGroup(caps),
			),
		)
	}
	if len(p.Modes) > 0 {
		notes = append(
			notes,
			fmt.Sprintf("For modes, at most %s of one %s count, %s.", plural(rows, "row"), p.Unit.Name, where),
		)
	}
	return notes
}

// eachGroup describes how the rows that count for one unit are divided among groups, or returns "".
func eachGroup(c bounded.Caps) string {
	if c.Rows > 0 {
		return ""
	}
	return fmt.Sprintf(": %s in each of %s", plural(c.RowsPerGroup, "row"), plural(c.Groups, "group"))
}

// foretoldInRows reports whether a column's error is predicted in rows, as for quantiles and modes, and not in the
// column's own unit.
func foretoldInRows(c Column) bool { return c.RankError != nil || c.Shortfall != nil }

// ordersIn reports whether an output is computed from a quantile or a mode.
func ordersIn(p *plan.Plan, o plan.Output) (found bool) {
	o.Post.Walk(func(q *plan.Post) {
		found = found || q.Op == plan.PostAggregate && len(p.Aggregates[q.Index].Measures()) == 0
	})
	return found
}
