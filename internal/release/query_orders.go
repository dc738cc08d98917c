package release

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/mechanism/selection"
	"dither/privacy"
)

// takeOrders appends the plan's quantiles and modes to the numbers of each cell (group), in the order of plan.Numbers.
// It reads the rows of each grouping set separately (plan.Orders).
func takeOrders(ctx context.Context, p *plan.Plan, from reader, numbers [][]*big.Int) error {
	for _, of := range p.Orders() {
		n := of.Cells()
		if n > len(numbers) {
			return fmt.Errorf("%w: %d cells of %d are left", ErrUnplanned, len(numbers), n)
		}
		if err := takeOrder(ctx, of, from, numbers[:n]); err != nil {
			return err
		}
		numbers = numbers[n:]
	}
	return nil
}

// takeOrder is takeOrders for one grouping (the cells over one grouping set).
func takeOrder(ctx context.Context, p *plan.Plan, from reader, numbers [][]*big.Int) error {
	drawn := map[*plan.Quantile][][]int64{}
	for _, v := range p.OrderedValues() {
		if err := takeQuantiles(ctx, p, v, from, drawn); err != nil {
			return err
		}
	}
	for _, q := range p.Quantiles {
		for cell := range numbers {
			for _, x := range drawn[q][cell] {
				numbers[cell] = append(numbers[cell], big.NewInt(x))
			}
		}
	}
	for _, m := range p.Modes {
		if err := takeMode(ctx, p, m, from, numbers); err != nil {
			return err
		}
	}
	return nil
}

// takeQuantiles draws all quantiles of one value, in the same passes over the rows.
func takeQuantiles(
	ctx context.Context,
	p *plan.Plan,
	v *bounded.Measure,
	from reader,
	drawn map[*plan.Quantile][][]int64,
) error {
	m, of := quantilesOf(p, v)
	if err := soughtAsPlanned(m, of); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done() // an engine may keep its query open until ctx ends
	rows, err := from.engine.OrderCells(ctx, p.Ordered(v), from.sealed)
	if err != nil {
		return err
	}
	found, err := m.Release(rows)
	if err != nil {
		return err
	}
	planned, price := privacy.Epsilon{}, privacy.Loss{}
	for _, q := range of {
		planned, price = planned.Plus(q.Draw()).Plus(q.Width()), price.Plus(q.Loss)
	}
	if err := costsAsPlanned(found.Loss, privacy.PureLoss(planned)); err != nil {
		return err
	}
	if err := paidFor(price, found.Loss, m.BoundedRange()); err != nil {
		return err
	}
	for i, q := range of {
		for cell := range found.Values {
			low, high := m.Interval(found, cell, i)
			drawn[q] = append(drawn[q], []int64{found.Values[cell][i], low, high})
		}
	}
	return nil
}

// quantilesOf returns the mechanism for the quantiles of a value, and these quantiles.
func quantilesOf(p *plan.Plan, v *bounded.Measure) (m quantile.Cells, of []*plan.Quantile) {
	m = quantile.Cells{
		Domain: quantile.Domain{
			Lower: v.Lo,
			Upper: v.Hi,
		},
		Unit:  mechanism.Unit{Neighbours: p.Neighbours, MaxRows: p.OrderCaps.MostRows()},
		Cells: p.Cells(),
	}
	for _, q := range p.Quantiles {
		if q.Value != v {
			continue
		}
		of = append(of, q)
		m.Sought = append(m.Sought, q.Sought())
	}
	return m, of
}

// soughtAsPlanned compares the mechanism's own sensitivity with the plan's.
func soughtAsPlanned(m quantile.Cells, of []*plan.Quantile) error {
	for _, q := range of {
		if d := m.Sensitivity(q.Rank); d.Cmp(q.Sensitivity) != 0 {
			return fmt.Errorf(
				"%w: the sensitivity of %s is %s, and was planned as %s",
				ErrUnplanned,
				q,
				d.RatString(),
				q.Sensitivity.RatString(),
			)
		}
	}
	return nil
}

// takeMode chooses a value in each cell (group), and appends its index to the cell's numbers.
func takeMode(ctx context.Context, p *plan.Plan, m *plan.Mode, from reader, numbers [][]*big.Int) error {
	cells, err := from.engine.Aggregate(ctx, p.Counted(m), from.sealed)
	if err != nil {
		return err
	}
	scores, values := column(cells, 0), len(m.Of.Values)
	for i := range numbers {
		chosen, least, err := choose(p, m, scores[i*values:(i+1)*values])
		if err == nil {
			err = costsAsPlanned(chosen.Loss, privacy.PureLoss(m.Epsilon()))
		}
		if err == nil {
			err = paidFor(m.Loss, chosen.Loss, least)
		}
		if err != nil {
			return err
		}
		numbers[i] = append(numbers[i], big.NewInt(int64(chosen.Index)))
	}
	return nil
}

// choose runs the mechanism of a mode in one cell (group). The result least is the mechanism's loss under zCDP, if that
// is less than the ρ that its pure loss implies; else zero.
func choose(p *plan.Plan, m *plan.Mode, scores []mechanism.Exact) (_ selection.Choice, least privacy.Loss, err error) {
	flip := selection.PermuteAndFlip{
		Sensitivity: big.NewInt(m.Rows),
		Monotonic:   p.Neighbours == privacy.AddRemove,
		Epsilon:     m.Epsilon(),
	}
	if ModeMechanism(m) == PermuteAndFlip {
		s, err := flip.Select(scores)
		return s, least, err
	}
	s, err := selection.Exponential(flip).Select(scores)
	return s, selection.Exponential(flip).ZCDP(), err
}

// ModeMechanism returns the mechanism of a mode: permute and flip under a pure budget. Under zCDP it is the
// exponential mechanism, whose loss is a quarter there.
func ModeMechanism(m *plan.Mode) string {
	if _, pure := m.Loss.Pure(); pure {
		return PermuteAndFlip
	}
	return Exponential
}

// orderMechanisms describes the mechanisms of quantiles and modes for the ledger. The recorded scale is the divisor
// of a score in the exponent of a probability.
func orderMechanisms(whole *plan.Plan) (out []ledger.Mechanism) {
	for _, p := range whole.Orders() {
		for _, q := range p.Quantiles {
			for i, e := range []privacy.Epsilon{q.Draw(), q.Width()} {
				scale := new(big.Rat).Quo(q.Sensitivity, e.Rat())
				out = append(out, ledger.Mechanism{
					Name:        Exponential + [2]string{" at ", ", half-width at "}[i] + q.Rank.RatString(),
					Sensitivity: exact.FormatRat(q.Sensitivity),
					Scale:       exact.FormatRat(scale.Add(scale, scale)),
					Cells:       p.Cells(),
				})
			}
		}
		for _, m := range p.Modes {
			reach := big.NewInt(m.Rows)
			if p.Neighbours == privacy.ChangeOne {
				reach.Lsh(reach, 1)
			}
			out = append(out, ledger.Mechanism{
				Name: ModeMechanism(
					m,
				),
				Sensitivity: fmt.Sprint(m.Rows),
				Scale:       exact.FormatRat(new(big.Rat).Quo(new(big.Rat).SetInt(reach), m.Epsilon().Rat())),
				Cells:       p.Cells(),
			})
		}
	}
	return out
}
