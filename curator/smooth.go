package curator

import (
	"context"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/release"
)

// Median is a released median. It has no error bar: the scale of its noise is computed from the rows, and stays secret, and so
// does whatever would tell it.
type Median struct {
	ID               string
	Value            *Number
	Mechanism        string
	Price, Remaining Loss
	Replayed         bool
}

// Smooth is the kernel's fifth primitive: the median of one value, SELECT age FROM people, with noise that fits how dense
// the values are about it (quantile.Smooth, where the proof stands). Rows in which it is NULL do not count. Against the
// exponential mechanism's median (Rank) it needs many rows near the middle; it is not better in general.
func (c *Session) Smooth(ctx context.Context, q Request) (*Median, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
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
		Price:     c.loss(t.Price),
		Replayed:  s.Replayed,
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// smoothing decides a look at a median.
func (c *Session) smoothing(q Request) (*release.Median, error) {
	t, err := c.order(q)
	if err != nil {
		return nil, err
	}
	return c.kernel.Median(t, q.asker())
}

// order plans a look at rows in the order of one value.
func (c *Session) order(q Request) (*plan.Target, error) {
	request, err := c.request(q.Question())
	if err != nil {
		return nil, err
	}
	return plan.BuildOrder(c.filled(), request)
}

// gridNumber is a gridded value in its own unit: a whole number of integers.
func gridNumber(m *bounded.Measure, v *big.Int) *Number {
	if !m.Rounds() && m.Grid == 0 {
		return wholeNumber(v)
	}
	f, _ := m.Units(v).Float64()
	return realNumber(f)
}
