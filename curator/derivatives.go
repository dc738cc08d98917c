package curator

import (
	"context"
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/internal/release"
)

// Derivation asks for the gradient and the Hessian of a logistic risk at a given θ, over the rows of a question: SELECT
// x1, x2, …, y FROM t WHERE …. Rows with a NULL in the SELECT list do not count. Numbers are decimals in text.
type Derivation struct {
	Request
	At []string // θ: one coefficient for each predictor, in the order of the SELECT list
	// the bound of the predictors' L2 norm: a longer vector is scaled down to it. "" takes the norm that the ranges
	// of the predictors imply
	Bound string
	// Leverage multiplies the terms of a row whose predictors have a norm above it by the ratio of it and the norm. So
	// noise is smaller under ρ. It is a decimal; "" weighs all rows equally.
	Leverage string
	// Hessian is the share of the price for the Hessian, a decimal below 1. "" does not release it.
	Hessian string
}

// Derivatives are released derivatives of the risk Σ ln(1 + eᶻ) − yz, z = θ·x, where x is a row's vector of predictors
// and y its response. There is no regulariser.
type Derivatives struct {
	ID       string
	Names    []string // the names of the predictors
	Gradient Vector   // Σ ℓ′·x, with noise
	Hessian  *Vector  // the lower triangle of Σ ℓ″·xxᵀ, row by row, with noise; nil if it was not requested
	Bound    float64  // the bound of the predictors' norm
	// Sensitivity is the most that the gradient changes between neighbouring datasets: its largest number under a
	// pure price, else its L2 norm
	Sensitivity float64
	Limits      *Limits // what bounds the release

	Price, Remaining Loss
	Replayed         bool
}

// Derivatives releases derivatives at a given θ, with noise. Each row's contribution is a bounded vector of integers
// (learning.Derivatives has the proof). Under a pure price the noise is that of mechanism.Cube, else Gaussian. θ may
// depend on earlier releases, because losses of adaptively chosen questions add up.
func (c *Session) Derivatives(ctx context.Context, q Derivation) (*Derivatives, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	ctx = c.kernel.Arrives(ctx)
	m, err := c.derivation(q)
	if err != nil {
		return nil, c.public(err)
	}
	s, err := c.take(ctx, m)
	if err != nil {
		return nil, err
	}
	out := c.derived(m, s)
	out.Remaining, err = c.remains(s)
	return out, err
}

// ExplainDerivatives returns, free, what [Session.Derivatives] would: everything but the values, the ID and what
// remains. Replayed reports whether it was released before.
func (c *Session) ExplainDerivatives(_ context.Context, q Derivation) (*Derivatives, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	m, err := c.derivation(q)
	if err != nil {
		return nil, c.public(err)
	}
	s := &release.Released{}
	if s.Replayed, err = c.kernel.Explicable(m.Look()); err != nil {
		return nil, c.public(err)
	}
	out := c.derived(m, s)
	out.ID = ""
	return out, nil
}

// derivation builds the access from a request, using public information only.
func (c *Session) derivation(q Derivation) (*release.Derivatives, error) {
	r, err := c.regress(q.Request, q.Bound)
	if err != nil {
		return nil, err
	}
	var theta []*big.Rat
	for _, text := range q.At {
		x, err := exact.ParseDecimal(text)
		if err != nil {
			return nil, &Error{Code: CodeUsage, Message: "a coefficient of θ must be a decimal, not " + text}
		}
		theta = append(theta, x)
	}
	var leverage *big.Rat
	if q.Leverage != "" {
		if leverage, err = exact.ParseDecimal(q.Leverage); err != nil {
			return nil, &Error{Code: CodeUsage, Message: "the leverage must be a decimal, not " + q.Leverage}
		}
	}
	var hessian release.Portion
	if q.Hessian != "" {
		if hessian, err = portionOf("the share of the Hessian", q.Hessian); err != nil {
			return nil, err
		}
	}
	by := q.asker()
	by.Question = NewtonStep + ": " + q.SQL
	return c.kernel.Derivatives(r, theta, leverage, hessian, by)
}

// derived returns the public form of released derivatives. If s has no numbers, as for an explanation, it leaves the
// values out.
func (c *Session) derived(m *release.Derivatives, s *release.Released) *Derivatives {
	out := &Derivatives{
		ID: s.Name(), Names: m.Names[:m.Predictors()], Price: c.loss(m.Price), Replayed: s.Replayed,
		Limits: c.limitsOfRegression(m.Regression),
	}
	out.Bound, _ = m.Bound().Float64()
	parts := m.Parts()
	vectors := c.noisySums(parts, s)
	if out.Gradient = vectors[0]; len(vectors) > 1 {
		out.Hessian = &vectors[1]
	}
	unit, _ := out.Gradient.Unit.Float64()
	most, _ := new(big.Float).SetInt(parts[0].LInf()).Float64()
	if _, pure := parts[0].Loss().Pure(); !pure {
		square, _ := new(big.Float).SetInt(parts[0].L2Squared()).Float64()
		most = math.Sqrt(square)
	}
	out.Sensitivity = most * unit
	return out
}
