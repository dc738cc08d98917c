package curator

import (
	"context"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/release"
)

// Median is a released median. It has no interval: the scale of its noise is computed from the rows, and is secret,
// like everything that would reveal it.
type Median struct {
	ID               string
	Value            *Number
	Mechanism        string
	Limits           *Limits // what bounds the release
	Price, Remaining Loss
	Replayed         bool
}

// Smooth releases the median of one value, SELECT age FROM people, with noise that adapts to the density of the
// values around it (quantile.Smooth has the proof). Rows in which the value is NULL do not count. To be better than
// [Session.Rank] with the exponential mechanism, it needs many rows near the median. In general it is not better.
func (c *Session) Smooth(ctx context.Context, q Request) (*Median, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	ctx = c.kernel.Arrives(ctx)
	m, err := c.smoothing(q)
	if err != nil {
		return nil, c.public(err)
	}
	s, err := c.take(ctx, m)
	if err != nil {
		return nil, err
	}
	t := m.Target()
	out := &Median{
		ID:        s.Name(),
		Value:     gridNumber(t.Measures[0], s.Numbers[0][0]),
		Mechanism: SmoothSensitivity,
		Limits:    c.limitsOf(&t.Statement),
		Price:     c.loss(t.Price),
		Replayed:  s.Replayed,
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// smoothing builds the access for a median.
func (c *Session) smoothing(q Request) (*release.Median, error) {
	t, err := c.order(q)
	if err != nil {
		return nil, err
	}
	return c.kernel.Median(t, q.asker())
}

// order plans an access to the rows in the order of one value.
func (c *Session) order(q Request) (*plan.Target, error) {
	request, err := c.request(q.Question())
	if err != nil {
		return nil, err
	}
	return plan.BuildOrder(c.filled(), request)
}

// gridNumber converts a value from grid units to its own unit. An integer becomes a whole number.
func gridNumber(m *bounded.Measure, v *big.Int) *Number {
	if !m.Rounds() && m.Grid == 0 {
		return wholeNumber(v)
	}
	f, _ := m.Units(v).Float64()
	return realNumber(f)
}
