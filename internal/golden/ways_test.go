package golden

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"

	"dither/curator"
)

// asks are the ways of asking, by name.
var asks = map[string]func(context.Context, *curator.Owner, ask, bool) (given, error){
	"": func(ctx context.Context, c *curator.Owner, a ask, fresh bool) (given, error) {
		q := a.question(fresh)
		q.Group = 0 // which explained takes: an answer says nothing of a group
		r, err := c.Answer(ctx, q)
		if err != nil {
			return given{}, err
		}
		out := object(r)
		for _, not := range []string{"sql", "release", "remaining", "replayed"} {
			delete(out, not)
		}
		return given{out, r.ID, r.Replayed}, nil
	},
	"measure": func(ctx context.Context, c *curator.Owner, a ask, fresh bool) (given, error) {
		m, err := c.Measure(ctx, a.question(fresh))
		if err != nil {
			return given{}, err
		}
		var vectors []any
		for _, v := range m.Vectors {
			vectors = append(vectors, vector(v))
		}
		return given{
			figures{"cells": m.Cells, "vectors": vectors, "price": m.Price, "rows_bound": m.RowsBound},
			m.ID,
			m.Replayed,
		}, nil
	},
	"select": func(ctx context.Context, c *curator.Owner, a ask, fresh bool) (given, error) {
		s, err := c.Select(ctx, curator.Selection{Request: a.request(fresh), Confidence: a.Confidence, Best: a.Best, Mechanism: a.Mechanism})
		if err != nil {
			return given{}, err
		}
		return given{figures{
			"best": s.Best, "mechanism": s.Mechanism, "sensitivity": s.Sensitivity,
			"shortfall": s.Shortfall, "price": s.Price,
		}, s.ID, s.Replayed}, nil
	},
	"rank": func(ctx context.Context, c *curator.Owner, a ask, fresh bool) (given, error) {
		r, err := c.Rank(ctx, curator.Quantiles{Request: a.request(fresh), Confidence: a.Confidence, At: a.Ranks, Mechanism: a.Mechanism})
		if err != nil {
			return given{}, err
		}
		return given{
			figures{"values": r.Values, "mechanism": r.Mechanism, "rank_error": r.RankError, "price": r.Price},
			r.ID, r.Replayed,
		}, nil
	},
	"smooth": func(ctx context.Context, c *curator.Owner, a ask, fresh bool) (given, error) {
		m, err := c.Smooth(ctx, a.request(fresh))
		if err != nil {
			return given{}, err
		}
		return given{figures{"value": m.Value, "price": m.Price}, m.ID, m.Replayed}, nil
	},
	"moments": func(ctx context.Context, c *curator.Owner, a ask, fresh bool) (given, error) {
		v := curator.Vectors{Request: a.request(fresh), Centres: a.Centres}
		for _, b := range a.Blocks {
			v.Blocks = append(v.Blocks, curator.Block{Size: b.Size, Norm: b.Norm, Bound: b.Bound})
		}
		for _, s := range a.Sums {
			v.Sums = append(v.Sums, curator.Sum{Kind: s.Kind, I: s.I, J: s.J, Weight: s.Weight})
		}
		m, err := c.Moments(ctx, v)
		if err != nil {
			return given{}, err
		}
		var sums []any
		for _, s := range m.Sums {
			one := figures{"name": s.Name, "unit": s.Unit.RatString(), "stddev": s.Noise.StdDev(), "share": s.Loss}
			var cells []any
			for _, row := range s.Values {
				cells = append(cells, texts(row))
			}
			if one["values"] = cells; s.OffDiagonal != nil {
				one["off_diagonal"] = s.OffDiagonal.StdDev()
			}
			sums = append(sums, one)
		}
		return given{figures{"cells": m.Cells, "sums": sums, "price": m.Price}, m.ID, m.Replayed}, nil
	},
	"minimize": func(ctx context.Context, c *curator.Owner, a ask, fresh bool) (given, error) {
		m, err := c.Minimize(ctx, curator.Minimisation{
			Request: a.request(fresh), Loss: a.Loss, Bound: a.Bound, Radius: a.Radius, Regularise: a.Regularise,
			Rows: a.Rows, Curvature: a.Curvature,
		})
		if err != nil {
			return given{}, err
		}
		out := figures{
			"coefficients": solved(m.Coefficients), "sensitivity": m.Sensitivity, "tolerance": m.Tolerance,
			"regularise": m.Regularise, "radius": m.Radius,
			"bound": m.Bound, "theta": m.Theta(), "price": m.Price,
		}
		if m.Hessian != nil {
			out["hessian"], out["products"] = solved(*m.Hessian), solved(*m.Products)
		}
		return given{out, m.ID, m.Replayed}, nil
	},
	"search": func(ctx context.Context, c *curator.Owner, a ask, fresh bool) (given, error) {
		q := curator.MinimumSearch{Request: a.request(fresh), Bound: a.Bound, Rows: a.Rows, Trials: a.Trials}
		for _, one := range a.Candidates {
			q.Candidates = append(q.Candidates, curator.MinimumCandidate{Regularise: one[0], Radius: one[1]})
		}
		m, err := c.SearchMinimum(ctx, q)
		if err != nil {
			return given{}, err
		}
		return given{figures{
			"best": m.Best, "coefficients": solved(m.Coefficients), "correct": solved(m.Correct), "trials": m.Trials,
			"missed": m.Missed, "trial": m.Trial, "price": m.Price,
		}, m.ID, m.Replayed}, nil
	},
	"line": func(ctx context.Context, c *curator.Owner, a ask, fresh bool) (given, error) {
		l, err := c.FitLine(ctx, curator.LineQuestion{Request: a.request(fresh), Rows: a.Rows, WithoutIntervals: a.Plain})
		if err != nil {
			return given{}, err
		}
		return given{figures{
			"x": l.X, "y": l.Y, "middle": l.Middle, "slope": l.Slope, "height": l.Height, "draws": l.Draws,
			"thinned": l.Thinned, "price": l.Price,
		}, l.ID, l.Replayed}, nil
	},
	"above": func(ctx context.Context, c *curator.Owner, a ask, _ bool) (given, error) {
		s, err := c.Above(ctx, curator.Threshold{
			Table: a.Table, Threshold: a.Threshold, Above: a.Above, Epsilon: a.Epsilon, Rho: a.Rho, Analyst: a.Analyst,
			Most: a.Most, Values: a.Values,
		})
		if err != nil {
			return given{}, err
		}
		var verdicts []any
		for _, sql := range a.Stream {
			v, err := s.Ask(ctx, sql)
			if err != nil {
				verdicts = append(verdicts, refusal(err))
				continue
			}
			verdicts = append(verdicts, figures{"above": v.Above, "gap": v.Gap, "value": v.Value, "left": v.Left})
		}
		return given{figures{"accuracy": s.Accuracy, "verdicts": verdicts, "price": s.Price}, "", false}, nil
	},
	"train": func(ctx context.Context, c *curator.Owner, a ask, fresh bool) (given, error) {
		out, recorded, err := train(ctx, c, a, a.Taken, fresh)
		return given{out, "", recorded >= a.Taken}, err
	},
}

