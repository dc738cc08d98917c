// Package answer measures a strategy on a column of a curator's table, and computes the answers of its workload with
// their errors.
//
// The kernel computes the sensitivity from the integers of the strategy's matrix, and adds the noise. What follows is
// computed from the release alone, so it costs nothing: answers to other questions about the same cells too.
package answer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/curator"
	"dither/mechanism/linear"
	"dither/noise"
	"dither/strategy"
)

// ErrColumn reports a question whose cells a strategy cannot measure.
var ErrColumn = errors.New("answer: invalid column")

// Column is the known values of one ordered key of a question.
type Column struct {
	Values []any         // the values in increasing order, without NULL: the cells
	Unit   strategy.Unit // the unit of the question's price

	session *curator.Session
	request curator.Request
	null    int // the place of NULL among the histogram's cells; −1 if the key has none
}

// Open returns the column of a question SELECT COUNT(*) FROM t WHERE … GROUP BY key, or of one with SUM(x). It must
// have one key, and the key's values must be known. Open spends nothing, and reads no row of a table with units. It
// returns ErrColumn for another number of keys, and the curator's errors.
func Open(ctx context.Context, session *curator.Session, request curator.Request) (*Column, error) {
	d, err := session.Domain(ctx, request)
	if err != nil {
		return nil, err
	}
	if len(d.Values) != 1 {
		return nil, fmt.Errorf("%w: the question must have one key in GROUP BY, whose values are the cells; it has %d",
			ErrColumn, len(d.Values))
	}
	c := &Column{session: session, request: request, null: slices.Index(d.Values[0], nil), Unit: strategy.Epsilon}
	for i, v := range d.Values[0] {
		if i != c.null {
			c.Values = append(c.Values, v)
		}
	}
	if d.Price.Rho != "" {
		c.Unit = strategy.Rho
	}
	return c, nil
}

// ask returns the curator's request for a strategy. A cell for NULL is not measured.
func (c *Column) ask(s *strategy.Strategy) (curator.Strategy, error) {
	switch {
	case s.Matrix.Columns != len(c.Values):
		return curator.Strategy{}, fmt.Errorf("%w: the strategy has %d cells, and the key has %d values",
			ErrColumn, s.Matrix.Columns, len(c.Values))
	case s.Unit != c.Unit:
		return curator.Strategy{}, fmt.Errorf("%w: the strategy is for a price in another unit", ErrColumn)
	}
	columns := len(c.Values)
	place := func(j int) int { return j }
	if c.null >= 0 {
		columns++
		place = func(j int) int {
			if j >= c.null {
				return j + 1
			}
			return j
		}
	}
	rows := make([][]linear.Run, len(s.Matrix.Rows))
	for i, r := range s.Matrix.Rows {
		for k := 0; k < len(r.Entries); {
			end, from := k+1, place(r.First+k)
			for end < len(r.Entries) && r.Entries[end] == r.Entries[k] && place(r.First+end) == from+end-k {
				end++
			}
			if r.Entries[k] != 0 {
				rows[i] = append(rows[i], linear.Run{From: from, To: from + end - k, Value: r.Entries[k]})
			}
			k = end
		}
	}
	m, err := linear.NewMatrix(columns, rows)
	if err != nil {
		return curator.Strategy{}, err
	}
	queries, err := linear.NewStrategy(linear.Product{m})
	if err != nil {
		return curator.Strategy{}, err
	}
	return curator.Strategy{
		Request: c.request, Parts: []curator.StrategyPart{{Keys: []int{0}, Queries: queries}},
	}, nil
}

// optimise compares strategies. Tests replace it by one whose floats round differently.
var optimise = strategy.Choose

// Choose returns the choice that [Column.Keep] recorded in the home for a workload and the unit of the price, or compares
// strategies if there is none.
func (c *Column) Choose(w strategy.Workload) (*strategy.Choice, error) {
	if data := c.session.Choice(c.choiceOf(w)); data != nil {
		if choice, err := strategy.Restore(w, c.Unit, data); err == nil {
			return choice, nil
		}
	}
	return optimise(w, c.Unit)
}

