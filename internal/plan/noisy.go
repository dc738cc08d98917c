package plan

import (
	"math/big"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/sensitivity"
	"dither/privacy"
)

// noisy is the result of the seventh phase, chooseNoise. Every release has its share of the price, its sensitivity
// and its noise.
type noisy struct {
	*priced
	draws
	cost       privacy.Loss // the price of the answer, with the δ of a selection of groups
	sums       []*Measure   // in canonical order
	found      []*Search    // the searches for bounds, in canonical order
	rowSearch  *RowSearch   // the search for the bound on a unit's rows; nil if there is none
	estimate   *Truncation  // the estimate of what the bounds cut; nil if there is none
	selection  *Selection   // the selection of groups; nil if they are known
	groupings  []Grouping   // the grouping sets; nil if there are none
	aggregates []Aggregate  // in order of first use
}

// noising is the working state of the seventh phase.
type noising struct{ *noisy }

// chooseNoise chooses the noise of every release. The sensitivity follows from the caps, and the noise from the
// sensitivity and the release's share of the price.
func chooseNoise(p *priced) (*noisy, error) {
	b := &noising{&noisy{priced: p, cost: p.whole}}
	if err := run(
		b.chooseSums, b.chooseSets, b.chooseSelection, b.chooseOrders, b.chooseSetOrders, b.chooseSearches,
		b.chooseTruncation,
	); err != nil {
		return nil, err
	}
	b.aggregate()
	return b.noisy, nil
}

// chooseSums chooses the noise of the measures.
func (b *noising) chooseSums() error {
	for i, s := range b.searches {
		b.found = append(b.found, &Search{
			X: s.x, Look: b.searchLooks[i], FalsePositive: falsePositive, Loss: b.shares.searches[i],
		})
	}
	var known chosen
	cells := b.main.Cells()
	if b.open() {
		cells = 0 // unknown
	}
	if n := len(b.measures); n > 0 {
		b.sums = make([]*Measure, n)
	}
	units := b.wholeUnits()
	all := make([]Measure, len(b.measures)) // allocated together, because a question may have hundreds
	for i, u := range b.measures {
		m := &all[i]
		*m = Measure{
			Measure:  u.Measure,
			Loss:     b.shares.measures[i],
			Rounding: b.rounding(u),
			centred:  u.centred,
			text:     u.text,
		}
		if u.search != nil {
			m.Search = b.found[u.search.index]
		}
		if units > 0 && u.X != nil && b.scope.Always(u.X) {
			m.Rows = units
		}
		by := sensitivity.OfMeasure(&m.Measure, b.neighbours(), b.caps, len(b.keys) > 0)
		m.moves(by.WithFew(&m.Measure, b.neighbours(), b.caps, cells))
		if err := known.choose(m); err != nil {
			return bind.Refuse(query.Pos{}, "", "no noise can be chosen: %v", err)
		}
		b.sums[i] = m
	}
	return nil
}

// rounding returns the largest error of a cell (group) that rounding to the grid causes, in grid units. The cell of a
// relation may have more rows than a table: as many for each of them as the relation has for one unit.
func (b *noising) rounding(u *unpricedMeasure) *big.Int {
	if b.source() == nil {
		return u.rounding
	}
	return new(big.Int).Mul(u.rounding, big.NewInt(b.table().Unit.RowsPerUnit))
}

// chooseSets chooses the noise of the measures over each grouping set.
func (b *noising) chooseSets() (err error) {
	if b.sets == nil {
		return nil
	}
	groupings, released := groupingsOf(b.sets, len(b.keys)), 0
	for _, g := range groupings {
		released += g.Cells(&b.main)
	}
	if released*len(b.sums) > MaxNumbers {
		return bind.Refuse(
			b.setsAt,
			"ask for fewer sets, or group by less",
			"the answer would hold more than %d numbers",
			MaxNumbers,
		)
	}
	if b.groupings, err = overSets(&b.main, b.neighbours(), b.sums, groupings); err != nil {
		return bind.Refuse(b.setsAt, "", "no noise can be chosen: %v", err)
	}
	return nil
}

// chooseSearches chooses the noise of the searches.
//
// Claim: let m be the number of rows of one unit that count. Then a search's histogram moves by at most m in L1
// norm and m² in squared L2 norm under add/remove, and by at most twice as much under change-one. Proof: each row
// is in one bin, and quantile.Tree has the rest of the proof. ∎
func (b *noising) chooseSearches() error {
	for _, s := range b.found {
		m := big.NewInt(s.Look.Caps.Rows)
		h := &Measure{Measure: countMeasure(bounded.CountValue, s.X).Measure, Rounding: new(big.Int)}
		h.L1, h.L2Squared, h.Loss = m, new(big.Int).Mul(m, m), s.Loss
		if b.neighbours() == privacy.ChangeOne {
			h.L1, h.L2Squared = new(big.Int).Lsh(h.L1, 1), h.L2Squared.Lsh(h.L2Squared, 1)
		}
		if err := h.choose(); err != nil {
			return bind.Refuse(query.Pos{}, "", "no noise can be chosen: %v", err)
		}
		s.Histogram = h
	}
	if s := b.rows; s != nil {
		b.rowSearch = &RowSearch{
			Look:        *b.rowsLook,
			Most:        s.most,
			Rank:        s.rank,
			Sensitivity: s.sensitivity,
			Loss:        b.rowsShare,
			Found:       s.found,
		}
	}
	return nil
}

// aggregate makes the aggregates from their measures, quantiles and modes.
func (b *noising) aggregate() {
	if n := len(b.measured.aggregates); n > 0 {
		b.aggregates = make([]Aggregate, n)
	}
	for i, u := range b.measured.aggregates {
		a := Aggregate{Func: u.of, Rows: u.rows, Lo: u.lo, Hi: u.hi}
		if u.sum != nil {
			a.Sum = b.sums[u.sum.index]
		}
		if u.count != nil {
			a.Count = b.sums[u.count.index]
		}
		if u.quantile != nil {
			a.Quantile = b.quantiles[u.quantile.index]
		}
		if u.mode != nil {
			a.Mode = b.modes[u.mode.index]
		}
		b.aggregates[i] = a
	}
}
