package golden

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dither/curator"
)

// All that the goldens know of the program, but for its plans, stands in this file: how a home is opened, how each kind of question is asked, and
// which of what comes back are figures.

// ask is a question as the goldens keep it.
type ask struct {
	Do  string `json:"do,omitempty"` // "" is answer
	SQL string `json:"sql,omitempty"`

	Epsilon    string `json:"epsilon,omitempty"`
	Rho        string `json:"rho,omitempty"`
	Within     string `json:"within,omitempty"`
	At         string `json:"at,omitempty"`
	Confidence string `json:"confidence,omitempty"`
	MaxGroups  int64  `json:"max_groups,omitempty"`
	MaxRows    string `json:"max_rows,omitempty"`
	Delta      string `json:"delta,omitempty"`
	MinUnits   int64  `json:"min_units,omitempty"`
	Other      bool   `json:"other,omitempty"`
	Group      int64  `json:"group,omitempty"`
	Analyst    string `json:"analyst,omitempty"`
	Whole      bool   `json:"whole,omitempty"`
	Combine    bool   `json:"combine,omitempty"`

	// Follows says that the question is answered from others' releases: it is asked of the old home alone.
	Follows bool `json:"follows,omitempty"`

	Mechanism  string      `json:"mechanism,omitempty"`
	Best       int         `json:"best,omitempty"`
	Ranks      []string    `json:"ranks,omitempty"`
	Loss       string      `json:"loss,omitempty"`
	Bound      string      `json:"bound,omitempty"`
	Radius     string      `json:"radius,omitempty"`
	Regularise string      `json:"regularise,omitempty"`
	Curvature  string      `json:"curvature,omitempty"`
	Rows       int64       `json:"rows,omitempty"`
	Candidates [][2]string `json:"candidates,omitempty"`
	Trials     float64     `json:"trials,omitempty"`
	Plain      bool        `json:"plain,omitempty"` // a line without intervals
	Blocks     []block     `json:"blocks,omitempty"`
	Sums       []sum       `json:"sums,omitempty"`
	Centres    [][]float64 `json:"centres,omitempty"`
	Table      string      `json:"table,omitempty"`
	Threshold  string      `json:"threshold,omitempty"`
	Above      int         `json:"above,omitempty"`
	Most       int64       `json:"most,omitempty"`
	Values     bool        `json:"values,omitempty"`
	Stream     []string    `json:"stream,omitempty"`
	Model      string      `json:"model,omitempty"`
	Classes    int         `json:"classes,omitempty"`
	Hidden     int         `json:"hidden,omitempty"`
	Activation string      `json:"activation,omitempty"`
	Clip       string      `json:"clip,omitempty"`
	Rate       string      `json:"rate,omitempty"`
	Multiplier string      `json:"multiplier,omitempty"`
	Steps      int64       `json:"steps,omitempty"`
	Taken      int64       `json:"taken,omitempty"` // of the steps, before the home was closed
}

type block struct {
	Size  int    `json:"size"`
	Norm  string `json:"norm"`
	Bound string `json:"bound"`
}

type sum struct {
	Kind   string `json:"kind"`
	I      int    `json:"i,omitempty"`
	J      int    `json:"j,omitempty"`
	Weight string `json:"weight,omitempty"`
}

// figures are what a question gave: a JSON object.
type figures = map[string]any

