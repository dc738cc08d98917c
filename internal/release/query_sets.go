package release

import (
	"context"
	"fmt"

	"dither/internal/plan"
	"dither/mechanism"
)

// summed adds up the cells (groups) of the finest grouping to the cells of grouping g. The values are exact, and stay
// in types that cannot be read.
func summed(p *plan.Plan, g plan.Grouping, cells [][]mechanism.Exact) [][]mechanism.Exact {
	if p.Sets == nil {
		return cells
	}
	out := make([][]mechanism.Exact, g.Cells(&p.Statement))
	for i := range out {
		out[i] = make([]mechanism.Exact, len(p.Measures))
	}
	for i, at := range g.Into(&p.Statement) {
		for j, x := range cells[i] {
			out[at][j] = out[at][j].Plus(x)
		}
	}
	return out
}

// cellsOver returns the exact numbers of a grouping, by cell (group). Additive measures are sums over the finest
// grouping. Other measures, such as distinct counts, are read from the grouping's own statement.
func cellsOver(
	ctx context.Context,
	p *plan.Plan,
	g plan.Grouping,
	all [][]mechanism.Exact,
	from reader,
) ([][]mechanism.Exact, error) {
	out, look := summed(p, g, all), p.SetLook(g)
	if look == nil {
		return out, nil
	}
	own, err := from.engine.Aggregate(ctx, look, from.sealed)
	if err != nil {
		return nil, err
	}
	if len(own) != len(out) {
		return nil, fmt.Errorf("%w: %d cells of a grouping of %d", ErrUnplanned, len(own), len(out))
	}
	k := 0
	for j, m := range p.Measures {
		if m.Additive() {
			continue
		}
		for i := range out {
			out[i][j] = own[i][k]
		}
		k++
	}
	return out, nil
}
