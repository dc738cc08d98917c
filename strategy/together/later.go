package together

import (
	"context"
	"slices"

	"dither/curator"
)

// Later answers further questions from the measurement of a batch that [Ask] released before, at no cost. If the batch was
// not measured at its price, Later refuses. (It would measure again only if the owner seals a table in this instant.)
//
// The questions must be about the same histogram: the same relation, the same expression, no column and no condition that
// the batch does not have. They must follow from what was measured. So the bounded rows are those of the batch: the same
// rows of each unit count, as Limits states. A question that is barely measured is answered with the large error that it has.
//
// A batch of at most curator.MaxJointConditions conditions without groups and
// sums has no such histogram, and no later questions.
func Later(ctx context.Context, c *curator.Session, measured Batch, questions []string) (*Answer, error) {
	measured.Fresh = false
	g, err := several(ctx, c, measured)
	if err != nil {
		return nil, err
	}
	if g == nil {
		return nil, misuse("ask the questions together, at their price",
			"the earlier questions have too few conditions for a measurement from which others follow")
	}
	e, err := c.ExplainStrategy(ctx, g.strategy)
	if err != nil {
		return nil, err
	}
	if !e.Replayed {
		return nil, misuse("measure them first with --together at the same price; "+
			"a question about rows or columns that have changed since then needs a new measurement",
			"the earlier questions were not measured at this price")
	}
	if _, err := c.Grid(ctx, questions, measured.Request); err != nil { // whose errors number these questions from 1
		return nil, err
	}
	all, err := c.Grid(ctx, slices.Concat(measured.Questions, questions), measured.Request)
	if err != nil || all.SQL != g.grid.SQL {
		return nil, misuse("ask them together, at their price",
			"the questions need other rows, columns or conditions than those that were measured")
	}
	terms := len(g.grid.Answers)
	all.Answers, g.answers, g.grid = all.Answers[terms:], nil, all
	for i := range all.Answers {
		all.Answers[i].Question -= len(measured.Questions)
	}
	err = g.list(func(i int, query [][]float64) (int, error) {
		for t := range terms {
			if g.choice.Measurable.Spans(t, query) {
				return t, nil
			}
		}
		return 0, misuse("ask it together with the others, at a price",
			"question %d does not follow from what was measured", all.Answers[i].Question+1)
	})
	if err != nil {
		return nil, err
	}
	out, err := g.ask(ctx, c)
	if err == nil {
		out.Candidates, out.Bound = out.Candidates[:1], 0 // nothing else is compared for these questions
	}
	return out, err
}
