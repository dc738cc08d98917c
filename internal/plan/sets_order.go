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

// orderSets makes the looks of each grouping set, once all else is known.
func (b *builder) orderSets() error {
	p := b.plan
	if p.Sets == nil || len(p.Quantiles)+len(p.Modes) == 0 {
		return nil
	}
	if p.Released()*p.Numbers() > MaxNumbers {
		return bind.Refuse(
			b.setsAt,
			"ask for fewer sets, or group by less",
			"the answer would hold more than %d numbers",
			MaxNumbers,
		)
	}
	if n := len(p.Sets) * (len(p.OrderedValues()) + len(p.Modes)); n > maxOrderLooks {
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
	for i := range p.Sets {
		of, err := b.orderOver(p.Sets[i], alike)
		if err != nil {
			return err
		}
		of.Weigh()
		p.Sets[i].Order = of
	}
	return nil
}

// orderOver is the plan of one set's quantiles and modes. The quantiles of sets that are alike are the same.
func (b *builder) orderOver(g Grouping, alike map[[2]int64]*Plan) (*Plan, error) {
	p, sets := b.plan, int64(len(b.plan.Sets))
	out := &Plan{Statement: p.Statement, Neighbours: p.Neighbours}
	out.Where, out.Keys = inGroups(&p.Statement, g.Keys), nil
	out.setMeasures(nil)
	for _, k := range g.Keys {
		out.Keys = append(out.Keys, p.Keys[k])
	}
	for _, m := range p.Modes {
		own := *m
		own.Loss = m.Loss.Share(1, sets)
		out.Modes = append(out.Modes, &own)
	}
	if err := b.capOrders(out); err != nil {
		return nil, err
	}
	kind := [2]int64{out.OrderCaps.MostRows(), int64(min(out.Cells(), 2))}
	if known := alike[kind]; known != nil {
		out.Quantiles, out.ordered = known.Quantiles, known.ordered
		return out, nil
	}
	for _, q := range p.Quantiles {
		own := *q
		own.draw, own.Loss = privacy.Epsilon{}, q.Loss.Share(1, sets)
		out.Quantiles = append(out.Quantiles, &own)
	}
	if err := b.chooseOrders(out); err != nil {
		return nil, err
	}
	alike[kind] = out
	return out, nil
}
