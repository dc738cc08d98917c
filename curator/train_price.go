package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/release"
	"dither/internal/trainprice"
	"dither/mechanism/learning"
	"dither/noise"
	"dither/privacy"
)

// TrainingExplanation states the price and the noise of a training before it is paid.
type TrainingExplanation struct {
	Parameters int                // the number of parameters of the model
	Multiplier string             // the noise multiplier, exact
	Noise      noise.Distribution // the noise of each value of a step, in units of Unit
	Unit       *big.Rat
	Expected   float64 // the expected number of units in a sample
	Price      Loss
	Recorded   int64 // the number of recorded steps of this training. If Begun is set, the whole price is already paid
	Begun      bool
}

// ExplainTrain returns the price and the noise of [Session.Train], at no cost.
func (c *Session) ExplainTrain(ctx context.Context, q Training) (*TrainingExplanation, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	t, err := c.training(ctx, q)
	if err != nil {
		return nil, c.public(err)
	}
	b, begun, err := t.training.Earlier(q.Fresh)
	if err != nil {
		return nil, c.public(err)
	}
	if !begun {
		if err := t.training.Unsurprising(); !q.Fresh && err != nil {
			return nil, c.public(err)
		}
		if err := c.kernel.Answerable(t.training.Look()); err != nil {
			return nil, c.public(err)
		}
	}
	return &TrainingExplanation{
		Parameters: t.Parameters,
		Multiplier: t.Multiplier,
		Noise:      t.training.Noise(),
		Unit:       t.unit(),
		Expected:   t.Expected,
		Price:      t.Price,
		Recorded:   int64(b.Steps()),
		Begun:      begun,
	}, nil
}

func (t *Trainer) unit() *big.Rat { return bounded.GridUnit(t.training.Grid()) }

// training builds the Trainer from a request, using public information only.
func (c *Session) training(ctx context.Context, q Training) (*Trainer, error) {
	usage := func(format string, args ...any) error {
		return &Error{Code: CodeUsage, Message: fmt.Sprintf(format, args...)}
	}
	if q.Steps < 1 || q.Steps > maxSteps {
		return nil, usage("a training has 1 to %d steps", maxSteps)
	}
	var (
		step learning.NoisyGradient
		err  error
	)
	if step.Clip, err = positive("the clip", q.Clip); err != nil {
		return nil, err
	}
	if step.Rate, err = exact.ParseRat(
		q.Rate,
	); err != nil || step.Rate.Sign() <= 0 ||
		step.Rate.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, usage("the sampling rate must be above 0 and at most 1, such as 0.01 or 256/60000, not %q", q.Rate)
	}
	if c.policy.Budget.Loss.Accountant() == privacy.Pure {
		return nil, &Error{
			Code:    CodePolicy,
			Message: "the budget is a pure ε, but noisy gradients promise an ε at a δ, which such a budget cannot pay for",
			Hint: "ask the owner to give the budget a delta, or fit a logistic or Poisson model with Minimize, " +
				"under a pure ε",
		}
	}
	if c.policy.Population.Neighbours != privacy.AddRemove {
		return nil, &Error{
			Code: CodePolicy,
			Message: "amplification by Poisson sampling is proved for add-remove neighbours, and this policy " +
				"declares change-one",
			Hint: "fit a logistic or Poisson model with Minimize",
		}
	}
	asked := q.Request
	asked.Epsilon, asked.Rho = "", ""
	data, err := c.regress(asked, q.Bound)
	if err != nil { // report errors of the question before the slow computation of the price
		return nil, err
	}
	if data.Unit == nil && data.Caps.Rows > 1 {
		return nil, &Error{
			Code:    CodePolicy,
			Message: "this relation can have several rows of one unit, and does not show which rows belong to one unit",
			Hint:    "ask about one table, or about one row per unit",
		}
	}
	m := q.Model
	step.Model = learning.NewModel(m.Kind, data.Predictors(), m.Classes, m.Hidden, m.Activation)
	if err := step.Model.Check(); err != nil {
		return nil, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	units := q.Rows
	if units == 0 && data.Source == nil {
		units = c.policy.Table(data.Table).ExpectedRows
	}
	if units < 1 {
		return nil, &Error{
			Code: CodeUsage,
			Message: "the approximate number of units is missing: the mean of a step is its sum divided by the " +
				"rate times that number",
			Hint: "give a public or released number as Rows (--rows), or declare expected_rows",
		}
	}
	needs := c.kernel.Dependencies(data.Tables())
	terms, err := c.priced(ctx, q, step)
	if err != nil {
		return nil, err
	}
	if data, err = c.regressAt(asked, q.Bound, terms.Price()); err != nil {
		return nil, err
	}
	by := q.asker()
	by.Question = SubsampledGaussian + ", " + m.Kind + ": " + q.SQL
	t := &Trainer{
		curator:    c,
		Steps:      q.Steps,
		Multiplier: exact.FormatRat(terms.Step().Multiplier),
		Limits:     c.limitsOfRegression(data),
		Price:      c.loss(terms.Price()),
	}
	if t.training, err = c.kernel.Training(data, terms, needs, by); err != nil {
		return nil, err
	}
	t.Parameters = t.training.Parameters()
	t.Expected, _ = new(big.Rat).Mul(step.Rate, new(big.Rat).SetInt64(units)).Float64()
	return t, nil
}

// priced determines the noise multiplier and the price of all steps together.
func (c *Session) priced(ctx context.Context, q Training, step learning.NoisyGradient) (*release.TrainingTerms, error) {
	delta, err := parseDelta(q.Delta)
	if err != nil {
		return nil, err
	}
	if delta.IsZero() {
		delta = c.policy.Price.Delta
	}
	if _, most := c.policy.Price.Maximum.ZCDP(); delta.IsZero() || most.IsZero() {
		return nil, &Error{
			Code: CodePolicy, Message: "a training costs a δ besides its ρ, and the budget reserves no δ for it",
			Hint: "ask the owner to declare budget.selection_delta; a training takes price.delta of it, or its own Delta",
		}
	}
	switch {
	case q.Rho != "":
		return nil, &Error{
			Code:    CodeUsage,
			Message: "the price of a training is an ε at a δ",
			Hint:    "give Epsilon or Multiplier",
		}
	case q.Multiplier != "" && q.Epsilon != "":
		return nil, &Error{
			Code:    CodeUsage,
			Message: "give the noise or the price, not both: each follows from the other",
			Hint:    "leave out Epsilon or Multiplier",
		}
	case q.Multiplier != "":
		if step.Multiplier, err = positive("the multiplier", q.Multiplier); err != nil {
			return nil, err
		}
	default:
		if step.Multiplier, err = c.calibrated(ctx, q, step, delta); err != nil {
			return nil, err
		}
	}
	return release.PriceTraining(step, q.Steps, delta)
}

// calibrated returns the least multiplier at which all steps together cost the question's Epsilon at δ. Without
// Epsilon it uses the policy's default price.
func (c *Session) calibrated(
	ctx context.Context,
	q Training,
	step learning.NoisyGradient,
	delta privacy.Delta,
) (*big.Rat, error) {
	price, err := c.parsePrice(q.Question())
	if err != nil {
		return nil, err
	}
	if price.IsZero() {
		price = c.policy.Price.Default
	}
	z, err := trainprice.Multiplier(ctx, step, q.Steps, price.Price(), delta)
	if err != nil {
		if ctx.Err() != nil { // cancelled by the caller; nothing was reserved
			return nil, err
		}
		return nil, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	return z, nil
}
