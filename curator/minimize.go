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

// Loss functions that a Minimisation may name.
const (
	LogisticLoss = string(learning.LogisticLoss) // of a response from 0 to 1
	PoissonLoss  = string(learning.PoissonLoss)  // of a count; Radius × Bound is 30 at most
	HuberLoss    = string(learning.HuberLoss)    // squares as far as Width, and straight beyond
)

// Minimisation asks for the coefficients θ that minimise a regularised empirical risk over the rows of a question: SELECT x1, x2, …, y
// FROM t WHERE …. Rows in which an item is NULL do not count. Decimals are texts.
type Minimisation struct {
	Request
	Loss  string // one of the loss functions
	Width string // of HuberLoss
	// of the predictors' L2 norm: a longer vector is scaled down to it; "" is what the items' own ranges give
	Bound  string
	Radius string // of the ball that θ is in
	// Λ: the larger, the less noise, and the nearer to 0 θ is; it is added to the risk of all rows together
	Regularise string
	// Rows is about how many rows there are: declared by the policy (0), or released before. Where there are more of them, Λ grows in
	// proportion. It is a parameter that no promise rests on.
	Rows int64
	// Curvature is the share of the price, a decimal below 1, of the two sums that intervals are computed from; "" for neither.
	Curvature string
}

// Minimum is a released minimum, in which noise of a known distribution is added to each coefficient.
type Minimum struct {
	ID           string
	Names        []string // of the predictors
	Coefficients Vector
	// Hessian and Products are the sums over rows of ℓ″·xxᵀ and of (ℓ′)²·xxᵀ at the released coefficients (those of Theta), without the
	// regulariser: of each the lower triangle, by row. nil where they were not asked for.
	Hessian, Products *Vector
	// Sensitivity is how far the minima of neighbours are apart at most, Tolerance how far from the true minimum the solver may be:
	// both in L2, and functions of public parameters. Regularise and Radius are as given; Bound is that of the norm.
	Sensitivity, Tolerance    float64
	Regularise, Radius, Bound float64
	Price, Remaining          Loss
	Replayed                  bool
}

// Theta are the released coefficients, in their own units, brought into the ball: post-processing.
func (m *Minimum) Theta() []float64 {
	unit, _ := m.Coefficients.Unit.Float64()
	out, length := make([]float64, len(m.Coefficients.Values)), 0.0
	for i, v := range m.Coefficients.Values {
		f, _ := new(big.Float).SetInt(v).Float64()
		out[i] = f * unit
		length = math.Hypot(length, out[i])
	}
	if length > m.Radius {
		for i := range out {
			out[i] *= m.Radius / length
		}
	}
	return out
}

// Minimize is the kernel's primitive for convex risks: the minimum over the rows, with noise that covers how far one unit moves it,
// the solver's tolerance and the grid (learning.Minimiser, where the proof stands). The two sums are of bounded contributions at the
// coefficients that were released before them, and their noise is independent: the shares of the price add up.
func (c *Session) Minimize(ctx context.Context, q Minimisation) (*Minimum, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
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

// ExplainMinimize tells what Minimize would give, free: everything but the values, the ID and what remains. Replayed says that it was released before.
func (c *Session) ExplainMinimize(_ context.Context, q Minimisation) (*Minimum, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
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

// minimisation decides all that is public.
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

// objective reads what is minimised over the rows of a regression.
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
		err = &Error{Code: CodeUsage, Message: "a width is that of " + HuberLoss, Hint: "leave it out"}
	}
	return o, err
}

// numbersPerSecond is how many predictors of rows a pass reads in a second, about.
const numbersPerSecond = 1e8

// timely refuses a minimum that may take longer than an answer may: that would be charged, and told as a failure. Newton's method takes a few passes for the smooth losses; Huber's it may
// fail for, and then so many accelerated steps as public parameters say are taken.
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
			"over %d rows so weak a regulariser and so narrow a width may take %d passes, which is more than the %s that an answer may take",
			o.Rows,
			m.Tries(),
			timeout,
		),
		Hint: "make Regularise or Width larger, Bound smaller, or say that there are fewer Rows",
	}
}

// minimised reads what was released.
func (c *Session) minimised(m *release.Minimum, s *release.Released) (*Minimum, error) {
	out, err := c.told(m, s)
	if err != nil {
		return nil, c.after(s, err)
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// told puts numbers, where there are any, beside all that is public of them.
func (c *Session) told(m *release.Minimum, s *release.Released) (*Minimum, error) {
	out := &Minimum{
		ID:          s.Name(),
		Names:       m.Names[:m.Predictors()],
		Price:       c.loss(m.Price),
		Replayed:    s.Replayed,
		Sensitivity: m.Solver().Sensitivity(),
		Tolerance:   m.Solver().Tolerance(),
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

// vector is a part with its released numbers.
func vectorOf(p *release.Part, d noise.Distribution, rows [][]*big.Int) Vector {
	unit := bounded.GridUnit(p.Grid())
	v := Vector{Name: p.Name(), Unit: unit, Centre: new(big.Rat), Noise: d}
	for _, row := range rows {
		v.Values = append(v.Values, row[0])
	}
	return v
}
