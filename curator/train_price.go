package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/trainprice"
	"dither/mechanism/learning"
	"dither/noise"
	"dither/privacy"
)

// TrainingExplanation says before a training is paid what it would cost, and its noise.
type TrainingExplanation struct {
	Parameters int                // of the model
	Multiplier string             // of the noise, exact
	Noise      noise.Distribution // of each value of a step, in Units
	Unit       *big.Rat
	Expected   float64 // units in a sample
	Price      Loss
	Recorded   int64 // steps that were recorded of this very training: all is paid already where it was begun
	Begun      bool
}

// ExplainTrain tells what Train would give, free.
func (c *Curator) ExplainTrain(ctx context.Context, q Training) (*TrainingExplanation, error) {
	t, err := c.training(ctx, q)
	if err != nil {
		return nil, c.public(err)
	}
	b, begun, err := t.earlier(q.Fresh)
	if err != nil {
		return nil, c.public(err)
	}
	if !begun {
		if err := t.unsurprising(); !q.Fresh && err != nil {
			return nil, c.public(err)
		}
		if err := c.answerable(t.look); err != nil {
			return nil, err
		}
	}
	return &TrainingExplanation{
		Parameters: t.Parameters, Multiplier: t.Multiplier, Noise: t.noise, Unit: t.unit(), Expected: t.Expected, Price: t.Price, Recorded: int64(len(b.steps)), Begun: begun,
	}, nil
}

func (t *Trainer) unit() *big.Rat { return bounded.GridUnit(t.grid) }

