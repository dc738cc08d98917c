package plan

import (
	"dither/internal/bind"
	"dither/privacy"
)

// Quantiles and modes over grouping sets: a total's median is no function of its parts' medians, so that each set is looked at by itself, in its own
// cells, and nothing is fitted. A set's look is what the question would be with that set alone for its GROUP BY, of the same rows: those that are in a group by
// every key. Its proof is therefore that of Quantile and of Mode, with the set's cells in place of the plan's: a cap leaves at most MostRows rows of a unit in all
// cells of the set together, whatever set it is. The looks of several sets are several mechanisms, each with an equal share of what the quantile or the mode may
// cost, and the losses of mechanisms add up, so that all sets together cost its price: under a pure budget, and under zCDP in ρ.
//
// Nothing ties the numbers of one set to another's: that the median of all lies between the least and the greatest of its parts' is true of the exact ones,
// and need not be of what is drawn.

// Orders are the plans whose looks tell the quantiles and modes of an answer: the plan itself, or where it has grouping sets one for each of them, in their
// order, whose Quantiles and Modes are those of the plan in its order, each with the set's share. None where nothing of the kind is asked.
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

// maxOrderLooks bounds what one answer takes: each value that is put in order and each mode is a pass of its own over the rows, in each set.
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
			"quantiles and modes of so many sets would take %d looks at the rows, and at most %d are taken",
			n,
			maxOrderLooks,
		)
	}
	// by the rows that count of one unit, and whether there are several cells: all that a sensitivity depends on
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

// orderOver returns the plan of one set's quantiles and modes. Sets that are alike share their quantiles.
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
