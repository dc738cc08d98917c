package synth

import (
	"context"

	"dither/curator"
)

// divideWorkload gives each question of the workload to the model of its table. A model without questions has the marginals of
// Ways.
func (p *FamilyPlan) divideWorkload(ctx context.Context, c *curator.Session) error {
	if len(p.request.Workload) > MaxWanted {
		return usage("", "a workload has at most %d questions, not %d", MaxWanted, len(p.request.Workload))
	}
	for i, w := range p.request.Workload {
		w.number = i + 1
		g, err := c.Grid(ctx, []string{w.SQL}, p.rounds.Request)
		if err != nil {
			return ofQuestion(i, err)
		}
		if _, _, ok := about(g.SQL, p.parent.Name); ok {
			p.ofParents = append(p.ofParents, w)
		} else if _, _, ok := about(g.SQL, p.child.Name); ok {
			p.ofRows = append(p.ofRows, w)
		} else {
			return usage("ask about "+p.parent.Name+" or "+p.child.Name+" alone", "question %d of the workload is about another table: %s", i+1, g.SQL)
		}
	}
	return nil
}
