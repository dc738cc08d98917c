package synth

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"dither/synth/model"
)

// candidatesFixed lists the marginals that the request names. A column that the request does not name is measured
// alone.
func (p *Plan) candidatesFixed() error {
	places := map[string]int{}
	for i, c := range p.Columns {
		places[c.Name] = i
	}
	covered := make([]bool, len(p.Columns))
	var sets [][]int
	cells := 0.0
	add := func(set []int) error {
		if slices.ContainsFunc(sets, func(s []int) bool { return slices.Equal(s, set) }) {
			return usage("", "--cliques names the columns %v twice", p.names(set))
		}
		for _, a := range set {
			covered[a] = true
		}
		sets, cells = append(sets, set), cells+p.domain.Cells(set...)
		if cells > mostCells || len(sets) > mostCandidates {
			var columns []*Column
			for _, a := range set {
				columns = append(columns, p.Columns[a])
			}
			hint := "name fewer columns together, or give fewer --bins"
			if bins := p.binsFor(columns, mostCells); bins > 0 && p.domain.Cells(set...) > mostCells {
				hint = fmt.Sprintf("name fewer columns together, or give at most --bins %d", bins)
			}
			return usage(hint, "the marginals have more than %d cells, with that of %s",
				mostCells, strings.Join(p.names(set), ", "))
		}
		return nil
	}
	for _, clique := range p.request.Cliques {
		var set []int
		for _, column := range clique {
			a, ok := places[column]
			if !ok {
				return usage("`--explain` lists the columns", "--cliques: there is no column %q in the synthetic table", column)
			}
			if slices.Contains(set, a) {
				return usage("", "--cliques names the column %s twice in one marginal", column)
			}
			set = append(set, a)
		}
		if len(set) == 0 {
			return usage("give --cliques a+b,b+c", "--cliques has a marginal without columns")
		}
		slices.Sort(set)
		if err := add(set); err != nil {
			return err
		}
	}
	for i, done := range covered {
		if !done {
			if err := add([]int{i}); err != nil {
				return err
			}
		}
	}
	size, err := model.Size(p.domain, append(slices.Clone(sets), p.constrained()...))
	if err != nil {
		return err
	}
	if size > p.request.ModelBytes {
		return usage(fmt.Sprintf("give --model-size %.0fkB or more, or name fewer columns together: "+
			"a cycle of pairs needs larger tables", math.Ceil(size/1024)),
			"these marginals need a model of %.0f bytes, above %.0f", size, p.request.ModelBytes)
	}
	p.candidates, p.Candidates = sets, len(sets)
	return nil
}

// fixed measures the marginals that the request names together, with equal noise.
func (s *synthesis) fixed(ctx context.Context) error {
	if err := s.measure(ctx, slices.Clone(s.candidates[:s.shaped]), s.total); err != nil {
		return err
	}
	return s.fit(lastIterations)
}