// train takes steps of a training, downhill at a fixed rate, and tells how many were recorded before.
func train(ctx context.Context, c *curator.Owner, a ask, to int64, fresh bool) (figures, int64, error) {
	t, err := c.Train(ctx, curator.Training{
		Request: a.request(fresh), Delta: a.Delta, Model: curator.TrainedModel{
			Kind: a.Model, Classes: a.Classes, Hidden: a.Hidden,
			Activation: a.Activation,
		},
		Bound: a.Bound, Clip: a.Clip, Rate: a.Rate, Multiplier: a.Multiplier, Steps: a.Steps, Rows: a.Rows,
	})
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = t.Close() }()
	recorded := t.Recorded()
	theta := make([]float64, t.Parameters)
	for i := range theta {
		theta[i] = float64(i%3) / 8 // a network whose parameters are all 0 learns nothing
	}
	var steps []any
	for t.Done() < to {
		replays := t.Done() < recorded
		g, err := t.Step(ctx, theta)
		if err != nil {
			return nil, recorded, err
		}
		if g.Replayed != replays {
			return nil, recorded, fmt.Errorf("step %d: replayed %v, want %v", g.Step, g.Replayed, replays)
		}
		steps = append(steps, figures{"values": numbers(g.Values), "unit": g.Unit.RatString(), "stddev": g.Noise.StdDev()})
		for i, m := range g.Mean {
			theta[i] -= m / 4
		}
	}
	return figures{
		"parameters": t.Parameters, "multiplier": t.Multiplier, "expected": t.Expected, "price": t.Price,
		"steps": steps,
	}, recorded, nil
}

func vector(v curator.Vector) any {
	out := figures{
		"name": v.Name, "of": v.Of, "values": texts(v.Values), "first": v.First, "unit": v.Unit.RatString(),
		"stddev": v.Noise.StdDev(), "share": v.Loss,
	}
	if v.Centre != nil {
		out["centre"] = v.Centre.RatString()
	}
	if v.Bounds[0] != nil {
		out["bounds"] = []string{v.Bounds[0].RatString(), v.Bounds[1].RatString()}
	}
	return out
}

// solved is a vector that a solver in floating point had a part in: its numbers are compared within their rounding.
func solved(v curator.Vector) any {
	out := figures{"values": numbers(v.Values), "unit": v.Unit.RatString(), "share": v.Loss}
	if v.Noise != nil {
		out["stddev"] = v.Noise.StdDev()
	}
	return out
}

// texts are integers to be compared exactly.
func texts(all []*big.Int) (out []string) {
	for _, n := range all {
		out = append(out, n.String())
	}
	return out
}

// numbers are integers to be compared as numbers.
func numbers(all []*big.Int) (out []json.Number) {
	for _, n := range all {
		out = append(out, json.Number(n.String()))
	}
	return out
}
