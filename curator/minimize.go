package curator

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/derive"
	"dither/internal/release"
	"dither/mechanism/learning"
	"dither/noise"
)

// Loss functions that a [Minimisation] may name.
const (
	LogisticLoss = string(learning.LogisticLoss) // the logistic loss of a response from 0 to 1
	PoissonLoss  = string(learning.PoissonLoss)  // the Poisson loss of a count; Radius × Bound may be 30 at most
	HuberLoss    = string(learning.HuberLoss)    // quadratic for residuals up to Width, and linear beyond
)

// Minimisation asks for the coefficients θ that minimise a regularised empirical risk over the rows of a question:
// SELECT x1, x2, …, y FROM t WHERE …. Rows with a NULL in the SELECT list do not count. Numbers are decimals in
// text.
type Minimisation struct {
	Request
	Loss  string // the name of a loss function
	Width string // the width, for HuberLoss only
	// the bound of the predictors' L2 norm: a longer vector is scaled down to it. "" takes the norm that the ranges
	// of the predictors imply
	Bound  string
	Radius string // the radius of the ball that contains the coefficients
	// the ridge penalty, added to the risk of all rows together. A larger one means less noise, and coefficients closer
	// to 0
	Regularise string
	// Rows is the approximate number of rows: a released number, or 0 for the number that the policy declares. If the
	// table has more rows, the ridge penalty grows in proportion. The privacy guarantee does not depend on Rows.
	Rows int64
	// Curvature is the share of the price for the two sums that intervals are computed from, a decimal below 1. ""
	// releases neither sum.
	Curvature string
}

// Minimum is a released minimum. Each coefficient has noise of a known distribution.
type Minimum struct {
	ID           string
	Names        []string // the names of the predictors
	Coefficients Vector
	// Hessian is the sum of ℓ″·xxᵀ over the rows, and Products the sum of (ℓ′)²·xxᵀ, without the ridge penalty. Here x
	// is a row's vector of predictors. ℓ′ and ℓ″ are the first and second derivatives of the row's loss with respect to
	// its linear prediction, at the coefficients that Theta returns. Each holds the lower triangle, row by row. Both
	// are nil unless Curvature asked for them.
	Hessian, Products *Vector
	// Sensitivity is the largest L2 distance between the minima of neighbouring datasets. Tolerance is the largest
	// L2 distance of the solver's result from the true minimum. Both depend on public parameters only. Regularise
	// and Radius are as requested; Bound is the bound of the predictors' norm.
	Sensitivity, Tolerance    float64
	Regularise, Radius, Bound float64
	Limits                    *Limits // what bounds the release
	Price, Remaining          Loss
	Replayed                  bool
}

// Theta returns the released coefficients in their own units, projected onto the ball of the given Radius. This is
// post-processing.
func (m *Minimum) Theta() []float64 { return m.Coefficients.within(m.Radius) }

// within returns the values in their own units, scaled down to a norm of at most radius.
func (v *Vector) within(radius float64) []float64 {
	unit, _ := v.Unit.Float64()
	out, length := make([]float64, len(v.Values)), 0.0
	for i, n := range v.Values {
		f, _ := new(big.Float).SetInt(n).Float64()
		out[i] = f * unit
		length = math.Hypot(length, out[i])
	}
	if length > radius {
		for i := range out {
			out[i] *= radius / length
		}
	}
	return out
}

// Minimize releases the minimum of a convex risk over the rows, with noise. The noise covers the largest change by
// one unit, the solver's tolerance and the rounding to the grid (learning.Minimiser has the proof). The two sums
// for Curvature are bounded contributions, evaluated at the coefficients already released, with independent noise.
// So the shares of the price add up.
func (c *Session) Minimize(ctx context.Context, q Minimisation) (*Minimum, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	ctx = c.kernel.Arrives(ctx)
	m, err := c.minimisation(q)
	if err != nil {
		return nil, c.public(err)
	}
	s, err := c.take(ctx, m)
	if err != nil {
		return nil, err
	}
	return c.minimised(m, s)
}

// ExplainMinimize returns, free, what [Session.Minimize] would: everything but the values, the ID and what remains.
// Replayed reports whether it was released before.
func (c *Session) ExplainMinimize(_ context.Context, q Minimisation) (*Minimum, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	m, err := c.minimisation(q)
	if err != nil {
		return nil, c.public(err)
	}
	s := &release.Released{}
	if s.Replayed, err = c.kernel.Explicable(m.Look()); err != nil {
		return nil, c.public(err)
	}
	out, err := c.told(m, s)
	if err != nil {
		return nil, c.public(err)
	}
	out.ID = ""
	return out, nil
}

