package release

import (
	"context"
	"math/big"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// Median is the median of one value, with noise that adapts to the density of the values around it (quantile.Smooth
// has the proof).
type Median struct {
	numbersAlone
	target *plan.Target
	smooth quantile.Smooth
}

// Target returns the plan of the ranked value.
func (m *Median) Target() *plan.Target { return m.target }

// Expected returns about the mean error for an even spread of the given number of rows, in units of the distance
// between neighbouring rows.
func (m *Median) Expected(rows int64) float64 { return m.smooth.Expected(rows) }

// ExpectedMedian returns about the median of the error whose mean is Expected.
func (m *Median) ExpectedMedian(rows int64) float64 { return m.smooth.ExpectedMedian(rows) }

// Median returns the primitive for the median of a target.
func (k *Kernel) Median(t *plan.Target, by Asker) (*Median, error) {
	m := &Median{target: t, smooth: quantile.Smooth{Domain: domainOf(t), Unit: unitOf(t), Epsilon: pureWithin(t.Price)}}
	// public: the largest change of the median by one unit, over all tables
	reach := big.NewInt(m.smooth.Upper - m.smooth.Lower)
	reach.Add(reach, big.NewInt(1))
	l, err := k.targetLook(t, by, ledger.Mechanism{
		Name:        SmoothSensitivity,
		Sensitivity: reach.String(),
		Scale:       exact.FormatRat(new(big.Rat).Inv(m.smooth.Epsilon.Rat())),
		Cells:       1,
	}, 1, 1)
	m.numbersAlone = numbersAlone{l}
	return m, err
}

// access implements [Primitive].
func (m *Median) access(ctx context.Context, rows reader) (v Values, err error) {
	ordered, err := rows.engine.Order(ctx, &m.target.Statement, rows.sealed)
	if err != nil {
		return v, err
	}
	found, err := m.smooth.Release(ordered)
	if err == nil {
		err = costsAsPlanned(found.Loss, privacy.PureLoss(pureWithin(m.target.Price)))
	}
	v.Numbers = statistics(found)
	return v, err
}

func domainOf(t *plan.Target) quantile.Domain {
	return quantile.Domain{Lower: t.Measures[0].Lo, Upper: t.Measures[0].Hi}
}

func unitOf(t *plan.Target) mechanism.Unit {
	return mechanism.Unit{Neighbours: t.Neighbours, MaxRows: t.Sensitivity.Int64()}
}

// statistics converts order statistics to released numbers: one row for each.
func statistics(found quantile.OrderStatistics) (rows [][]*big.Int) {
	for _, v := range found.Values {
		rows = append(rows, []*big.Int{big.NewInt(v)})
	}
	return rows
}
