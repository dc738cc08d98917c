package regression

import (
	"context"
	"math/big"
	"slices"
	"strconv"

	"dither/curator"
	"dither/internal/exact"
	"dither/internal/glm"
	"dither/noise"
	"dither/stats/internal/request"
)

// Methods of a [GLM].
const (
	MethodMinimize = "minimize" // noise on the minimum of a regularised risk
	MethodNewton   = "newton"   // a few steps of Newton's method on noisy sums; logistic models only
	// noise inside a regularised risk; logistic models under a price in ε only
	MethodObjective = "objective"
)

// GLMMethod is a method with the approximate error that its noise adds to a coefficient of a scaled predictor.
type GLMMethod struct {
	Method   string   `json:"method"`
	Expected *float64 `json:"expected_error"` // nil if it was not predicted, or if the policy does not permit the prices of the steps
}

// decideMethod checks the requested method.
func (p *glmPlan) decideMethod() error {
	minimum := p.Regularise != "" || p.Curvature != ""
	switch {
	case !slices.Contains([]string{"", MethodMinimize, MethodNewton, MethodObjective}, p.Method):
		return request.Misuse("", "the method of a %s model must be %s, %s or %s, not %q", p.Family, MethodMinimize,
			MethodNewton, MethodObjective, p.Method)
	case (p.Method == MethodNewton || p.Method == MethodObjective) && p.family != glm.Logistic:
		return request.Misuse("", "only logistic models support the method %s", p.Method)
	case p.Method == MethodNewton && minimum:
		return request.Misuse("", "the method %s has no ridge penalty, and always pays for intervals: leave both out",
			MethodNewton)
	case p.Method == MethodObjective && minimum:
		return request.Misuse("", "the method %s chooses its ridge penalty, and always pays for intervals: leave both out",
			MethodObjective)
	case p.Method == "" && (minimum || p.family != glm.Logistic):
		p.Method = MethodMinimize
	}
	return nil
}

// steps divides the price of the model among the accesses of the steps. They lack θ, except the first, which is at 0.
func (p *glmPlan) steps(price curator.Loss, leverage string, shares glm.Steps) (all []curator.Derivation, err error) {
	for i, gradient := range shares.Gradient {
		hessian := shares.Hessian[i]
		q := curator.Derivation{Bound: p.Bound, Leverage: leverage}
		whole := big.NewRat(int64(gradient+hessian), 100)
		if q.Request, err = request.AtShare(p.minimising, price, whole); err != nil {
			return nil, err
		}
		q.SQL = p.sql
		if hessian > 0 {
			part := big.NewRat(int64(hessian), int64(gradient+hessian))
			q.Hessian = exact.FormatRat(exact.CeilDigits(part, 6))
		}
		q.At = slices.Repeat([]string{"0"}, len(p.design.Columns))
		all = append(all, q)
	}
	return all, nil
}

// refused returns why a step cannot be asked, such as that the policy does not permit so small a price, or nil.
func (p *glmPlan) refused(steps []curator.Derivation) error {
	for _, q := range steps {
		if _, err := p.c.ExplainDerivatives(context.Background(), q); err != nil {
			return err
		}
	}
	return nil
}

// solver returns the solver of the model.
func (p *glmPlan) solver(rows float64, d noise.Distribution) glm.Newton {
	n := glm.Newton{Rows: rows, Intercept: -1}
	n.Radius, _ = p.radius.Float64()
	if p.design.Formula.Intercept {
		n.Intercept = 0
	}
	_, n.Laplace = d.(noise.DiscreteCube)
	return n
}

// sumsOf returns released derivatives at θ as numbers.
func sumsOf(d *curator.Derivatives, theta []float64) glm.Sums {
	s := glm.Sums{Theta: theta}
	s.Gradient, s.GradSD = numbers(&d.Gradient)
	s.Hessian, s.HessSD = numbers(d.Hessian)
	return s
}

// numbers returns the values of a released vector, and the standard deviation of its noise.
func numbers(v *curator.Vector) (x []float64, sd float64) {
	if v == nil {
		return nil, 0
	}
	unit, _ := v.Unit.Float64()
	for _, n := range v.Values {
		f, _ := new(big.Float).SetInt(n).Float64()
		x = append(x, f*unit)
	}
	return x, v.Noise.StdDev() * unit
}

// newton carries out the steps. It checks first that the policy permits all of them, and before the first step that is not
// a replay, that the budget covers what is left.
func (p *glmPlan) newton(ctx context.Context, out *GLMFit, all []curator.Derivation) (*glm.Fit, error) {
	var prices []curator.Loss
	for _, q := range all {
		told, err := p.c.ExplainDerivatives(ctx, q)
		if err != nil {
			return nil, request.Partly(err)
		}
		prices = append(prices, told.Price)
	}
	var released []glm.Sums
	var solver glm.Newton
	out.Replayed = true
	for i, q := range all {
		theta := make([]float64, len(p.design.Columns))
		if i > 0 {
			theta = at(&q, solver.Next(released))
		}
		if out.Replayed {
			if err := p.coveredUnlessReplayed(ctx, q, prices[i:]); err != nil {
				return nil, err
			}
		}
		d, err := p.c.Derivatives(ctx, q)
		if err != nil {
			return nil, err
		}
		solver = p.solver(out.Rows, d.Gradient.Noise)
		released = append(released, sumsOf(d, theta))
		out.IDs, out.Remaining, out.Limits = append(out.IDs, d.ID), d.Remaining, d.Limits
		out.Replayed = out.Replayed && d.Replayed
	}
	return solver.Infer(released), nil
}

// coveredUnlessReplayed returns an error if the step was not released before, and the remaining budget does not cover the
// prices.
func (p *glmPlan) coveredUnlessReplayed(ctx context.Context, q curator.Derivation, prices []curator.Loss) error {
	told, err := p.c.ExplainDerivatives(ctx, q)
	if err != nil || told.Replayed {
		return err
	}
	return p.covered(prices...)
}

// at sets the θ of a step, as decimals, and returns them as numbers.
func at(q *curator.Derivation, theta []float64) []float64 {
	q.At = nil
	for i, x := range theta {
		text := strconv.FormatFloat(x, 'f', 4, 64)
		q.At = append(q.At, text)
		theta[i], _ = strconv.ParseFloat(text, 64)
	}
	return theta
}

// explainNewton states the noise of the last gradient. replayed reports whether all steps were released before.
func (p *glmPlan) explainNewton(
	ctx context.Context, out *GLMExplanation, all []curator.Derivation, rows float64,
) (replayed bool, err error) {
	last, err := p.c.ExplainDerivatives(ctx, all[len(all)-1])
	if err != nil {
		return false, err
	}
	// At θ = 0, where the last step is explained, a row's gradient is at most half of what it is elsewhere.
	unit, _ := last.Gradient.Unit.Float64()
	out.StdDev, out.Sensitivity, out.Noise = 2*last.Gradient.Noise.StdDev()*unit, 2*last.Sensitivity, "discrete Gaussian"
	if _, ok := last.Gradient.Noise.(noise.DiscreteCube); ok {
		out.Noise = "discrete cube"
	}
	var released []glm.Sums
	for i, q := range all {
		theta := make([]float64, len(p.design.Columns))
		if i > 0 {
			theta = at(&q, p.solver(rows, last.Gradient.Noise).Next(released))
		}
		told, err := p.c.ExplainDerivatives(ctx, q)
		if err != nil || !told.Replayed {
			return false, err
		}
		if told, err = p.c.Derivatives(ctx, q); err != nil { // free
			return false, err
		}
		released = append(released, sumsOf(told, theta))
	}
	return true, nil
}
