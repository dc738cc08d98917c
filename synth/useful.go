package synth

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/synth/aim"
)

// useful returns the number of rows below which the measured marginals are more noise than signal: the mean of their
// expected total variation distances, √(2/π)·deviation·cells/2 by rows, exceeds a half. For MWEM these are the
// marginals that a round may select, for the method fixed those of the request, and otherwise the single columns. It
// follows from the plan. It also sets Plan.Dense.
func (p *Plan) useful() int64 {
	text, inRho := p.Price.Rho, true
	if text == "" {
		text, inRho = p.Price.Epsilon, false
	}
	price, ok := new(big.Rat).SetString(text)
	if !ok || price.Sign() <= 0 {
		return 0
	}
	if len(p.aheads) > 0 {
		price.Mul(price, big.NewRat(aheadShare-1, aheadShare))
	}
	if len(p.shapes()) > 0 {
		price.Mul(price, big.NewRat(shapeShare-1, shapeShare))
	}
	sets, columns := p.ones(), int64(len(p.Columns))
	switch p.Method {
	case AIM:
		schedule, err := aim.NewSchedule(price, len(p.Columns), plannedOfFaintest)
		if err != nil {
			return 0
		}
		price = schedule.First().Measure
	case MST:
		price.Quo(price, big.NewRat(3*columns, 1))
	case Independent:
		price.Quo(price, big.NewRat(columns, 1))
	case MWEM:
		if sets = p.candidates[1:p.shaped]; len(sets) > 1 {
			price.Quo(price, big.NewRat(2*mwemRounds, 1))
		}
	case Fixed:
		sets = p.candidates[:p.shaped]
		price.Quo(price, big.NewRat(int64(len(sets)), 1))
	}
	s, mean := &synthesis{Plan: p, inRho: inRho}, 0.0
	for _, set := range sets {
		noise := s.deviation(p.placeOf(set), price) * p.domain.Cells(set...)
		mean += math.Sqrt(2/math.Pi) * noise / 2 / float64(len(sets))
		if p.Method == Fixed || p.Method == Independent {
			p.Dense = max(p.Dense, int64(min(math.Ceil(dense*noise), 1<<62)))
		}
	}
	return int64(min(math.Ceil(2*mean), 1<<62))
}

// worthwhile refuses to pay for a plan whose measurements would be mostly noise, by the number of rows that the policy
// declares. It depends on no row.
func (p *Plan) worthwhile() error {
	if p.expected > 0 && p.expected < p.Useful {
		return usage("give a larger price, or fewer --columns or --bins",
			"at this price, the measurements of a table of fewer than %d rows are more noise than signal, and the policy expects %d rows",
			p.Useful, p.expected)
	}
	return nil
}

// binsFor returns the largest number of bins, below that of the request, with which columns have at most this many
// combinations of values. It is 0 if there is none.
func (p *Plan) binsFor(columns []*Column, most float64) int {
	for bins := p.request.Bins - 1; bins >= 2; bins-- {
		cells := 1.0
		for _, c := range columns {
			if _, declared := p.request.Edges[c.Name]; c.Binned && !declared {
				cells *= float64(min(c.Cells, bins+1)) // with NULL
				continue
			}
			cells *= float64(c.Cells)
		}
		if cells <= most {
			return bins
		}
	}
	return 0
}

// fitting names what has at most this many combinations of values: a number of bins, or else columns.
func (p *Plan) fitting(most float64) string {
	if bins := p.binsFor(p.Columns, most); bins > 0 {
		return fmt.Sprintf("--bins %d, which fits", bins)
	}
	sorted := slices.Clone(p.Columns)
	slices.SortStableFunc(sorted, func(a, b *Column) int { return a.Cells - b.Cells })
	var names []string
	cells := 1.0
	for _, c := range sorted {
		if cells *= float64(c.Cells); cells > most {
			break
		}
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return "fewer columns"
	}
	return "--columns " + strings.Join(names, ",") + ", which fits"
}
