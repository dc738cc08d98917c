package regression

import (
	"context"
	"math"
	"strconv"

	"dither/curator"
	"dither/internal/glm"
)

// inside is a model with noise inside the objective: its access and its expected error.
type inside struct {
	ask      curator.Perturbation
	expected float64
	fits     bool // whether a regulariser suits the price, which is in ε
}

// inside returns the access for a model with noise inside the objective. The kernel takes rows as
// the number of rows.
func (p *glmPlan) inside(t glm.Terms, rows int64) inside {
	choice := t.Inside(float64(rows))
	out := inside{expected: choice.Expected, fits: !math.IsInf(choice.Expected, 1)}
	if !out.fits {
		return out
	}
	out.ask = curator.Perturbation{
		Request: p.minimising, Bound: p.Bound, Radius: p.Radius, Regularise: glmDecimal(choice.Regularise), Rows: rows,
		Hessian: strconv.FormatFloat(choice.Share, 'f', -1, 64),
	}
	out.ask.SQL = p.sql
	return out
}

// objective fits the model by a minimum with noise inside the objective.
func (p *glmPlan) objective(ctx context.Context, out *GLMFit, q curator.Perturbation) (*glm.Fit, error) {
	if p.clustered != nil {
		if told, err := p.c.ExplainPerturb(ctx, q); err == nil && !told.Replayed {
			if err := p.covered(told.Price); err != nil {
				return nil, err
			}
		}
	}
	m, err := p.c.Perturb(ctx, q)
	if err != nil {
		return nil, err
	}
	out.IDs, out.Remaining, out.Limits, out.Replayed = append(out.IDs, m.ID), m.Remaining, m.Limits, m.Replayed
	released := glm.Perturbed{Theta: m.Theta(), Regularise: m.Regularise, Bound: m.Bound, SD: m.StdDev}
	_, released.ThetaSD = numbers(&m.Coefficients)
	released.Hessian, released.HessSD = numbers(m.Hessian)
	return p.solver(out.Rows, m.Coefficients.Noise).Inside(released), nil
}

// explainObjective states the noise inside the objective. replayed reports whether the model was released before.
func (p *glmPlan) explainObjective(ctx context.Context, out *GLMExplanation, q curator.Perturbation) (replayed bool, err error) {
	told, err := p.c.ExplainPerturb(ctx, q)
	if err != nil {
		return false, err
	}
	out.StdDev, out.Sensitivity, out.Noise = told.StdDev, told.Sensitivity, "cube"
	return told.Replayed, nil
}
