package curator

import (
	"context"
	"math"

	"dither/internal/release"
)

// OrderExplanation states the price of a [Session.Rank] or a [Session.Smooth]. It spends nothing. It is computed
// from the question, the policy and the ledger, never from rows.
type OrderExplanation struct {
	RankError *float64 // as in Ranked
	// ExpectedError is about the mean error of the values, in rows, and ExpectedHalfWidth about the mean half-width of
	// their intervals. Both are for values that are spread evenly around each quantile. They serve to choose a method.
	// ExpectedHalfWidth is nil if the mechanism has no intervals. Both are nil if they depend on the number of rows, and
	// the policy declares no expected_rows.
	ExpectedError, ExpectedHalfWidth *float64
	// ExpectedMedian is about the median of the error whose mean is ExpectedError, if rare values far away dominate the
	// mean, as those of Smooth do. Otherwise it is nil.
	ExpectedMedian *float64

	Price      Loss
	Remaining  Loss
	Affordable bool   // the price is within what remains, or the answer has been released before
	Largest    string // the largest ε that one question can be asked at now
	Replayed   bool   // the answer has been released before, and would be replayed at no cost
}

// ExplainRank states the price of [Session.Rank] and its rank error: how many rows a value may be away from the exact
// quantile. It costs nothing.
func (c *Session) ExplainRank(_ context.Context, q Quantiles) (*OrderExplanation, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	r, rankError, err := c.ranking(&q)
	if err != nil {
		return nil, c.public(err)
	}
	out, err := c.explainOrder(r.Look())
	if err != nil {
		return nil, err
	}
	if q.Mechanism == EachQuantile {
		out.RankError = &rankError
	}
	off, width := r.Expected()
	out.ExpectedError, out.ExpectedHalfWidth = orNone(off), orNone(width)
	return out, nil
}

// ExplainSmooth states the price of [Session.Smooth], at no cost.
func (c *Session) ExplainSmooth(_ context.Context, q Request) (*OrderExplanation, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	m, err := c.smoothing(q)
	if err != nil {
		return nil, c.public(err)
	}
	out, err := c.explainOrder(m.Look())
	if err != nil {
		return nil, err
	}
	if t := c.policy.Table(m.Target().Table); t != nil {
		out.ExpectedError = orNone(m.Expected(t.ExpectedRows))
		out.ExpectedMedian = orNone(m.ExpectedMedian(t.ExpectedRows))
	}
	return out, nil
}

// orNone returns a pointer to x, or nil if x is NaN.
func orNone(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

func (c *Session) explainOrder(l *release.Look) (out *OrderExplanation, err error) {
	out = &OrderExplanation{Price: c.loss(l.Price())}
	if out.Replayed, err = c.kernel.Explicable(l); err != nil {
		return nil, c.public(err)
	}
	room, err := c.kernel.Room(l)
	if err != nil {
		return nil, c.public(err)
	}
	out.Remaining, out.Largest, out.Affordable = left(room), c.largest(room), out.Replayed || l.Price().Within(room)
	return out, nil
}