// Keep records a choice of [Column.Choose] in the home, and returns the recorded one. So later measurements use the same
// integers on every computer, and replay their release.
//
// Choices over more cells than strategy.MaxOptimised are not recorded: nothing is optimised there.
func (c *Column) Keep(choice *strategy.Choice) (*strategy.Choice, error) {
	if choice.Chosen.Matrix.Columns > strategy.MaxOptimised {
		return choice, nil
	}
	data, err := choice.Record()
	if err != nil {
		return nil, err
	}
	w := choice.Chosen.Workload()
	kept, err := strategy.Restore(w, c.Unit, c.session.KeepChoice(c.choiceOf(w), data))
	if err != nil {
		return choice, nil //nolint:nilerr // a damaged record is no reason to refuse a measurement
	}
	return kept, nil
}

// choiceOf determines the workload and the unit.
func (c *Column) choiceOf(w strategy.Workload) string {
	return fmt.Sprintf("one column 1\nunit %d\n%s", c.Unit, w.Digest())
}

// Explain states the price and the noise of a measurement. It spends nothing.
func (c *Column) Explain(ctx context.Context, s *strategy.Strategy) (*curator.StrategyExplanation, error) {
	ask, err := c.ask(s)
	if err != nil {
		return nil, err
	}
	return c.session.ExplainStrategy(ctx, ask)
}

// Measure measures a strategy, which must have a column for each value and the unit of the price. The same strategy
// and request replay their release.
func (c *Column) Measure(ctx context.Context, s *strategy.Strategy) (*Estimate, error) {
	ask, err := c.ask(s)
	if err != nil {
		return nil, err
	}
	m, err := c.session.MeasureStrategy(ctx, ask)
	if err != nil {
		return nil, err
	}
	part := m.Parts[0]
	e := &Estimate{
		ID: m.ID, Column: c, Strategy: s, Limits: m.Limits, Price: m.Price, Remaining: m.Remaining, Replayed: m.Replayed,
		noise: part.Noise,
	}
	e.unit, _ = part.Unit.Float64()
	measured := make([]float64, len(part.Values))
	for i, v := range part.Values {
		measured[i], _ = new(big.Float).SetInt(v).Float64()
	}
	e.cells, err = s.Estimate(measured)
	return e, err
}

// Estimate is the cells of a column, estimated from one release by least squares. All answers agree with each other.
type Estimate struct {
	ID               string
	Column           *Column
	Strategy         *strategy.Strategy
	Limits           *curator.Limits // what bounds the release
	Price, Remaining curator.Loss
	Replayed         bool

	cells []float64 // in units of unit
	unit  float64
	noise noise.Distribution // of each measurement, in units of unit
}

// Answer is an estimated linear query.
type Answer struct {
	Value     float64
	Deviation float64 // the standard deviation of the noise
	Low, High float64 // a confidence interval around the bounded answer, for the noise alone
}

// Answer returns the estimate of Σ_j query[j]·x_j, with an interval of the given confidence, between 0 and 1. The
// interval is valid for every single query that does not depend on the release: its half-width bounds a quantile of
// the exact distribution of the noise (noise.Combination).
func (e *Estimate) Answer(query []float64, confidence float64) (Answer, error) {
	if !(confidence > 0 && confidence < 1) {
		return Answer{}, fmt.Errorf("%w: the confidence must be between 0 and 1", ErrColumn)
	}
	weights, err := e.Strategy.Weights(query)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	for j, v := range query {
		a.Value += v * e.cells[j]
	}
	var off noise.Combination
	times := map[float64]float64{}
	for _, w := range weights {
		times[math.Abs(w)]++
	}
	sizes := make([]float64, 0, len(times))
	for w := range times {
		sizes = append(sizes, w)
	}
	slices.Sort(sizes)
	for _, w := range sizes {
		off.Add(w, e.noise, times[w])
	}
	a.Value *= e.unit
	a.Deviation = off.StdDev() * e.unit
	half := off.Quantile(1-confidence) * e.unit
	a.Low, a.High = a.Value-half, a.Value+half
	return a, nil
}

// Answers returns the answers of the strategy's workload, in the order of [strategy.Workload.All].
func (e *Estimate) Answers(confidence float64) ([]Answer, error) {
	var out []Answer
	for q := range e.Strategy.Workload().All() {
		a, err := e.Answer(q.Coefficients(len(e.cells)), confidence)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}
