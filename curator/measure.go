package curator

import (
	"context"
	"math/big"

	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/seal"
	"dither/mechanism"
)

// rehearse runs the question over made-up rows. One that fails there is refused before it costs anything, and before any
// row is read: that is a defect of the plan, which the owner is told of.
func (c *Curator) rehearse(ctx context.Context, a *asked) error {
	err := c.engine.Rehearse(ctx, &a.plan.Bounded)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	c.tellOwner(err)
	return &Error{
		Code: CodePolicy, Message: "the question cannot be evaluated for every possible row",
		Hint: "please report it, with the policy and the question; ask it in another way",
	}
}

// tellOwner hands over what an engine said.
func (c *Curator) tellOwner(err error) {
	if c.options.OwnerErrors != nil {
		c.options.OwnerErrors(err)
	}
}

// reserve charges the price of a, with its mechanisms and their parameters.
func (c *Curator) reserve(a *asked) (uint64, error) {
	r := ledger.Reservation{
		Key: a.key, Policy: c.policy.Digest(), Loss: a.plan.Price, Question: a.SQL,
		Sources: []ledger.Source{{Table: a.table.Table, Version: a.table.Number}},
	}
	for _, m := range a.plan.Measures {
		sensitivity := m.L1
		if m.Noise == plan.Gaussian {
			sensitivity = m.L2Squared
		}
		r.Mechanisms = append(r.Mechanisms, ledger.Mechanism{
			Name: string(m.Noise), Sensitivity: sensitivity.String(), Scale: exact.FormatRat(m.Parameter), Cells: a.plan.Cells(),
		})
	}
	return c.ledger.Reserve(r)
}

// measure runs the bounded aggregate and adds noise: each measure's cells are one vector under one mechanism. By
// composition the measures together cost the sum of their shares, in ε or in ρ, which is the price.
func (c *Curator) measure(ctx context.Context, a *asked) ([][]*big.Int, error) {
	timeout := c.options.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cells, err := c.engine.Aggregate(ctx, &a.plan.Bounded, known(a.table))
	if err != nil {
		return nil, err
	}
	out := make([][]*big.Int, len(cells))
	for j, m := range a.plan.Measures {
		vector := make([]mechanism.Exact, len(cells))
		for i := range cells {
			vector[i] = cells[i][j]
		}
		noisy, err := noisily(m, vector)
		if err != nil {
			return nil, err
		}
		for i, v := range noisy.Values {
			out[i] = append(out[i], v)
		}
	}
	return out, nil
}

// known is a sealed version with what was recorded when it was sealed.
func known(v seal.Version) engine.Sealed {
	out := engine.Sealed{File: v.File, OneRowEach: v.Facts.MaxRowsPerUnit <= 1, Complete: map[string]bool{}}
	for _, c := range v.Facts.Columns {
		out.Complete[c.Name] = c.Nulls == 0 && c.Special == 0
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
