package curator

import (
	"context"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// SmoothSensitivity is the mechanism of a Median.
const SmoothSensitivity = "smooth sensitivity"

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
func (c *Curator) Smooth(ctx context.Context, q Question) (*Median, error) {
	ctx = c.arrives(ctx)
	t, m, l, err := c.smoothing(q)
	if err != nil {
		return nil, c.public(err)
	}
	s, err := c.take(ctx, l, func(ctx context.Context, from engine.Sealed) ([][]*big.Int, error) {
		rows, err := c.engine.Order(ctx, l.bounded, from)
		if err != nil {
			return nil, err
		}
		found, err := m.Release(rows)
		if err == nil {
			err = costsAsPlanned(found.Loss, privacy.PureLoss(pureWithin(t.Price)))
		}
		return statistics(found), err
	})
	if err != nil {
		return nil, err
	}
	out := &Median{
		ID: s.name(), Value: gridNumber(t.Measures[0], s.numbers[0][0]), Mechanism: SmoothSensitivity, Price: c.loss(t.Price), Replayed: s.replayed,
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// smoothing decides a look at a median.
func (c *Curator) smoothing(q Question) (t *plan.Target, m quantile.Smooth, l *look, err error) {
	if t, err = c.order(q); err != nil {
		return nil, m, nil, err
	}
	m = quantile.Smooth{Domain: domainOf(t), Unit: unitOf(t), Epsilon: pureWithin(t.Price)}
	reach := big.NewInt(m.Upper - m.Lower) // public: how far one unit could move the median of some table
	reach.Add(reach, big.NewInt(1))
	l, err = c.lookAt(t, q, ledger.Mechanism{
		Name: SmoothSensitivity, Sensitivity: reach.String(), Scale: exact.FormatRat(new(big.Rat).Inv(m.Epsilon.Rat())), Cells: 1,
	}, [2]int{1, 1})
	return t, m, l, err
}

// order plans a look at rows in the order of one value.
func (c *Curator) order(q Question) (*plan.Target, error) {
	request, err := c.request(q)
	if err != nil {
		return nil, err
	}
	return plan.BuildOrder(c.filled(), request)
}

func domainOf(t *plan.Target) quantile.Domain {
	return quantile.Domain{Lower: t.Measures[0].Lo, Upper: t.Measures[0].Hi}
}

func unitOf(t *plan.Target) mechanism.Unit {
	return mechanism.Unit{Neighbours: t.Neighbours, MaxRows: t.Sensitivity.Int64()}
}

// statistics are rows of one released integer each.
func statistics(found quantile.OrderStatistics) (rows [][]*big.Int) {
	for _, v := range found.Values {
		rows = append(rows, []*big.Int{big.NewInt(v)})
	}
	return rows
}

// gridNumber is a gridded value in its own unit: a whole number of integers.
func gridNumber(m *bounded.Measure, v *big.Int) *Number {
	if !m.Rounds() && m.Grid == 0 {
		return wholeNumber(v)
	}
	f, _ := m.Units(v).Float64()
	return realNumber(f)
}
