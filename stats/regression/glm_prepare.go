package regression

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"dither/curator"
	"dither/internal/exact"
	"dither/stats/formula"
	"dither/stats/internal/request"
)

// preparation is the work before a generalized linear model is fitted. It finds the means and spreads by which
// numbers are scaled, and selects terms. Each step has a share of the price.
type preparation struct {
	GLM
	plan              *glmPlan // plan with all terms, at the whole price
	normalise, choose *big.Rat // shares of the price; nil for a step that is not requested
	table             curator.Table
	terms             int // number of terms to select; negative for as many as improve the prediction
	parts             []curator.Request
	rest              curator.Request
}

// choosingShare is the default share of the price for selecting terms.
const choosingShare = "0.2"

// newPreparation divides the price of the plan p among the steps. It spends nothing.
func newPreparation(_ *curator.Session, q GLM, p *glmPlan) (*preparation, error) {
	out := &preparation{GLM: q, plan: p}
	var shares []*big.Rat
	var err error
	if q.Normalise != "" {
		if out.normalise, err = request.Share(q.Normalise); err != nil {
			return nil, err
		}
		shares = append(shares, out.normalise)
	}
	switch {
	case q.Choose == "" && q.ChooseShare != "":
		return nil, request.Misuse("give the number of terms, such as --choose 3",
			"a share of the price for choosing terms needs a number of terms")
	case q.Choose != "" && q.Family != Logistic:
		return nil, request.Misuse("", "only linear and logistic models support choosing terms")
	case q.Choose != "":
		text := q.ChooseShare
		if text == "" {
			text = choosingShare
		}
		if out.choose, err = request.Share(text); err != nil {
			return nil, err
		}
		shares = append(shares, out.choose)
		if out.terms, err = choosable(p.design, q.Choose, 1-p.confidence); err != nil {
			return nil, err
		}
	}
	out.parts, out.rest, err = request.Divide(p.price, shares...)
	return out, err
}

// notes returns notes for an explanation: one for each requested step, with its share of the price.
func (p *preparation) notes() (notes []string) {
	if p.normalise != nil {
		notes = append(notes,
			fmt.Sprintf(
				"%s of the price estimates the means and spreads of the numeric columns, by which they are scaled; "+
					"the stated noise assumes the full price and the declared bounds.", exact.FormatRat(p.normalise)))
	}
	if p.choose != nil {
		n := candidates(p.plan.design, p.terms)
		notes = append(notes,
			fmt.Sprintf(
				"%s of the price chooses terms, by a linear regression on all %d. Intervals allow for the choice "+
					"among %.6g possible coefficients. The stated noise is for a model with all "+
					"terms.", exact.FormatRat(p.choose), len(p.plan.design.Terms), n))
	}
	return notes
}

// fitPrepared prepares a model and fits it for the rest of the price. By composition, all accesses together cost
// the price.
func fitPrepared(ctx context.Context, c *curator.Session, q GLM) (*GLMFit, error) {
	whole, err := decideGLM(c, q)
	if err != nil {
		return nil, err
	}
	p, err := newPreparation(c, q, whole)
	if err != nil {
		return nil, err
	}
	out := &GLMFit{Paid: Paid{Replayed: true}}
	decided, err := p.prepared(ctx, out, true)
	if err != nil {
		return nil, request.Stopped(err, out.IDs...)
	}
	f, err := decided.fit(ctx)
	if err != nil {
		return nil, request.Stopped(err, out.IDs...)
	}
	f.IDs, f.Replayed, f.Price = append(out.IDs, f.IDs...), f.Replayed && out.Replayed, whole.price
	f.Choice, f.Confidence = out.Choice, json.Number(whole.Confidence)
	names := p.numbers(decided.design)
	for _, b := range out.Bounds { // bounds of the numbers in the selected model
		if slices.Contains(names, b.Column) {
			f.Bounds = append(f.Bounds, b)
		}
	}
	if len(f.Bounds) > 0 {
		f.Warnings = append(f.Warnings, "values more than three spreads from a column's mean are clamped to three "+
			"spreads")
	}
	if kept := keptBounds(names, f.Bounds); p.normalise != nil && kept != "" {
		f.Warnings = append(f.Warnings, kept)
	}
	if f.Choice != nil {
		f.Warnings = append(f.Warnings, f.Choice.words())
		// correct each p-value for the number of hypotheses that the selection could have tested
		for i := range f.Coefficients {
			if x := f.Coefficients[i].P; x != nil {
				*x = min(1, *x*f.Choice.Models)
			}
		}
	}
	return f, nil
}

// prepared carries out the steps and plans the model that results from them. If pay is false, it uses only steps
// that were released before, and returns a nil model if one of them was not.
func (p *preparation) prepared(ctx context.Context, out *GLMFit, pay bool) (decided *glmPlan, err error) {
	if p.table, err = request.Table(p.plan.c, p.Table); err != nil {
		return nil, err
	}
	final, formula := p.GLM, p.plan.design.Formula
	if p.normalise != nil {
		if known, err := p.scale(ctx, request.At(p.Request, p.parts[0]), out, pay); err != nil || !known {
			return nil, err
		}
	}
	if p.choose != nil {
		alpha, known := 0.0, false
		if formula, alpha, known,
			err = p.pick(ctx, request.At(p.Request, p.parts[len(p.parts)-1]), out, pay); err != nil || !known {
			return nil, err
		}
		final.Confidence = exact.FormatRat(
			exact.CeilDigits(new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).SetFloat64(alpha)), 15))
	}
	final.Request, final.Formula = request.At(final.Request, p.rest), formula.String()
	final.Normalise, final.Choose, final.ChooseShare = "", "", ""
	return decideGLMWithin(p.plan.c, final, out.Bounds)
}

