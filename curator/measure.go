package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/derive"
	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/mechanism"
	"dither/noise"
)

// Measurements are the noisy vectors that a question is answered from, with the exact distribution of their noise: what
// any later computation starts from, at no cost.
type Measurements struct {
	ID        string   // of the release in the ledger
	Keys      []string // the expressions that name a cell, in an order of their own: whichever the question named first, it is the same release
	Grouped   []int    // of each expression of GROUP BY, in the question's order, its place among Keys
	Cells     [][]any  // of each cell, its keys' values: nil, int64, float64, string or bool; a date is its text. nil also where it is a total
	Vectors   []Vector
	RowsBound *RowsBound // where the bound on rows was found; else nil
	Price     Loss
	Remaining Loss
	Replayed  bool // from an earlier release, at no cost
}

// Vector is one noisy vector: a count or a sum for every cell.
type Vector struct {
	Name   string             // "sum", "count", or "distinct" of a count of distinct values
	Of     string             // the expression that is added up, as plans write it: an operation and its arguments in parentheses; of a count, what is not NULL in the rows that count, or ""
	Values []*big.Int         // by cell, in Units
	First  int                // the cell of the first value; not 0 where several groupings have vectors of their own
	Unit   *big.Rat           // of the values: 1 for counts
	Centre *big.Rat           // what was subtracted from each row's value before the sum, in the value's own unit
	Bounds [2]*big.Rat        // the least and the largest value of a row, likewise, before Centre was subtracted
	Noise  noise.Distribution // of each value independently, in Units
	Loss   Loss               // the vector's share of the price
}

// Measure is the kernel's first primitive: a vector of bounded linear queries, with noise on each number. The question is one
// that Answer takes, and the two replay each other: what is measured is the same, and Answer computes from it.
//
// Its loss is the price by composition: the measures' shares add up to it, each measure's cells are one vector under one
// mechanism (mechanism.Laplace or mechanism.Gaussian), whose sensitivity the plan proves.
func (c *Curator) Measure(ctx context.Context, q Question) (*Measurements, error) {
	ctx = c.arrives(ctx)
	a, err := c.ask(q)
	if err != nil {
		return nil, c.public(err)
	}
	if len(a.plan.Quantiles)+len(a.plan.Modes) > 0 {
		return nil, &Error{Code: CodeUsage, Message: "Measure gives sums and counts, and no quantiles or modes", Hint: "use Answer, or Rank"}
	}
	s, err := c.measured(ctx, a)
	if err != nil {
		return nil, err
	}
	return c.measurements(a, s)
}

