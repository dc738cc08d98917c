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
	"math/big"
	"slices"

	"dither/curator"
	"dither/mechanism/linear"
	"dither/strategy"
)

// ErrColumn reports a question whose cells a strategy cannot measure.
var ErrColumn = errors.New("answer: invalid column")

// Column is the known values of one ordered key of a question.
type Column struct {
	Values []any         // the values in increasing order unless arranged, without NULL: the cells
	Unit   strategy.Unit // the unit of the question's price

	session     *curator.Session
	request     curator.Request
	null        int   // the place of NULL among the histogram's cells; −1 if the key has none
	places      []int // the place of each value among the histogram's cells
	nonNegative bool
	declared    map[int]int64 // the policy's totals, by the place of the value
	total       *int64        // that of all values; nil for none
	note        string
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
	c := &Column{
		session: session, request: request, null: slices.Index(d.Values[0], nil), Unit: strategy.Epsilon, nonNegative: d.NonNegative,
	}
	for i, v := range d.Values[0] {
		if i != c.null {
			c.Values, c.places = append(c.Values, v), append(c.places, i)
		}
	}
	if d.Price.Rho != "" {
		c.Unit = strategy.Rho
	}
	c.declared, c.note = map[int]int64{}, d.TotalsNote
	for _, t := range d.Totals {
		switch {
		case t.Key == 0:
			c.declared[t.Value] = t.Count
		case c.null < 0: // otherwise rows without a value count in the total
			c.total = &t.Count
		}
	}
	return c, nil
}

// Arrange returns the column with its values in another order, such as counties by state: value j of the result is
// value order[j] of the column. It returns ErrColumn unless order has each index once.
func (c *Column) Arrange(order []int) (*Column, error) {
	each := make([]int, len(c.Values))
	for i := range each {
		each[i] = i
	}
	if !slices.Equal(slices.Sorted(slices.Values(order)), each) {
		return nil, fmt.Errorf("%w: an order has each of the %d values once", ErrColumn, len(c.Values))
	}
	out := *c
	out.Values, out.places = nil, nil
	for _, i := range order {
		out.Values, out.places = append(out.Values, c.Values[i]), append(out.places, c.places[i])
	}
	return &out, nil
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
	if c.null >= 0 {
		columns++
	}
	place := func(j int) int { return c.places[j] }
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

// Choose returns the choice that [Column.MeasureChoice] recorded in the home for a workload and the unit of the price.
// If there is none, it compares strategies.
func (c *Column) Choose(w strategy.Workload) (*strategy.Choice, error) {
	if data := c.session.Choice(c.choiceOf(w)); data != nil {
		if choice, err := strategy.Restore(w, c.Unit, data); err == nil {
			return choice, nil
		}
	}
	return optimise(w, c.Unit)
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
	return c.measure(ctx, s, curator.Choice{})
}

// MeasureChoice measures the chosen strategy as [Column.Measure] does, and records the choice in the home. So later
// calls of [Column.Choose] return the same integers on every computer, and replay the release.
//
// Choices over more cells than strategy.MaxOptimised are not recorded: nothing is optimised there.
func (c *Column) MeasureChoice(ctx context.Context, choice *strategy.Choice) (*Estimate, error) {
	var kept curator.Choice
	if choice.Chosen.Matrix.Columns <= strategy.MaxOptimised {
		data, err := choice.Record()
		if err != nil {
			return nil, err
		}
		kept = curator.Choice{Of: c.choiceOf(choice.Chosen.Workload()), Data: data}
	}
	return c.measure(ctx, choice.Chosen, kept)
}

func (c *Column) measure(ctx context.Context, s *strategy.Strategy, kept curator.Choice) (*Estimate, error) {
	ask, err := c.ask(s)
	if err != nil {
		return nil, err
	}
	ask.Choice = kept
	if kept.Data != nil {
		ask.Also = c.remembered(kept.Data)
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
	if e.given, err = c.given(s, e.unit); err != nil {
		return nil, err
	}
	e.cells, err = e.given.Estimate(measured)
	return e, err
}

// Declared reports whether the policy declares totals that the answers have without error. Expected errors of strategies leave
// them out.
func (c *Column) Declared() bool { return c.total != nil || len(c.declared) > 0 }

// TotalsNote says why some totals of the policy are not used; "" if all are.
func (c *Column) TotalsNote() string { return c.note }

// given returns the strategy with the policy's totals as constants, in units of the cells.
func (c *Column) given(s *strategy.Strategy, unit float64) (*strategy.Strategy, error) {
	cells := map[int]float64{}
	for j, place := range c.places {
		if n, ok := c.declared[place]; ok {
			cells[j] = float64(n) / unit
		}
	}
	var total *float64
	if c.total != nil {
		n := float64(*c.total) / unit
		total = &n
	}
	return s.Given(cells, total)
}
