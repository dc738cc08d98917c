// Package learning contains mechanisms that fit models: noisy gradient steps, output perturbation of a minimum, and
// lines through medians of slopes.
package learning

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
)

// LossFunction names a row's contribution ℓ to an empirical risk, as a function of z = θ·x and the response y.
type LossFunction string

// The loss functions. Each is convex in z = θ·x.
const (
	LogisticLoss LossFunction = "logistic" // ln(1 + eᶻ) − yz, y clamped to [0, 1]
	PoissonLoss  LossFunction = "poisson"  // eᶻ − yz, y clamped to [0, Response]
	HuberLoss    LossFunction = "huber"    // (z − y)²/2 for |z − y| ≤ Width, and linear beyond; y clamped to ±Response
)

// Objective is an empirical risk with a regulariser,
//
//	J(θ) = Σ_rows ℓ(θ·x, y) + (Λ(n)/2)·‖θ‖²,   Λ(n) = Λ·max(1, n/N),
//
// over the ball ‖θ‖₂ ≤ Radius, where n is the number of rows. Everything except the rows is public. N is an
// approximate number of rows. It is declared, or released at a price, and never counted exactly. It enters the
// regulariser alone, and no privacy proof depends on its accuracy.
type Objective struct {
	Loss  LossFunction
	Width *big.Rat // the Width of HuberLoss; unused otherwise
	// the bound to which the response is clamped; unused for LogisticLoss
	Response   *big.Rat
	Radius     *big.Rat
	Regularise *big.Rat // Λ, the factor of the regulariser
	Rows       int64    // N, an approximate number of rows
}

func (o Objective) check() error {
	for name, r := range map[string]*big.Rat{"the radius": o.Radius, "the regulariser": o.Regularise} {
		if r == nil || r.Sign() <= 0 || !parameter.Within(r, 60) {
			return fmt.Errorf("%w: %s must be between 2^-60 and 2^60", mechanism.ErrParameter, name)
		}
	}
	bounded := func(name string, r *big.Rat) error {
		if r == nil || r.Sign() <= 0 || !parameter.Within(r, 60) {
			return fmt.Errorf("%w: %s of a %s loss must be between 2^-60 and 2^60",
				mechanism.ErrParameter, name, o.Loss)
		}
		return nil
	}
	switch o.Loss {
	case LogisticLoss:
	case PoissonLoss:
		if err := bounded("the response's bound", o.Response); err != nil {
			return err
		}
	case HuberLoss:
		if err := bounded("the response's bound", o.Response); err != nil {
			return err
		}
		if err := bounded("the width", o.Width); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: there is no loss function %q", mechanism.ErrParameter, o.Loss)
	}
	if o.Rows < 1 || o.Rows > opaque.MaxRows {
		return fmt.Errorf("%w: the expected number of rows must be from 1 to 2^40", mechanism.ErrParameter)
	}
	return nil
}

// curve is a loss function on the ball, in float64: its first and second derivatives in z = θ·x, and bounds on
// them.
type curve struct {
	kind        LossFunction
	response    float64 // |y| is clamped to response
	width       float64
	steep, bend float64 // |ℓ′| ≤ steep and 0 ≤ ℓ″ ≤ bend, for every y, at every |z| ≤ reach
	reach       float64 // at least Radius·R
}

// curveOf returns the curve of the objective's loss. bound is R, the bound on the norm of the predictors.
//
// Proof of the bounds: |z| ≤ ‖θ‖·‖x‖ ≤ Radius·R ≤ reach. Logistic: let σ(z) = 1/(1 + e^(−z)). ℓ′ = σ(z) − y is
// between −1 and 1, and ℓ″ = σ(1 − σ) ≤ ¼. Poisson: ℓ′ = eᶻ − y is between −Response and e^reach, and ℓ″ = eᶻ ≤
// e^reach. Huber: ℓ′ is z − y clamped to ±Width, and ℓ″ ≤ 1. Each bound is rounded up.
func (o Objective) curveOf(bound *big.Rat) (curve, error) {
	c := curve{kind: o.Loss, reach: exact.FloatUp(new(big.Rat).Mul(o.Radius, bound))}
	if o.Response != nil {
		c.response = exact.FloatDown(o.Response)
	}
	switch o.Loss {
	case LogisticLoss:
		c.steep, c.bend = 1, 0.25
	case PoissonLoss:
		if c.reach > 30 {
			return c, fmt.Errorf(
				"%w: a Poisson loss needs Radius × (bound on the predictors' norm) to be at most 30",
				mechanism.ErrParameter)
		}
		c.bend = exact.ExpUp(c.reach)
		c.steep = math.Max(c.bend, c.response)
	case HuberLoss:
		c.width = exact.FloatDown(o.Width)
		c.steep, c.bend = c.width, 1
	}
	return c, nil
}

// clamped returns the response y after clamping.
func (c *curve) clamped(y float64) float64 {
	switch c.kind {
	case LogisticLoss:
		return min(max(y, 0), 1)
	case PoissonLoss:
		return min(max(y, 0), c.response)
	}
	return min(max(y, -c.response), c.response)
}

// at returns ℓ, ℓ′ and ℓ″ at z and y. The returned float64s satisfy |ℓ′| ≤ steep and 0 ≤ ℓ″ ≤ bend.
func (c *curve) at(z, y float64) (l, first, second float64) {
	y = c.clamped(y)
	switch c.kind {
	case LogisticLoss:
		e := math.Exp(-math.Abs(z))
		p := 1 / (1 + e) // σ(|z|); σ(−|z|) is e·p
		l = math.Log1p(e) + math.Max(z, 0) - y*z
		if z < 0 {
			first = e*p - y
		} else {
			first = p - y
		}
		second = p * (e * p)
	case PoissonLoss:
		e := math.Exp(min(max(z, -c.reach), c.reach))
		l, first, second = e-y*z, e-y, e
	case HuberLoss:
		r := z - y
		switch {
		case r > c.width:
			l, first = c.width*(r-c.width/2), c.width
		case r < -c.width:
			l, first = c.width*(-r-c.width/2), -c.width
		default:
			l, first, second = r*r/2, r, 1
		}
	}
	return l, min(max(first, -c.steep), c.steep), min(max(second, 0), c.bend)
}
