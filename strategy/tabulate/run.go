package tabulate

import (
	"context"
	"errors"
	"math"
	"math/big"
	"strings"

	"dither/curator"
	"dither/internal/exact"
	"dither/strategy/table"
)

// Result is a tabulation.
type Result struct {
	Plan      *Plan
	Releases  []string // one for each group of the plan
	Replayed  bool     // everything was returned from earlier releases, at no cost
	Remaining curator.Loss
	MarkBelow int64
	Tables    []TableResult
	// for each measured part of each group: the mean square of the measured numbers' distances from the fit, divided
	// by its expected value
	Residuals [][]float64
}

// TableResult is one table.
type TableResult struct {
	Name, Description string
	From, Where, Sum  string
	Rows, Columns     []string
	Places            string // the name of the hierarchy; "" for none
	Cells             []Cell
}

// Cell is one number of a table.
type Cell struct {
	Level, Place string   // "" and "" in a table without rows
	Values       []string // of the table's columns
	Value        *big.Rat // an integer for counts. The values of all tables add up exactly
	Estimate     float64  // the least-squares estimate
	StdDev       float64  // of Estimate
	// the margin of error around Value: that of the estimate and the distance between the two. It is conservative
	Margin float64
	Marked bool // Value is below MarkBelow
}

// Tabulate measures and fits all tables of a specification. Everything that it measured before, at the same price, is
// replayed at no cost. So after an interruption, repeating the call completes the tabulation: nothing is paid twice.
func Tabulate(ctx context.Context, c *curator.Session, s *Spec, analyst string) (*Result, error) {
	p, err := Explain(ctx, c, s, analyst)
	if err != nil {
		return nil, err
	}
	s = p.spec
	if !p.Affordable {
		return nil, &curator.Error{
			Code:    curator.CodeExhausted,
			Message: "the price, " + p.Price.String() + ", is more than the remaining " + p.Remaining.String(),
			Hint:    "lower the price in the specification",
		}
	}
	r := &Result{Plan: p, Replayed: true, MarkBelow: s.MarkBelow, Tables: make([]TableResult, len(s.Tables))}
	for _, g := range p.groups {
		if err := r.measure(ctx, c, s, g); err != nil {
			return nil, r.stopped(inTables(err, s, g))
		}
	}
	return r, nil
}

// stopped adds the releases that were made before an error to its hint.
func (r *Result) stopped(err error) error {
	var e *curator.Error
	if len(r.Releases) == 0 || !errors.As(err, &e) {
		return err
	}
	told := *e
	told.Hint = strings.TrimPrefix(e.Hint+"; ", "; ") + "the earlier releases (" + strings.Join(r.Releases, ", ") +
		") stay paid, and repeating the tabulation replays them at no cost"
	return &told
}

// measure measures a group, fits its tables and fills them in.
func (r *Result) measure(ctx context.Context, c *curator.Session, s *Spec, g *group) error {
	request, err := g.strategy()
	if err != nil {
		return err
	}
	request.Choice = g.chosen()
	m, err := c.MeasureStrategy(ctx, request)
	if err != nil {
		return err
	}
	r.Releases, r.Replayed, r.Remaining = append(r.Releases, m.ID), r.Replayed && m.Replayed, m.Remaining
	fit, measured, err := g.fit(m)
	if err != nil {
		return err
	}
	r.Residuals = append(r.Residuals, fit.Residuals(measured))
	goals, err := g.goals(s)
	if err != nil {
		return err
	}
	whole, err := table.NewWhole(fit, marginsOf(goals), g.fixed, g.first.Sum != "")
	if err != nil {
		return misuse("tabulate fewer classifications together", "%v", err)
	}
	for n, i := range g.tables {
		if r.Tables[i], err = g.table(s, i, g.of[n], fit, whole, r.Plan.alpha); err != nil {
			return err
		}
	}
	return nil
}

// fit fits the released numbers, in units of the grid.
func (g *group) fit(m *curator.StrategyMeasurement) (*table.Fit, []table.Measured, error) {
	scale := new(big.Rat).Quo(g.unit, g.grid)
	f, _ := scale.Float64()
	noisy := g.noisy()
	var measured []table.Measured
	for i, part := range m.Parts {
		noisy[i].Variance *= f * f
		of := table.Measured{Noisy: noisy[i], Values: make([]float64, len(part.Values))}
		for c, v := range part.Values {
			of.Values[c], _ = new(big.Rat).Mul(scale, new(big.Rat).SetInt(v)).Float64()
		}
		measured = append(measured, of)
	}
	fit, err := table.NewFit(g.space, measured, g.fixed)
	if err != nil {
		return nil, nil, misuse("", "%v", err)
	}
	return fit, measured, nil
}

// table fills in one table.
func (g *group) table(
	s *Spec, i int, of []table.Keys, fit *table.Fit, whole *table.Whole, alpha float64,
) (TableResult, error) {
	t := &s.Tables[i]
	out := TableResult{
		Name: t.Name, Description: t.Description, From: t.From, Where: t.Where, Sum: t.Sum, Rows: t.Rows, Columns: t.Columns,
	}
	if len(t.Rows) > 0 {
		out.Places = g.places.Name
	}
	levels, err := g.levelsOf(s, i)
	if err != nil {
		return out, err
	}
	grid, _ := g.grid.Float64()
	slots := g.slots(s, t, of)
	for _, l := range levels {
		level := g.space.Hierarchy.Levels[l]
		blocks := make([]block, len(of))
		for j, keys := range of {
			m := table.Margin{Level: l, Keys: keys}
			blocks[j] = block{fit.Values(m), whole.Values(m), fit.Variances(m), g.space.Width(keys)}
		}
		for node := range g.space.Hierarchy.Nodes(l) {
			for _, slot := range slots {
				b := blocks[slot.of]
				at := node*b.width + slot.at
				sd := grid * math.Sqrt(math.Max(0, b.variances[at]))
				cell := Cell{
					Values: slot.labels, Estimate: grid * b.estimates[at], StdDev: sd, Margin: g.margin(sd, alpha),
					Value: new(big.Rat).Mul(g.grid, new(big.Rat).SetInt64(b.integers[at])),
				}
				if len(t.Rows) > 0 {
					cell.Level, cell.Place = level.Name, level.Labels[node]
				}
				cell.Margin += math.Abs(float64From(cell) - cell.Estimate)
				cell.Marked = t.Sum == "" && b.integers[at] < s.MarkBelow
				out.Cells = append(out.Cells, cell)
			}
		}
	}
	return out, nil
}

// block is the numbers of a margin. Each place has width cells.
type block struct {
	estimates []float64
	integers  []int64
	variances []float64
	width     int
}

// Text returns the value as a decimal.
func (c *Cell) Text() string { return exact.FormatRat(c.Value) }
