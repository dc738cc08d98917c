package curator

import (
	"context"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/release"
)

// Perturbation asks for the coefficients θ that minimise a logistic risk over the rows of a question, SELECT x1, x2, …,
// y FROM t WHERE …, with noise inside the risk. Rows with a NULL in the SELECT list do not count. Numbers are decimals
// in text. The price must be in ε.
type Perturbation struct {
	Request
	// the bound of the predictors' L2 norm: a longer vector is scaled down to it. "" takes the norm that the ranges
	// of the predictors imply
	Bound      string
	Radius     string // the radius of the ball that contains the coefficients, at most 1000
	Regularise string // the ridge penalty Λ, as in [Minimisation]. A smaller one means less bias, and more noise
	Rows       int64  // the approximate number of rows, as in [Minimisation]
	// Hessian is the share of the price for the Hessian, a decimal below 1. "" does not release it.
	Hessian string
}

// PerturbedMinimum is the released minimum of Σ ln(1 + eᶻ) − yz + (Λ/2)‖θ‖² + ⟨b, θ⟩, where z = θ·x, x is a row's
// vector of predictors, y its response, and b a vector of noise. So the risk's gradient at Theta is −Λθ − b.
type PerturbedMinimum struct {
	ID           string
	Names        []string // the names of the predictors
	Coefficients Vector   // with noise that covers the solver's tolerance, far below the effect of b
	Hessian      *Vector  // the lower triangle of Σ ℓ″·xxᵀ at Theta, row by row, with noise; nil if it was not requested
	// StdDev is the standard deviation of each number of b. They are uncorrelated, and b has density proportional to
	// exp(−‖b‖∞/s) for a public s.
	StdDev float64
	// Sensitivity is the most that a number of b differs between neighbouring datasets with the same minimum.
	Sensitivity               float64
	Regularise, Radius, Bound float64 // as requested; Bound is the bound of the predictors' norm
	Limits                    *Limits // what bounds the release
	Price, Remaining          Loss
	Replayed                  bool
}

// Theta returns the released coefficients in their own units, projected onto the ball of the given Radius. This is
// post-processing.
func (m *PerturbedMinimum) Theta() []float64 { return m.Coefficients.within(m.Radius) }

// Perturb releases the minimum of a perturbed risk (learning.Perturbed has the proof), and the Hessian of the risk at
// the released coefficients if requested, with the noise of mechanism.Cube. The shares of the price add up.
func (c *Session) Perturb(ctx context.Context, q Perturbation) (*PerturbedMinimum, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	ctx = c.kernel.Arrives(ctx)
	m, err := c.perturbation(q)
	if err != nil {
		return nil, c.public(err)
	}
	s, err := c.take(ctx, m)
	if err != nil {
		return nil, err
	}
	out := c.perturbed(m, s)
	out.Remaining, err = c.remains(s)
	return out, err
}

// ExplainPerturb returns, free, what [Session.Perturb] would: everything but the values, the ID and what remains.
// Replayed reports whether it was released before.
func (c *Session) ExplainPerturb(_ context.Context, q Perturbation) (*PerturbedMinimum, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	m, err := c.perturbation(q)
	if err != nil {
		return nil, c.public(err)
	}
	s := &release.Released{}
	if s.Replayed, err = c.kernel.Explicable(m.Look()); err != nil {
		return nil, c.public(err)
	}
	out := c.perturbed(m, s)
	out.ID = ""
	return out, nil
}

// perturbation builds the access from a request, using public information only.
func (c *Session) perturbation(q Perturbation) (*release.Perturbed, error) {
	r, err := c.regress(q.Request, q.Bound)
	if err != nil {
		return nil, err
	}
	o, err := c.objective(r, Minimisation{Loss: LogisticLoss, Radius: q.Radius, Regularise: q.Regularise, Rows: q.Rows})
	if err != nil {
		return nil, err
	}
	var hessian release.Portion
	if q.Hessian != "" {
		if hessian, err = portionOf("the share of the Hessian", q.Hessian); err != nil {
			return nil, err
		}
	}
	by := q.asker()
	by.Question = ObjectivePerturbation + ": " + q.SQL
	return c.kernel.Perturbed(r, o, hessian, by)
}

// perturbed returns the public form of a released minimum. If s has no numbers, as for an explanation, it leaves the
// values out.
func (c *Session) perturbed(m *release.Perturbed, s *release.Released) *PerturbedMinimum {
	out := &PerturbedMinimum{
		ID: s.Name(), Names: m.Names[:m.Predictors()], StdDev: m.Solver().StdDev(), Sensitivity: m.Solver().Apart(), Price: c.loss(m.Price), Replayed: s.Replayed,
		Limits: c.limitsOfRegression(m.Regression),
	}
	out.Regularise, _ = m.Solver().Objective().Regularise.Float64()
	out.Radius, _ = m.Solver().Objective().Radius.Float64()
	out.Bound, _ = m.Bound().Float64()
	vectors := c.noisySums(m.Parts(), s)
	if out.Coefficients = vectors[0]; len(vectors) > 1 {
		out.Hessian = &vectors[1]
	}
	return out
}

// noisySums returns the parts of a release as vectors, without values if s has no numbers.
func (c *Session) noisySums(parts []release.NoisySum, s *release.Released) (all []Vector) {
	numbers := s.Numbers
	for _, p := range parts {
		v := Vector{
			Name: p.Name(), Unit: bounded.GridUnit(p.Grid()), Centre: new(big.Rat), Noise: p.Noise(), Loss: c.loss(p.Loss()),
		}
		if len(numbers) > 0 {
			for _, row := range numbers[:p.Cells()] {
				v.Values = append(v.Values, row[0])
			}
			numbers = numbers[p.Cells():]
		}
		all = append(all, v)
	}
	return all
}