// training decides all that is public.
func (c *Curator) training(ctx context.Context, q Training) (*Trainer, error) {
	usage := func(format string, args ...any) error {
		return &Error{Code: CodeUsage, Message: fmt.Sprintf(format, args...)}
	}
	if q.Steps < 1 || q.Steps > maxSteps {
		return nil, usage("a training has 1 to %d steps", maxSteps)
	}
	t := &Trainer{curator: c, Steps: q.Steps, fresh: q.Fresh}
	var err error
	if t.step.Clip, err = positive("the clip", q.Clip); err != nil {
		return nil, err
	}
	if t.step.Rate, err = exact.ParseRat(q.Rate); err != nil || t.step.Rate.Sign() <= 0 || t.step.Rate.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, usage("the rate of sampling is above 0, and at most 1, as 0.01 or 256/60000, and not %q", q.Rate)
	}
	if c.policy.Budget.Loss.Accountant() == privacy.Pure {
		return nil, &Error{
			Code: CodePolicy, Message: "the budget is an ε alone, and what noisy gradients promise is an ε at a δ: no such budget pays for it",
			Hint: "the owner can give the budget a delta; Minimize fits logistic and Poisson models under an ε alone",
		}
	}
	if c.policy.Population.Neighbours != privacy.AddRemove {
		return nil, &Error{
			Code: CodePolicy, Message: "what a Poisson sample saves is proved for neighbours by adding or removing one, and this policy's are by changing one",
			Hint: "Minimize fits logistic and Poisson models there",
		}
	}
	asked := q.Question
	asked.Epsilon, asked.Rho = "", ""
	if t.data, err = c.regress(asked, q.Bound); err != nil { // what is wrong with it is told before prices are computed
		return nil, err
	}
	if t.data.Unit == nil && t.data.Caps.Rows > 1 {
		return nil, &Error{Code: CodePolicy, Message: "a relation that makes several rows of one unit does not tell which are one unit's", Hint: "ask about one table, or about persons"}
	}
	m := q.Model
	t.step.Model = learning.NewModel(m.Kind, t.data.predictors(), m.Classes, m.Hidden, m.Activation)
	if err := t.step.Model.Check(); err != nil {
		return nil, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	units := q.Rows
	if units == 0 && t.data.Source == nil {
		units = c.policy.Table(t.data.Table).ExpectedRows
	}
	if units < 1 {
		return nil, &Error{Code: CodeUsage, Message: "about how many units there are must be said: the mean of a step is its sum over the rate times that number", Hint: "give Rows (--rows): a number that is known, or that was released; or declare expected_rows"}
	}
	t.needs = c.dependencies(t.data.Tables())
	price, err := t.priced(ctx, q)
	if err != nil {
		return nil, err
	}
	if t.data, err = c.regressAt(asked, q.Bound, price); err != nil {
		return nil, err
	}
	if t.noise, err = t.step.Noise(); err != nil {
		return nil, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	grid, clip, err := t.step.Grid()
	if err != nil {
		return nil, err
	}
	t.grid, t.Parameters, t.Price = grid, t.step.Model.Parameters(), c.loss(price)
	t.Expected, _ = new(big.Rat).Mul(t.step.Rate, new(big.Rat).SetInt64(units)).Float64()
	square := new(big.Int).Mul(big.NewInt(clip), big.NewInt(clip))
	of := fmt.Sprintf("%s, rate %s, %d steps", SubsampledGaussian, exact.FormatRat(t.step.Rate), t.Steps)
	t.look, err = c.decided(t.data, q.Question, price, fmt.Sprintf("%s\nmodel %+v\nclip %s on 2^%d\nmultiplier %s\ncosts %s", of, t.step.Model, exact.FormatRat(t.step.Clip), grid, t.Multiplier, price),
		[]ledger.Mechanism{{Name: of, Sensitivity: square.String(), Scale: exact.FormatRat(t.noise.Sigma2()), Cells: t.Parameters}}, [2]int{})
	if err != nil {
		return nil, err
	}
	t.look.question = SubsampledGaussian + ", " + m.Kind + ": " + q.SQL
	return t, nil
}

// priced fixes the noise, and what all steps cost together.
func (t *Trainer) priced(ctx context.Context, q Training) (privacy.Loss, error) {
	none := privacy.Loss{}
	delta, err := parseDelta(q.Delta)
	if err != nil {
		return none, err
	}
	if delta.IsZero() {
		delta = t.curator.policy.Price.Delta
	}
	if _, most := t.curator.policy.Price.Maximum.ZCDP(); delta.IsZero() || most.IsZero() {
		return none, &Error{
			Code: CodePolicy, Message: "a training is charged a δ beside its ρ, for which this budget keeps none",
			Hint: "the owner can declare budget.selection_delta, of which a question takes price.delta or its own Delta",
		}
	}
	switch {
	case q.Rho != "":
		return none, &Error{Code: CodeUsage, Message: "the price of a training is told in ε at a δ", Hint: "give Epsilon, or Multiplier"}
	case q.Multiplier != "" && q.Epsilon != "":
		return none, &Error{Code: CodeUsage, Message: "of the noise and the price one is given, and the other follows", Hint: "leave Epsilon out, or Multiplier"}
	case q.Multiplier != "":
		if t.step.Multiplier, err = positive("the multiplier", q.Multiplier); err != nil {
			return none, err
		}
	default:
		if t.step.Multiplier, err = t.calibrated(ctx, q, delta); err != nil {
			return none, err
		}
	}
	t.Multiplier = exact.FormatRat(t.step.Multiplier)
	figure, err := trainprice.Epsilon(t.step, t.Steps, delta)
	if errors.Is(err, trainprice.ErrNone) {
		return none, &Error{Code: CodePolicy, Message: "no accountant tells a finite ε of so little noise", Hint: "give a larger Multiplier"}
	}
	if err != nil {
		return none, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	e, err := privacy.EpsilonOf(figure)
	if err != nil {
		return none, err
	}
	return privacy.ZCDPLoss(e.Rho(), delta), nil
}

// calibrated is the least multiplier at which all steps cost Epsilon at δ, or the policy's default price.
func (t *Trainer) calibrated(ctx context.Context, q Training, delta privacy.Delta) (*big.Rat, error) {
	price, err := t.curator.parsePrice(q.Question)
	if err != nil {
		return nil, err
	}
	if price.IsZero() {
		price = t.curator.policy.Price.Default
	}
	z, err := trainprice.Multiplier(ctx, t.step, t.Steps, price.Price(), delta)
	if err != nil {
		if ctx.Err() != nil { // nothing was reserved
			return nil, err
		}
		return nil, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	return z, nil
}
