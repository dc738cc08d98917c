package stats

import (
	"context"
	"fmt"
	"math/big"

	"dither/curator"
	"dither/internal/exact"
)

// preparation is what is found for a generalized linear model before it is fitted, each for a share of its price: by what its numbers are scaled, and of which terms it is.
type preparation struct {
	GLM
	plan              *glmPlan // at the whole price, of all terms
	normalise, choose *big.Rat // the shares; nil for none
	terms             int      // how many are chosen; below 0 as many as are worth it
	parts             []curator.Question
	rest              curator.Question
}

// choosingShare is of the price, where nobody says.
const choosingShare = "0.2"

// newPreparation divides the price. It spends nothing.
func newPreparation(_ *curator.Curator, q GLM, p *glmPlan) (*preparation, error) {
	out := &preparation{GLM: q, plan: p}
	var shares []*big.Rat
	var err error
	if q.Normalise != "" {
		if out.normalise, err = shareOf(q.Normalise); err != nil {
			return nil, err
		}
		shares = append(shares, out.normalise)
	}
	switch {
	case q.Choose == "" && q.ChooseShare != "":
		return nil, designError("say how many: --choose 3", "a share of the price chooses terms where they are to be chosen")
	case q.Choose != "" && q.Family != Logistic:
		return nil, designError("", "terms are chosen for linear and logistic models")
	case q.Choose != "":
		text := q.ChooseShare
		if text == "" {
			text = choosingShare
		}
		if out.choose, err = shareOf(text); err != nil {
			return nil, err
		}
		shares = append(shares, out.choose)
		if out.terms, err = p.design.choosable(q.Choose, 1-p.confidence); err != nil {
			return nil, err
		}
	}
	out.parts, out.rest, err = divided(p.price, shares...)
	return out, err
}

// notes foretell it.
func (p *preparation) notes() (notes []string) {
	if p.normalise != nil {
		notes = append(notes, fmt.Sprintf("%s of the price finds the numbers' means and spreads, by which they are scaled; the noise is what all of it would give with the declared bounds.", exact.FormatRat(p.normalise)))
	}
	if p.choose != nil {
		n := p.plan.design.candidates(p.terms)
		notes = append(notes, fmt.Sprintf("%s of the price chooses terms, by a linear regression on all %d; intervals will hold for whatever is chosen, of the %.6g coefficients that there might be. The noise is that of all terms.", exact.FormatRat(p.choose), len(p.plan.design.terms), n))
	}
	return notes
}

// fitPrepared prepares a model, and fits it for what is left of the price. All looks together cost the price, by composition; that all of it can be paid is made sure of before the
// first, unless that was taken before.
func fitPrepared(ctx context.Context, c *curator.Curator, q GLM) (*GLMFit, error) {
	whole, err := decideGLM(c, q)
	if err != nil {
		return nil, err
	}
	p, err := newPreparation(c, q, whole)
	if err != nil {
		return nil, err
	}
	table, err := tableOf(c, q.Table)
	if err != nil {
		return nil, err
	}
	out := &GLMFit{Replayed: true}
	formula, parts := whole.design.Formula, p.parts
	if p.normalise != nil {
		if err := p.scale(ctx, table, at(q.Question, parts[0]), out); err != nil {
			return nil, err
		}
		parts = parts[1:]
	}
	final, alpha := q, 0.0
	if p.choose != nil {
		if formula, alpha, err = p.pick(ctx, table, at(q.Question, parts[0]), p.normalise == nil, out); err != nil {
			return nil, stopped(err, out.IDs...)
		}
		final.Confidence = exact.FormatRat(exact.CeilDigits(new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).SetFloat64(alpha)), 15))
	}
	final.Question, final.Formula = at(final.Question, p.rest), formula.String()
	final.Normalise, final.Choose, final.ChooseShare = "", "", ""
	decided, err := decideGLMWithin(c, final, out.Bounds)
	if err != nil {
		return nil, stopped(err, out.IDs...)
	}
	f, err := decided.fit(ctx)
	if err != nil {
		return nil, stopped(err, out.IDs...)
	}
	f.IDs, f.Replayed, f.Price = append(out.IDs, f.IDs...), f.Replayed && out.Replayed, whole.price
	f.Bounds, f.Choice, f.Confidence = out.Bounds, out.Choice, whole.Confidence
	if len(f.Bounds) > 0 {
		f.Warnings = append(f.Warnings, "values beyond three spreads about a number's mean count as at them")
	}
	if f.Choice != nil {
		f.Warnings = append(f.Warnings, f.Choice.words())
		for i := range f.Coefficients { // as many hypotheses were there to be tested
			if x := f.Coefficients[i].P; x != nil {
				*x = min(1, *x*f.Choice.Models)
			}
		}
	}
	return f, nil
}

// scale finds means and spreads.
func (p *preparation) scale(ctx context.Context, t curator.Table, q curator.Question, out *GLMFit) error {
	n, err := newNormaliser(t, numbersOf(p.plan.design.Formula, t), p.Where, q, p.plan.price.Rho != "")
	if err != nil || n == nil {
		return err
	}
	c := p.plan.c
	told, err := c.ExplainMoments(ctx, n.of)
	if err == nil {
		err = payable(told, p.plan.price)
	}
	if err != nil {
		return err
	}
	found, m, err := n.find(ctx, c)
	if err != nil {
		return err
	}
	for _, b := range found { // what a response is, the loss says
		if b.Column != p.plan.design.Response.Name {
			out.Bounds = append(out.Bounds, b)
		}
	}
	out.IDs, out.Replayed = append(out.IDs, m.ID), out.Replayed && m.Replayed
	return nil
}

// pick chooses terms by the sums of a linear regression: near to 0, a logistic model's coefficients are four times those of the linear one, and what one explains the other does.
func (p *preparation) pick(ctx context.Context, t curator.Table, q curator.Question, first bool, out *GLMFit) (Formula, float64, error) {
	c := p.plan.c
	l := &linear{Linear: Linear{Question: q, Table: t.Name, Where: p.Where, Method: AdaSSP}, table: t, found: out.Bounds}
	var err error
	if l.alpha, err = confidenceOf(&l.Confidence); err != nil {
		return Formula{}, 0, err
	}
	if l.design, err = p.plan.design.Formula.within(t, out.Bounds, p.plan.Classes, false); err != nil {
		return Formula{}, 0, err
	}
	if err := l.plan(ctx, c); err != nil {
		return Formula{}, 0, err
	}
	if first {
		if err := payable(l.told, p.plan.price); err != nil {
			return Formula{}, 0, err
		}
	}
	m, err := c.Moments(ctx, l.vectors)
	if err != nil {
		return Formula{}, 0, err
	}
	e := l.equations(m)
	e.size = e.noise.norm(plain(len(e.b)), 0)
	set, exhaustive, err := e.choose(l.design, p.terms)
	if err != nil {
		return Formula{}, 0, err
	}
	alpha := 0.0
	out.Choice, alpha = l.design.choice(set, p.terms, exhaustive, l.alpha)
	out.IDs, out.Replayed = append(out.IDs, m.ID), out.Replayed && m.Replayed
	return l.design.chosen(set), alpha, nil
}
