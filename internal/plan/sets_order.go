package plan

import (
	"dither/internal/bind"
	"dither/privacy"
)

// Quantiles and modes over grouping sets. The median of a total is no function of the medians of its parts. So each
// set reads the rows separately, in its own cells, and nothing is fitted.
//
// Claim: all sets together cost the shares of the quantiles and modes. Proof. A set's statement is the one of the
// question with that set alone in GROUP BY. It has the same rows: those that are in a group by every key. So the
// proofs at [Quantile] and [Mode] hold, with the set's cells in place of the plan's, because a cap leaves at most
// MostRows rows of one unit in all cells of any set. The sets are several mechanisms, each with an equal part of
// the share, and the losses of mechanisms add up, in ε under a pure budget and in ρ under zCDP. ∎
//
// The numbers of different sets may contradict each other. The median of all rows lies between the smallest and the
// largest median of its parts, but the drawn medians need not.

// Orders returns the plans whose statements measure the quantiles and modes of an answer. Without grouping sets, it
// is the plan itself. With them, there is a plan for each set, in the order of Sets. Its Quantiles and Modes are
// the plan's, in the same order, each with the set's share. Orders returns nil if there are no quantiles and modes.
func (p *Plan) Orders() (out []*Plan) {
	if len(p.Quantiles)+len(p.Modes) == 0 {
		return nil
	}
	if p.Sets == nil {
		return []*Plan{p}
	}
	for _, g := range p.Sets {
		out = append(out, g.Order)
	}
	return out
}

// maxOrderLooks bounds the accesses of one answer for quantiles and modes. Each set needs a pass over the rows for
// each ordered value and each mode.
const maxOrderLooks = 512

// chooseSetOrders chooses the quantiles and modes of each grouping set, with their noise and their statement.
func (b *noising) chooseSetOrders() error {
	if b.sets == nil || len(b.quantiles)+len(b.modes) == 0 {
		return nil
	}
	released := 0
	for _, g := range b.groupings {
		released += g.Cells(&b.main)
	}
	if released*b.numbers() > MaxNumbers {
		return bind.Refuse(
			b.setsAt,
			"ask for fewer sets, or group by less",
			"the answer would hold more than %d numbers",
			MaxNumbers,
		)
	}
	if n := len(b.sets) * (len(b.ordered) + len(b.modes)); n > maxOrderLooks {
		return bind.Refuse(
			b.setsAt,
			"ask for fewer sets, or for fewer quantiles and modes",
			"quantiles and modes of these grouping sets would need %d accesses to the rows, more than the limit of %d",
			n,
			maxOrderLooks,
		)
	}
	// A sensitivity depends on two numbers only: how many rows of one unit count, and whether there are several
	// cells.
	alike := map[[2]int64]*Plan{}
	for i := range b.groupings {
		of, err := b.orderOver(b.groupings[i], alike)
		if err != nil {
			return err
		}
		of.Weigh()
		b.groupings[i].Order = of
	}
	return nil
}

// orderOver returns the plan of one set's quantiles and modes. Sets with equal sensitivities (alike) share their
// quantiles.
func (b *noising) orderOver(g Grouping, alike map[[2]int64]*Plan) (*Plan, error) {
	sets := int64(len(b.sets))
	out := &Plan{Statement: b.main, Neighbours: b.neighbours()}
	out.Where, out.Keys = inGroups(&b.main, g.Keys), nil
	out.setMeasures(nil)
	for _, k := range g.Keys {
		out.Keys = append(out.Keys, b.keys[k])
	}
	var of draws
	for _, m := range b.modes {
		own := *m
		own.Loss = m.Loss.Share(1, sets)
		of.modes = append(of.modes, &own)
	}
	cells := out.Cells()
	if err := b.capOrders(&of, cells); err != nil {
		return nil, err
	}
	out.Modes, out.RowCaps, out.OrderCaps = of.modes, of.rowCaps, of.orderCaps
	kind := [2]int64{of.orderCaps.MostRows(), int64(min(cells, 2))}
	if known := alike[kind]; known != nil {
		out.Quantiles, out.ordered = known.Quantiles, known.ordered
		return out, nil
	}
	for _, q := range b.quantiles {
		own := *q
		own.draw, own.Loss = privacy.Epsilon{}, q.Loss.Share(1, sets)
		of.quantiles = append(of.quantiles, &own)
	}
	if err := b.chooseQuantiles(&of, cells); err != nil {
		return nil, err
	}
	out.Quantiles, out.ordered = of.quantiles, of.ordered
	alike[kind] = out
	return out, nil
}
