package estimate

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/curator"
	"dither/internal/exact"
)

// The policy may declare the number of units, a public constant (docs/reference/policy.md). The planner decides where it is
// the number of rows of an estimate (curator.MomentsExplanation.DeclaredUnits, curator.Explanation.DeclaredUnits). Then the
// whole price pays for sums, and privacy does not depend on the number: see plan.wholeUnits.

// uncounted returns sums of vectors without their count, if the number of rows is declared. Each sum of one block gets an
// equal part of the count's share, and the others keep theirs. So no sum has more noise than beside a count.
//
// If the sums were released with their count before, it returns them as they are: that release costs nothing.
func uncounted(ctx context.Context, k asker, v curator.Vectors) (curator.Vectors, error) {
	e, err := k.ExplainMoments(ctx, v)
	if err != nil || e.DeclaredUnits == 0 || e.Replayed {
		return v, err
	}
	return withoutCount(v), nil
}

// withoutCount returns the vectors without their count, whose share the sums of one block get.
func withoutCount(v curator.Vectors) curator.Vectors {
	count, firsts := new(big.Rat), int64(0)
	for _, s := range v.Sums {
		switch s.Kind {
		case curator.Count().Kind:
			count.Add(count, weightOf(s))
		case curator.First(0).Kind:
			firsts++
		}
	}
	v.Sums = slices.DeleteFunc(slices.Clone(v.Sums), func(s curator.Sum) bool { return s.Kind == curator.Count().Kind })
	for i, s := range v.Sums {
		if s.Kind == curator.First(0).Kind {
			more := new(big.Rat).Quo(count, big.NewRat(firsts, 1))
			v.Sums[i] = s.Weighing(exact.FormatRat(more.Add(more, weightOf(s))))
		}
	}
	return v
}

// weightOf returns the weight of a sum that this package made.
func weightOf(s curator.Sum) *big.Rat {
	if s.Weight == "" {
		return big.NewRat(1, 1)
	}
	w, err := exact.ParseDecimal(s.Weight)
	if err != nil {
		panic(err) // the weights are constants of this package
	}
	return w
}

// counts reports whether the vectors have a count.
func counts(v curator.Vectors) bool {
	return slices.ContainsFunc(v.Sums, func(s curator.Sum) bool { return s.Kind == curator.Count().Kind })
}

// notesUnits adds a note to the plan if the question v has no count, because the number of rows is declared.
func (p *Plan) notesUnits(e *curator.MomentsExplanation, v curator.Vectors) {
	if e.DeclaredUnits > 0 && !counts(v) {
		p.Notes = append(p.Notes, fmt.Sprintf("The policy declares the number of units, %s. It is public, and has no noise: the "+
			"whole price pays for the sums.", curator.Thousands(e.DeclaredUnits)))
	}
}

// spreadPlan plans variances as VAR_SAMP, if the planner measures each by a spread over a declared number of rows: one number
// has the whole share of a variance, and its noise does not depend on the rows. It returns nil if there is no such plan.
func spreadPlan(ctx context.Context, k asker, s Sample, p *Plan, names []string) *Plan {
	items := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		items[i] = "VAR_SAMP(" + c + ")"
	}
	e, err := k.Explain(ctx, s.asking(s.sql(true, items...)))
	if err != nil || e.DeclaredUnits == 0 || slices.ContainsFunc(e.Columns, func(c curator.Column) bool {
		return c.Expected == nil || math.IsNaN(c.Expected.StdDev) // the error of a variance from sums is not known
	}) {
		return nil
	}
	out, err := answerPlan(ctx, k, s, p, items, names)
	if err != nil {
		return nil
	}
	return out
}
