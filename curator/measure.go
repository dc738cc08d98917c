package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/noise"
)

// Measurements are the noisy vectors that a question is answered from, with the exact distribution of their noise: what
// any later computation starts from, at no cost.
type Measurements struct {
	ID        string   // of the release in the ledger
	Keys      []string // the expressions that name a cell
	Cells     [][]any  // of each cell, its keys' values: nil, int64, float64, string or bool; a date is its text
	Vectors   []Vector
	Price     Loss
	Remaining Loss
	Replayed  bool // from an earlier release, at no cost
}

// Vector is one noisy vector: a count or a sum for every cell.
type Vector struct {
	Name   string
	Values []*big.Int         // by cell, in Units
	Unit   *big.Rat           // of the values: 1 for counts
	Centre *big.Rat           // what was subtracted from each row's value before the sum, in the value's own unit
	Noise  noise.Distribution // of each value independently, in Units
	Loss   Loss               // the vector's share of the price
}

// Measure is the kernel's first primitive: a vector of bounded linear queries, with noise on each number. The question is one
// that Answer takes, and the two replay each other: what is measured is the same, and Answer computes from it.
//
// Its loss is the price by composition: the measures' shares add up to it, each measure's cells are one vector under one
// mechanism (mechanism.Laplace or mechanism.Gaussian), whose sensitivity the plan proves.
func (c *Curator) Measure(ctx context.Context, q Question) (*Measurements, error) {
	a, err := c.ask(q)
	if err != nil {
		return nil, public(err)
	}
	s, err := c.measured(ctx, a)
	if err != nil {
		return nil, err
	}
	out := &Measurements{ID: s.name(), Price: c.loss(a.plan.Price), Replayed: s.replayed}
	for _, k := range a.plan.Keys {
		out.Keys = append(out.Keys, k.Expr.String())
	}
	for i := range s.numbers {
		out.Cells = append(out.Cells, keyValues(a.plan.CellKeys(i)))
	}
	for j, m := range a.plan.Measures {
		v := Vector{Name: m.Name(), Unit: m.Unit(), Centre: m.Units(big.NewInt(m.Centre)), Noise: a.derived.Noise(m), Loss: c.loss(m.Loss)}
		for _, cell := range s.numbers {
			v.Values = append(v.Values, cell[j])
		}
		out.Vectors = append(out.Vectors, v)
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// mechanisms are a plan's, for the ledger.
func mechanisms(p *plan.Plan) (out []ledger.Mechanism) {
	for _, m := range p.Measures {
		sensitivity := m.L1
		if m.Noise == plan.Gaussian {
			sensitivity = m.L2Squared
		}
		out = append(out, ledger.Mechanism{
			Name: string(m.Noise), Sensitivity: sensitivity.String(), Scale: exact.FormatRat(m.Parameter), Cells: p.Cells(),
		})
	}
	return out
}

// measured takes the measures of a question: each measure's cells are one vector under one mechanism.
func (c *Curator) measured(ctx context.Context, a *asked) (*seen, error) {
	return c.take(ctx, a.look, func(ctx context.Context, from engine.Sealed) ([][]*big.Int, error) {
		cells, err := c.engine.Aggregate(ctx, &a.plan.Bounded, from)
		if err != nil {
			return nil, err
		}
		out := make([][]*big.Int, len(cells))
		for j, m := range a.plan.Measures {
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
	})
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
