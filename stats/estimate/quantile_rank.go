package estimate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"dither/curator"
	"dither/stats/internal/request"
)

// rankMechanisms maps a method to the curator's name of its mechanism.
var rankMechanisms = map[string]string{
	MethodIndependent: curator.EachQuantile, MethodRecursive: curator.RecursiveQuantiles,
	MethodLadder: curator.LadderQuantiles, MethodJoint: curator.JointQuantiles,
}

// ranking returns the curator's request for quantiles by a method that draws them in order.
func (s *Sample) ranking(method string, ranks []string) curator.Quantiles {
	return curator.Quantiles{
		Request: s.requesting(s.sql(false, s.Columns[0])), Confidence: s.Confidence, At: ranks,
		Mechanism: rankMechanisms[method],
	}
}

// ordered enters an access of a quantile mechanism in the plan: its price, and the note that it has no interval.
func (p *Plan) ordered(sql, confidence string, e *curator.OrderExplanation, note string) error {
	p.Accesses = []Access{{SQL: sql, What: p.Method + " quantiles", Price: e.Price}}
	p.Price, p.Remaining, p.Affordable, p.Replayed = e.Price, e.Remaining, e.Affordable, e.Replayed
	p.Confidence, p.Notes = confidence, append(p.Notes, note)
	_, err := request.Confidence(&p.Confidence)
	return err
}

func planRank(ctx context.Context, k asker, s Sample, p *Plan, ranks []string) (*Plan, error) {
	asked := s.ranking(p.Method, ranks)
	e, err := k.ExplainRank(ctx, asked)
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("The %s method has no intervals: its error depends on how often values repeat, which nothing "+
		"public bounds.", p.Method)
	p.WithoutIntervals = p.Method != MethodLadder
	switch p.Method {
	case MethodLadder:
		note = "Each interval contains its quantile of the bounded rows with probability 0.95, for all data."
	case MethodIndependent:
		note = "The whole price pays for the values, so there are no intervals."
	}
	if err := p.ordered(asked.SQL, s.Confidence, e, note); err != nil {
		return nil, err
	}
	if alpha, err := request.Confidence(&s.Confidence); p.Method == MethodLadder {
		if err != nil {
			return nil, err
		}
		if alpha < 0.05-1e-9 {
			return nil, request.Misuse("use the method "+MethodIndependent,
				"intervals of the method %s have confidence %s", MethodLadder, curator.LadderConfidence)
		}
		p.Confidence = curator.LadderConfidence
	}
	p.run = func(ctx context.Context) (*Result, error) {
		r, err := k.Rank(ctx, asked)
		if err != nil {
			return nil, err
		}
		out := &Result{
			Confidence: p.Confidence, Releases: []string{r.ID}, Price: []curator.Loss{r.Price},
			Limits: r.Limits, Remaining: r.Remaining, Replayed: r.Replayed,
		}
		for i, v := range inOrder(r.Values) {
			of := Value{Name: quantileName(s.Columns[0], ranks[i]), Value: v}
			if len(r.Intervals) > 0 { // Values are in order then
				of.Low, of.High = r.Intervals[i].Low, r.Intervals[i].High
			}
			out.Values = append(out.Values, of)
		}
		return out, nil
	}
	return p, nil
}

// inOrder returns the quantiles in ascending order, as their ranks are.
func inOrder(values []*curator.Number) []*curator.Number {
	out := slices.Clone(values)
	slices.SortStableFunc(out, func(a, b *curator.Number) int {
		if a == nil || b == nil || a.Real == b.Real {
			return 0
		}
		return int(math.Copysign(1, a.Real-b.Real))
	})
	return out
}

func planSmooth(ctx context.Context, k asker, s Sample, p *Plan, ranks []string) (*Plan, error) {
	if len(ranks) != 1 || ranks[0] != "0.5" {
		return nil, request.Misuse("use the rank 0.5", "the smooth method supports only the median")
	}
	q := s.requesting(s.sql(false, s.Columns[0]))
	e, err := k.ExplainSmooth(ctx, q)
	if err != nil {
		return nil, err
	}
	p.WithoutIntervals = true
	if err := p.ordered(q.SQL, s.Confidence, e,
		"The smooth method has no interval: the scale of its noise is computed from the rows, and is "+
			"secret."); err != nil {
		return nil, err
	}
	p.run = func(ctx context.Context) (*Result, error) {
		m, err := k.Smooth(ctx, q)
		if err != nil {
			return nil, err
		}
		return &Result{
			Confidence: p.Confidence, Releases: []string{m.ID}, Price: []curator.Loss{m.Price}, Remaining: m.Remaining,
			Limits: m.Limits, Replayed: m.Replayed,
			Values: []Value{{Name: quantileName(s.Columns[0], "0.5"), Value: m.Value}},
		}, nil
	}
	return p, nil
}
