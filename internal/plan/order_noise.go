package plan

import (
	"dither/internal/bind"
	"dither/internal/bounded"
)

// draws are the quantiles and modes of one grouping, with their noise: their values are random choices.
type draws struct {
	quantiles []*Quantile // in canonical order
	modes     []*Mode     // in canonical order
	orderCaps bounded.Caps
	rowCaps   bounded.Caps
	ordered   []ordered // the quantiles grouped by value
}

// chooseOrders chooses the noise of quantiles and modes. With grouping sets, it sets their shares of the price
// only. Each set then has quantiles and modes of its own (chooseSetOrders).
func (b *noising) chooseOrders() error {
	of := map[*bounded.Measure]int{}
	for i, q := range b.measured.quantiles {
		if of[q.value]++; of[q.value] > maxQuantiles {
			return bind.Refuse(
				b.first(),
				"ask for fewer of them, or in two questions",
				"the answer would hold more than %d quantiles of one value",
				maxQuantiles,
			)
		}
		b.quantiles = append(b.quantiles, &Quantile{Value: q.value, Rank: q.rank, of: q.of, Loss: b.shares.quantiles[i]})
	}
	for i, m := range b.measured.modes {
		b.modes = append(b.modes, &Mode{Of: m.of, text: m.text, Loss: b.shares.modes[i]})
	}
	switch {
	case len(b.quantiles)+len(b.modes) == 0:
		return nil
	case b.sets != nil:
		b.ordered = ordersOf(b.quantiles)
		return nil
	}
	cells := b.main.Cells()
	if err := b.capOrders(&b.draws, cells); err != nil {
		return err
	}
	return b.chooseQuantiles(&b.draws, cells)
}

// capOrders sets the caps on a unit's rows and groups for the quantiles and modes of a grouping with the given number
// of cells (groups).
func (b *noising) capOrders(of *draws, cells int) error {
	of.rowCaps, of.orderCaps = b.rowsOnly(), b.orderedCaps(cells)
	for _, m := range of.modes {
		if cells*len(m.Of.Values) > MaxCells {
			return bind.Refuse(
				b.first(),
				"group by less",
				"MODE would choose among more than %d values in all groups together",
				MaxCells,
			)
		}
		m.Rows = of.rowCaps.Rows
	}
	return nil
}

// chooseQuantiles sets the sensitivities of the quantiles. They
// depend on the caps on a unit's rows and groups.
func (b *noising) chooseQuantiles(of *draws, cells int) error {
	for _, q := range of.quantiles {
		if err := q.choose(b.neighbours(), of.orderCaps.MostRows(), cells); err != nil {
			return bind.Refuse(b.first(), "ask for a larger --epsilon, or narrower bounds", "%v", err)
		}
	}
	of.ordered = ordersOf(of.quantiles)
	return nil
}