// minimisation builds the access from a request, using public information only.
func (c *Session) minimisation(q Minimisation) (*release.Minimum, error) {
	r, err := c.regress(q.Request, q.Bound)
	if err != nil {
		return nil, err
	}
	o, err := c.objective(r, q)
	if err != nil {
		return nil, err
	}
	var curvature release.Portion
	if q.Curvature != "" {
		if curvature, err = portionOf("the share of the curvature", q.Curvature); err != nil {
			return nil, err
		}
	}
	by := q.asker()
	by.Question = OutputPerturbation + ", " + q.Loss + ": " + q.SQL
	m, err := c.kernel.Minimum(r, o, curvature, by)
	if err != nil {
		return nil, err
	}
	if before, err := c.kernel.ReleasedBefore(m.Look()); err != nil || before {
		return m, err
	}
	return m, c.timely(m.Solver(), m.Predictors())
}

// objective returns the risk that a request minimises over the rows of a regression.
func (c *Session) objective(r *release.Regression, q Minimisation) (o learning.Objective, err error) {
	o = learning.Objective{Loss: learning.LossFunction(q.Loss)}
	if o.Rows, err = c.aboutRows(r, q.Rows); err != nil {
		return o, err
	}
	if o.Radius, err = positive("the radius", q.Radius); err != nil {
		return o, err
	}
	if o.Regularise, err = positive("the regulariser", q.Regularise); err != nil {
		return o, err
	}
	if q.Loss == HuberLoss {
		o.Width, err = positive("the width", q.Width)
	} else if q.Width != "" {
		err = &Error{Code: CodeUsage, Message: "Width applies only to the loss " + HuberLoss, Hint: "leave Width out"}
	}
	return o, err
}

// numbersPerSecond is about how many predictor values the solver reads in a second.
const numbersPerSecond = 1e8

// timely refuses a minimum that may take longer than an answer may take. Such a question would be charged and then
// fail. For the smooth losses, Newton's method needs a few passes. For Huber's loss it may not converge: then the
// solver takes a number of accelerated steps that public parameters determine.
func (c *Session) timely(m *learning.Minimiser, predictors int) error {
	o := m.Objective()
	timeout := c.kernel.Timeout()
	if o.Loss != learning.HuberLoss ||
		float64(m.Tries())*float64(o.Rows)*float64(predictors+1) <= numbersPerSecond*timeout.Seconds() {
		return nil
	}
	return &Error{
		Code: CodePolicy,
		Message: fmt.Sprintf(
			"over %d rows, with this regulariser and width, the fit may take %d passes, which is longer than the "+
				"%s that an answer may take",
			o.Rows,
			m.Tries(),
			timeout,
		),
		Hint: "increase Regularise or Width, or decrease Bound or Rows",
	}
}

// minimised returns the public form of a released minimum, with what remains of the budget.
func (c *Session) minimised(m *release.Minimum, s *release.Released) (*Minimum, error) {
	out, err := c.told(m, s)
	if err != nil {
		return nil, c.after(s, err)
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// told returns the public form of a minimum. If s has no numbers, as for an explanation, it leaves the values out.
func (c *Session) told(m *release.Minimum, s *release.Released) (*Minimum, error) {
	out := &Minimum{
		ID:          s.Name(),
		Names:       m.Names[:m.Predictors()],
		Price:       c.loss(m.Price),
		Replayed:    s.Replayed,
		Sensitivity: m.Solver().Sensitivity(),
		Tolerance:   m.Solver().Tolerance(),
		Limits:      c.limitsOfRegression(m.Regression),
	}
	out.Regularise, _ = m.Solver().Objective().Regularise.Float64()
	out.Radius, _ = m.Solver().Objective().Radius.Float64()
	out.Bound, _ = m.Bound().Float64()
	numbers := s.Numbers
	for i, p := range m.Parts() {
		d, err := derive.NoiseOf(p.Measure())
		if err != nil {
			return nil, err
		}
		var own [][]*big.Int
		if len(numbers) > 0 {
			own, numbers = numbers[:p.Cells()], numbers[p.Cells():]
		}
		v := vectorOf(&p, d, own)
		v.Loss = c.loss(p.Loss())
		switch i {
		case 0:
			out.Coefficients = v
		case 1:
			out.Hessian = &v
		default:
			out.Products = &v
		}
	}
	return out, nil
}

// vectorOf returns one of the vectors that make up the release as a Vector.
func vectorOf(p *release.Part, d noise.Distribution, rows [][]*big.Int) Vector {
	unit := bounded.GridUnit(p.Grid())
	v := Vector{Name: p.Name(), Unit: unit, Centre: new(big.Rat), Noise: d}
	for _, row := range rows {
		v.Values = append(v.Values, row[0])
	}
	return v
}