// possible checks that a preparation can be completed, before an access is paid. The remaining budget must cover
// that access and all later ones, and the policy must permit each of their prices. parts are the prices of the
// steps that remain. The check uses the declared bounds and all terms, because prices depend on neither.
func (p *preparation) possible(ctx context.Context, told *curator.MomentsExplanation, parts []curator.Request) error {
	left := p.plan.price
	sum := new(big.Rat)
	for _, q := range append(slices.Clone(parts), p.rest) {
		price, err := exact.ParseRat(q.Epsilon + q.Rho)
		if err != nil {
			return err
		}
		sum.Add(sum, price)
	}
	if left.Rho != "" {
		left.Rho = exact.FormatRat(sum)
	} else {
		left.Epsilon = exact.FormatRat(sum)
	}
	if err := request.Payable(told.Remaining, left, told.Largest); err != nil {
		return err
	}
	if p.choose != nil && len(parts) > 1 {
		if _, err := p.linear(ctx, request.At(p.Request, parts[1]), nil); err != nil {
			return request.Partly(err)
		}
	}
	last := p.GLM
	last.Request, last.Normalise, last.Choose, last.ChooseShare = request.At(last.Request, p.rest), "", "", ""
	rest, err := decideGLM(p.plan.c, last)
	if err == nil && rest.declared == 0 {
		_, err = p.plan.c.Explain(ctx, rest.count())
	}
	return request.Partly(err)
}

// numbers returns the numeric predictors. It leaves out the response, whose range the loss function determines.
func (p *preparation) numbers(d *formula.Design) []string {
	return slices.DeleteFunc(d.Formula.Numbers(p.table), func(name string) bool { return name == d.Response.Column })
}

// scale finds the means and spreads of the numeric predictors. known is false if that would need a new release and
// pay is false.
func (p *preparation) scale(ctx context.Context, q curator.Request, out *GLMFit, pay bool) (known bool, err error) {
	n, err := newNormaliser(p.table, p.numbers(p.plan.design), p.Where, q, p.plan.price.Rho != "")
	if err != nil || n == nil {
		return true, err
	}
	told, err := p.plan.c.ExplainMoments(ctx, n.of)
	if err != nil {
		return false, request.Partly(err)
	}
	if !told.Replayed {
		if !pay {
			return false, nil
		}
		if err := p.possible(ctx, told, p.parts); err != nil {
			return false, err
		}
	}
	found, m, err := n.find(ctx, p.plan.c)
	if err != nil {
		return false, err
	}
	out.Bounds, out.IDs, out.Replayed = found, append(out.IDs, m.ID), out.Replayed && m.Replayed
	return true, nil
}

// linear returns the linear regression on all terms from which terms are selected.
func (p *preparation) linear(ctx context.Context, q curator.Request, found []formula.Bounds) (l *linear, err error) {
	l = &linear{
		Linear: Linear{
			Request:    q,
			Confidence: p.Confidence,
			Table:      p.table.Name,
			Where:      p.Where,
			Method:     AdaSSP,
		},
		table: p.table,
		found: found,
	}
	if l.alpha, err = request.Confidence(&l.Confidence); err != nil {
		return nil, err
	}
	if l.design, err = p.plan.design.Formula.DesignWith(p.table,
		formula.Options{Found: found, Classes: p.plan.Classes}); err != nil {
		return nil, err
	}
	return l, l.plan(ctx, p.plan.c)
}

// pick selects terms by the sums of a linear regression. Near 0, the coefficients of a logistic model are four
// times those of the linear model, so the same terms explain the response.
func (p *preparation) pick(
	ctx context.Context, q curator.Request, out *GLMFit, pay bool,
) (f formula.Formula, alpha float64, known bool, err error) {
	l, err := p.linear(ctx, q, out.Bounds)
	if err != nil {
		return f, 0, false, request.Partly(err)
	}
	if !l.told.Replayed {
		if !pay {
			return f, 0, false, nil
		}
		if err := p.possible(ctx, l.told, p.parts[len(p.parts)-1:]); err != nil {
			return f, 0, false, err
		}
	}
	m, err := p.plan.c.Moments(ctx, l.vectors)
	if err != nil {
		return f, 0, false, err
	}
	e := l.equations(m)
	e.size = e.noise.norm(plain(len(e.b)), 0)
	set, exhaustive, err := e.choose(l.design, p.terms)
	if err != nil {
		return f, 0, false, err
	}
	out.Choice, alpha = choiceAmong(l.design, set, p.terms, exhaustive, l.alpha)
	out.IDs, out.Replayed = append(out.IDs, m.ID), out.Replayed && m.Replayed
	return chosenOf(l.design, set), alpha, true, nil
}
