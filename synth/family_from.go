package synth

import (
	"context"
	"time"

	"dither/curator"
)

// familyFrom fits the models of two tables to the marginals that earlier syntheses of the same two tables have measured. It
// spends nothing, and reads no row.
func familyFrom(ctx context.Context, c *curator.Session, r FamilyRequest) (*FamilyResult, error) {
	start := time.Now()
	if r.Bins == 0 {
		r.Bins = familyBins
	}
	if err := r.checkFrom(); err != nil {
		return nil, err
	}
	p, err := newFamily(c, r)
	if err != nil {
		return nil, err
	}
	parents, err := p.parentsView()
	if err != nil {
		return nil, err
	}
	out := &FamilyResult{Plan: p}
	for _, one := range []struct {
		of     *view
		plan   **Plan
		result **Result
	}{{parents, &p.Parents, &out.Parents}, {p.childrenView(), &p.Children, &out.Children}} {
		own, err := p.requestOf(one.of)
		if err != nil {
			return nil, err
		}
		if *one.result, err = fitted(ctx, c, own, one.of, start); err != nil {
			return nil, err
		}
		*one.plan = (*one.result).Plan
	}
	p.Price, p.Remaining, p.Affordable = p.Parents.Price, out.Parents.Remaining, true
	return out, out.reported()
}