// measurements are what was released of a question.
func (c *Curator) measurements(a *asked, s *seen) (_ *Measurements, err error) {
	out := &Measurements{ID: s.name(), Grouped: a.plan.Grouped, RowsBound: c.rowsBound(a), Price: c.loss(a.plan.Price), Replayed: s.replayed}
	for _, k := range a.plan.Keys {
		out.Keys = append(out.Keys, k.Expr.String())
	}
	if a.plan.Other {
		out.Keys = append(out.Keys, plan.OtherName)
	}
	for _, g := range a.plan.Groupings() {
		first, n, keys := len(out.Cells), len(s.numbers), a.plan.CellKeys // of groups that were not known, those that were released
		if a.plan.Sets != nil {
			n, keys = g.Cells(&a.plan.Statement), func(i int) []value.Value { return g.CellKeys(&a.plan.Statement, i) }
		}
		for i := range n {
			out.Cells = append(out.Cells, keyValues(keys(i)))
		}
		for j, m := range g.Measures {
			d, err := derive.NoiseOf(m)
			if err != nil {
				return nil, c.after(s, err)
			}
			v := Vector{Name: m.Name(), First: first, Unit: m.Unit(), Centre: m.Units(big.NewInt(m.Centre)), Noise: d, Loss: c.loss(m.Loss)}
			if m.Kind == bounded.Sum || m.Kind == bounded.CountValue {
				v.Of = m.X.String()
			}
			if m.Kind == bounded.CountDistinct { // which is no count of rows
				v.Name, v.Of = "distinct", m.X.String()
			}
			for i, end := range []int64{m.Lo, m.Hi} {
				v.Bounds[i] = m.Units(new(big.Int).Add(big.NewInt(end), big.NewInt(m.Centre)))
			}
			for _, cell := range s.numbers[first:len(out.Cells)] {
				v.Values = append(v.Values, cell[j])
			}
			out.Vectors = append(out.Vectors, v)
		}
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// mechanisms are a plan's, for the ledger.
func mechanisms(p *plan.Plan) (out []ledger.Mechanism) {
	for _, m := range histograms(p) {
		out = append(out, measureMechanism(m, maxBins))
	}
	known := map[mechanismOfMeasure]ledger.Mechanism{} // of measures that have the very same numbers
	for _, g := range p.Groupings() {
		cells := p.MaxChosen()
		if !p.Open() {
			cells = g.Cells(&p.Statement)
		}
		for _, m := range g.Measures {
			key := mechanismOfMeasure{m.Noise, m.L1, m.L2Squared, m.Parameter}
			found, ok := known[key]
			if !ok {
				found = measureMechanism(m, cells)
				known[key] = found
			}
			found.Cells = cells
			out = append(out, found)
		}
	}
	return append(out, orderMechanisms(p)...)
}

// mechanismOfMeasure is what measureMechanism writes of a measure.
type mechanismOfMeasure struct {
	noise         plan.Noise
	l1, l2Squared *big.Int
	parameter     *big.Rat
}

// measureMechanism is a measure's noise on so many cells.
func measureMechanism(m *plan.Measure, cells int) ledger.Mechanism {
	sensitivity := m.L1
	if m.Noise == plan.Gaussian {
		sensitivity = m.L2Squared
	}
	return ledger.Mechanism{Name: string(m.Noise), Sensitivity: sensitivity.String(), Scale: exact.FormatRat(m.Parameter), Cells: cells}
}

// measured takes the measures of a question: each measure's cells are one vector under one mechanism. Quantiles and modes follow.
func (c *Curator) measured(ctx context.Context, a *asked) (*seen, error) {
	if a.look.groups != nil {
		return c.openly(ctx, a)
	}
	s, err := c.take(ctx, a.look, func(ctx context.Context, from engine.Sealed) ([][]*big.Int, error) {
		planned, err := c.withRows(ctx, a, from)
		if err != nil {
			return nil, err
		}
		if len(planned.Measures) == 0 { // quantiles and modes alone
			out := make([][]*big.Int, planned.Released())
			return out, c.takeOrders(ctx, planned, from, out)
		}
		p, bounds, err := c.search(ctx, planned, from)
		if err != nil {
			return nil, err
		}
		cells, err := c.engine.Aggregate(ctx, &p.Statement, from)
		if err != nil {
			return nil, err
		}
		var out [][]*big.Int
		for _, g := range p.Groupings() {
			over, err := c.cellsOver(ctx, p, g, cells, from)
			if err != nil {
				return nil, err
			}
			rows, err := noisyRows(g.Measures, over)
			if err != nil {
				return nil, err
			}
			out = append(out, rows...)
		}
		if err := c.takeOrders(ctx, planned, from, out); err != nil {
			return nil, err
		}
		return append(bounds, out...), nil
	})
	if err != nil {
		return nil, err
	}
	if err := c.settleRows(a, s); err != nil {
		return nil, err
	}
	return s, c.settle(a, s)
}

// noisyRows are the cells of one grouping with the noise of its measures.
func noisyRows(measures []*plan.Measure, cells [][]mechanism.Exact) ([][]*big.Int, error) {
	out := make([][]*big.Int, len(cells))
	for j, m := range measures {
		noisy, err := noisily(m, column(cells, j))
		if err == nil {
			err = measuredAsPlanned(m, noisy)
		}
		if err != nil {
			return nil, err
		}
		for i, v := range noisy.Values {
			out[i] = append(out[i], v)
		}
	}
	return out, nil
}

// column is one measure's cells.
func column(cells [][]mechanism.Exact, j int) []mechanism.Exact {
	out := make([]mechanism.Exact, len(cells))
	for i := range cells {
		out[i] = cells[i][j]
	}
	return out
}

// noisily runs the mechanism that the plan chose for a measure, on its vector of cells.
func noisily(m *plan.Measure, vector []mechanism.Exact) (mechanism.Measurement, error) {
	if m.Noise == plan.Gaussian {
		rho, _ := m.Loss.ZCDP()
		return mechanism.Gaussian{L2Squared: m.L2Squared, Rho: rho}.Measure(vector)
	}
	e, pure := m.Loss.Pure()
	if !pure { // no Laplace mechanism is planned under ρ
		return mechanism.Measurement{}, mechanism.ErrParameter
	}
	return mechanism.Laplace{Sensitivity: m.L1, Epsilon: e}.Measure(vector)
}

// name is a release's, in the ledger.
func (s *seen) name() string { return fmt.Sprintf("r%d", s.id) }
