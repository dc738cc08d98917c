package release

import (
	"context"
	"math/big"

	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/quantile"
)

// If a question searches for bounds (plan.Search has the proof), the bounds and the measures within them form one
// release. The bounds are two rows before the cells: the least and the largest value that a row adds to each
// measure, in the grid units of its search. So a replay has the bounds too, and the release determines the plan
// within them. The ledger records the mechanisms for the value's own bounds. Narrower bounds reduce sensitivity and
// noise alike, so the loss is the same.

// maxBins is the largest number of counts in a search's histogram: one for each magnitude of 64-bit integers and
// each sign.
const maxBins = 128

// searching adds the statements of p's searches for bounds to the access.
func (l *Look) searching(p *plan.Plan) {
	for _, s := range p.Searches {
		l.statements = append(l.statements, &s.Look)
	}
	l.releases(boundRows(p)+p.Released(), p.Numbers())
}

// boundRows returns the number of rows that bounds take in a release, before the rows of the cells (groups).
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

// searchOne runs one private search for bounds ([plan.Search]), and returns the bounds that it found.
func searchOne(ctx context.Context, p *plan.Plan, s *plan.Search, from reader) (quantile.Domain, error) {
	ctx, done := context.WithCancel(ctx)
	defer done() // an engine may keep its query open until ctx ends
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

// search finds the bounds that the plan p needs. It returns the plan within these bounds, and the bounds to record.
// If no usable plan exists within them, it uses the values' own bounds. If p needs no bounds, it returns p itself.
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
		for len(bounds[0]) < p.Numbers() { // zeros for quantiles and modes, which have no bounds
			bounds[0], bounds[1] = append(bounds[0], new(big.Int)), append(bounds[1], new(big.Int))
		}
		return within, bounds, err
	}
	bounded, bounds, err := within(func(s *plan.Search) quantile.Domain { return found[s] })
	if err != nil { // whether err is nil depends only on the found bounds and public parameters
		return within(func(s *plan.Search) quantile.Domain {
			return quantile.Domain{Lower: s.Outer().Lo, Upper: s.Outer().Hi}
		})
	}
	return bounded, bounds, nil
}
