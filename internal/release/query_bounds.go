package release

import (
	"context"
	"math/big"

	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/quantile"
)

// Bounds that are found (plan.Search has the proof) make one release with what is measured within them: two rows stand
// before the cells, the least and the most that a row adds to each measure, in the grid units of its search. So a
// replay has them too, and the plan within them follows from the release. The ledger has the mechanisms as at the
// value's own bounds: within narrower ones sensitivity and noise shrink alike, and their quotient, the loss, stays.

// maxBins is how many counts a search's histogram has, at most: magnitudes of 64-bit integers, by sign.
const maxBins = 128

// searching adds to a look what its plan looks for first.
func (l *Look) searching(p *plan.Plan) {
	for _, s := range p.Searches {
		l.statements = append(l.statements, &s.Look)
	}
	l.releases(boundRows(p)+p.Released(), p.Numbers())
}

// boundRows is how many rows stand before the cells.
func boundRows(p *plan.Plan) int {
	if len(p.Searches) > 0 {
		return 2
	}
	return 0
}

// histograms returns the histogram of each search of a plan, as a measure.
func histograms(p *plan.Plan) (out []*plan.Measure) {
	for _, s := range p.Searches {
		out = append(out, s.Histogram)
	}
	return out
}

// searchOne finds the bounds of one search.
func searchOne(ctx context.Context, p *plan.Plan, s *plan.Search, from reader) (quantile.Domain, error) {
	ctx, done := context.WithCancel(ctx)
	defer done() // an engine may hold what it reads until then
	rows, err := from.engine.Order(ctx, &s.Look, from.sealed)
	if err != nil {
		return quantile.Domain{}, err
	}
	m := quantile.AutomaticBounds{
		Domain: quantile.Domain{Lower: s.Outer().Lo, Upper: s.Outer().Hi},
		Unit:   mechanism.Unit{Neighbours: p.Neighbours, MaxRows: s.Look.Caps.Rows},
		Loss:   s.Loss, FalsePositive: s.FalsePositive,
	}
	bounds, err := m.Measure(rows)
	if err == nil {
		err = measuredAsPlanned(s.Histogram, bounds.Measurement)
	}
	return bounds.Domain, err
}

// search finds the bounds that p waits for, and gives the plan within them, and the bounds to record. Should there be
// no plan within them, the values' own are taken, within which there is one. Where p waits for none it is p itself.
func (q *Query) search(ctx context.Context, p *plan.Plan, from reader) (*plan.Plan, [][]*big.Int, error) {
	if len(p.Searches) == 0 {
		return p, nil, nil
	}
	found := map[*plan.Search]quantile.Domain{}
	for _, s := range p.Searches {
		domain, err := searchOne(ctx, p, s, from)
		if err != nil {
			return nil, nil, err
		}
		found[s] = domain
	}
	within := func(of func(*plan.Search) quantile.Domain) (*plan.Plan, [][]*big.Int, error) {
		bounds := make([][]*big.Int, 2)
		for _, m := range p.Measures {
			d := quantile.Domain{Lower: m.Lo, Upper: m.Hi}
			if m.Search != nil {
				d = of(m.Search)
			}
			bounds[0], bounds[1] = append(bounds[0], big.NewInt(d.Lower)), append(bounds[1], big.NewInt(d.Upper))
		}
		within, err := p.Found(bounds[0], bounds[1])
		if err == nil {
			err = q.usable(within)
		}
		for len(bounds[0]) < p.Numbers() { // quantiles and modes have none
			bounds[0], bounds[1] = append(bounds[0], new(big.Int)), append(bounds[1], new(big.Int))
		}
		return within, bounds, err
	}
	bounded, bounds, err := within(func(s *plan.Search) quantile.Domain { return found[s] })
	if err != nil { // a function of what was found, and of public parameters
		return within(func(s *plan.Search) quantile.Domain {
			return quantile.Domain{Lower: s.Outer().Lo, Upper: s.Outer().Hi}
		})
	}
	return bounded, bounds, nil
}