func open(t testing.TB, home string) *curator.Curator {
	t.Helper()
	c, err := curator.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (a ask) question(fresh bool) curator.Question {
	return curator.Question{
		SQL: a.SQL, Epsilon: a.Epsilon, Rho: a.Rho, Within: a.Within, At: a.At, Confidence: a.Confidence, MaxGroups: a.MaxGroups, MaxRows: a.MaxRows, Delta: a.Delta,
		MinUnits: a.MinUnits, Other: a.Other, Group: a.Group, Analyst: a.Analyst, Whole: a.Whole, Combine: a.Combine, Fresh: fresh,
	}
}

// explained is what is foretold of a question, free: nothing that depends on what the ledger has.
func explained(ctx context.Context, c *curator.Curator, a ask) (figures, error) {
	q := a.question(true)
	q.Combine = false
	e, err := c.Explain(ctx, q)
	if err != nil {
		return nil, err
	}
	out := object(e)
	for _, not := range []string{"sql", "notes", "remaining", "affordable", "largest_epsilon", "replayed", "reuse"} {
		delete(out, not)
	}
	return plain(out)
}

// given is what came of a question: its figures, the name of its release, and whether it was free.
type given struct {
	figures  figures
	release  string
	replayed bool
}

// asks are the ways of asking, by name.
var asks = map[string]func(context.Context, *curator.Curator, ask, bool) (given, error){
	"": func(ctx context.Context, c *curator.Curator, a ask, fresh bool) (given, error) {
		r, err := c.Answer(ctx, a.question(fresh))
		if err != nil {
			return given{}, err
		}
		out := object(r)
		for _, not := range []string{"sql", "release", "remaining", "replayed"} {
			delete(out, not)
		}
		return given{out, r.ID, r.Replayed}, nil
	},
	"measure": func(ctx context.Context, c *curator.Curator, a ask, fresh bool) (given, error) {
		m, err := c.Measure(ctx, a.question(fresh))
		if err != nil {
			return given{}, err
		}
		var vectors []any
		for _, v := range m.Vectors {
			vectors = append(vectors, vector(v))
		}
		return given{figures{"cells": m.Cells, "vectors": vectors, "price": m.Price, "rows_bound": m.RowsBound}, m.ID, m.Replayed}, nil
	},
	"select": func(ctx context.Context, c *curator.Curator, a ask, fresh bool) (given, error) {
		s, err := c.Select(ctx, curator.Selection{Question: a.question(fresh), Best: a.Best, Mechanism: a.Mechanism})
		if err != nil {
			return given{}, err
		}
		return given{figures{"best": s.Best, "mechanism": s.Mechanism, "sensitivity": s.Sensitivity, "shortfall": s.Shortfall, "price": s.Price}, s.ID, s.Replayed}, nil
	},
	"rank": func(ctx context.Context, c *curator.Curator, a ask, fresh bool) (given, error) {
		r, err := c.Rank(ctx, curator.Quantiles{Question: a.question(fresh), At: a.Ranks, Mechanism: a.Mechanism})
		if err != nil {
			return given{}, err
		}
		return given{figures{"values": r.Values, "mechanism": r.Mechanism, "rank_error": r.RankError, "price": r.Price}, r.ID, r.Replayed}, nil
	},
	"smooth": func(ctx context.Context, c *curator.Curator, a ask, fresh bool) (given, error) {
		m, err := c.Smooth(ctx, a.question(fresh))
		if err != nil {
			return given{}, err
		}
		return given{figures{"value": m.Value, "price": m.Price}, m.ID, m.Replayed}, nil
	},
	"moments": func(ctx context.Context, c *curator.Curator, a ask, fresh bool) (given, error) {
		v := curator.Vectors{Question: a.question(fresh), Centres: a.Centres}
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
	"minimize": func(ctx context.Context, c *curator.Curator, a ask, fresh bool) (given, error) {
		m, err := c.Minimize(ctx, curator.Minimisation{
			Question: a.question(fresh), Loss: a.Loss, Bound: a.Bound, Radius: a.Radius, Regularise: a.Regularise, Rows: a.Rows, Curvature: a.Curvature,
		})
		if err != nil {
			return given{}, err
		}
		out := figures{
			"coefficients": solved(m.Coefficients), "sensitivity": m.Sensitivity, "tolerance": m.Tolerance, "regularise": m.Regularise, "radius": m.Radius,
			"bound": m.Bound, "theta": m.Theta(), "price": m.Price,
		}
		if m.Hessian != nil {
			out["hessian"], out["products"] = solved(*m.Hessian), solved(*m.Products)
		}
		return given{out, m.ID, m.Replayed}, nil
	},
	"search": func(ctx context.Context, c *curator.Curator, a ask, fresh bool) (given, error) {
		q := curator.MinimumSearch{Question: a.question(fresh), Bound: a.Bound, Rows: a.Rows, Trials: a.Trials}
		for _, one := range a.Candidates {
			q.Candidates = append(q.Candidates, curator.MinimumCandidate{Regularise: one[0], Radius: one[1]})
		}
		m, err := c.SearchMinimum(ctx, q)
		if err != nil {
			return given{}, err
		}
		return given{figures{
			"best": m.Best, "coefficients": solved(m.Coefficients), "correct": solved(m.Correct), "trials": m.Trials, "missed": m.Missed, "trial": m.Trial, "price": m.Price,
		}, m.ID, m.Replayed}, nil
	},
	"line": func(ctx context.Context, c *curator.Curator, a ask, fresh bool) (given, error) {
		l, err := c.FitLine(ctx, curator.LineQuestion{Question: a.question(fresh), Rows: a.Rows, WithoutIntervals: a.Plain})
		if err != nil {
			return given{}, err
		}
		return given{figures{
			"x": l.X, "y": l.Y, "middle": l.Middle, "slope": l.Slope, "height": l.Height, "draws": l.Draws, "thinned": l.Thinned, "price": l.Price,
		}, l.ID, l.Replayed}, nil
	},
	"above": func(ctx context.Context, c *curator.Curator, a ask, _ bool) (given, error) {
		s, err := c.Above(ctx, curator.Threshold{
			Table: a.Table, Threshold: a.Threshold, Above: a.Above, Epsilon: a.Epsilon, Rho: a.Rho, Analyst: a.Analyst, Most: a.Most, Values: a.Values,
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
	"train": func(ctx context.Context, c *curator.Curator, a ask, fresh bool) (given, error) {
		out, recorded, err := train(ctx, c, a, a.Taken, fresh)
		return given{out, "", recorded >= a.Taken}, err
	},
}

// train takes steps of a training, downhill at a fixed rate, and tells how many were recorded before.
func train(ctx context.Context, c *curator.Curator, a ask, to int64, fresh bool) (figures, int64, error) {
	t, err := c.Train(ctx, curator.Training{
		Question: a.question(fresh), Model: curator.TrainedModel{Kind: a.Model, Classes: a.Classes, Hidden: a.Hidden, Activation: a.Activation},
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
	return figures{"parameters": t.Parameters, "multiplier": t.Multiplier, "expected": t.Expected, "price": t.Price, "steps": steps}, recorded, nil
}

// answered asks a question, and gives its figures with what the ledger has of it by then. A refusal is figures too: its code, and where.
func answered(ctx context.Context, c *curator.Curator, home string, a ask, fresh bool) (given, error) {
	before, err := logged(home)
	if err != nil {
		return given{}, err
	}
	way, ok := asks[a.Do]
	if !ok {
		return given{}, fmt.Errorf("no way to %s", a.Do)
	}
	g, refused := way(ctx, c, a, fresh)
	if refused != nil {
		var e *curator.Error
		if !errors.As(refused, &e) || e.Charged {
			return given{}, refused
		}
		g = given{figures: refusal(refused)}
	}
	entries, err := before.since(home)
	if err != nil {
		return given{}, err
	}
	charged := []any{}
	for _, e := range entries {
		if e.Kind == "reserve" {
			charged = append(charged, reserved(e.Body))
		}
	}
	g.figures["charged"] = charged
	g.figures, err = plain(g.figures)
	return g, err
}

// refusal is a refusal's figures.
func refusal(err error) figures {
	var e *curator.Error
	if !errors.As(err, &e) {
		return figures{"refused": err.Error()}
	}
	return figures{"refused": string(e.Code), "at": []int{e.Line, e.Column}}
}

// reserved is what a reservation says but for its question and its tables' policy, which are the home's.
func reserved(body json.RawMessage) any {
	out := figures{}
	_ = json.Unmarshal(body, &out)
	delete(out, "question")
	delete(out, "policy")
	return out
}

// entry is a line of the ledger.
type entry struct {
	Kind string          `json:"kind"`
	Body json.RawMessage `json:"body"`
}

// log is how long a home's ledger is.
type log int64

func logged(home string) (log, error) {
	info, err := os.Stat(filepath.Join(home, "ledger.log"))
	if err != nil {
		return 0, err
	}
	return log(info.Size()), nil
}

// since are the entries that were added.
func (l log) since(home string) (out []entry, err error) {
	text, err := tail(filepath.Join(home, "ledger.log"), int64(l))
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		if len(line) == 0 || err != nil {
			break
		}
		var e entry
		err = json.Unmarshal(line, &e)
		out = append(out, e)
	}
	return out, err
}

func tail(file string, from int64) ([]byte, error) {
	f, err := os.Open(file) //nolint:gosec // in the test's own home
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() == from {
		return nil, err
	}
	out := make([]byte, info.Size()-from)
	_, err = f.ReadAt(out, from)
	return out, err
}

// account is what a home's budget says, but for dates.
func account(c *curator.Curator) (figures, error) {
	b, err := c.Budget()
	if err != nil {
		return nil, err
	}
	out := figures{
		"population": b.Population, "neighbours": b.Neighbours, "budget": b.Budget, "spent": b.Spent, "answers": b.Answers, "failures": b.Failures,
		"lost": b.Lost, "persons": b.Persons, "analysts": b.Analysts, "divided": b.Divided,
	}
	if b.Period == nil {
		out["remaining"], out["largest"] = b.Remaining, b.Largest
	} else {
		out["per"] = b.Period.Per
	}
	return plain(out)
}

func vector(v curator.Vector) any {
	out := figures{"name": v.Name, "of": v.Of, "values": texts(v.Values), "first": v.First, "unit": v.Unit.RatString(), "stddev": v.Noise.StdDev(), "share": v.Loss}
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

func object(v any) figures {
	text, err := json.Marshal(v)
	if err != nil {
		return figures{"json": err.Error()}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	out := figures{}
	if err := decoder.Decode(&out); err != nil {
		return figures{"json": err.Error()}
	}
	return out
}

// replayable are the kinds of question that are replayed when they are asked again.
func (a ask) replayable() bool { return !slices.Contains([]string{"above", "train"}, a.Do) }
