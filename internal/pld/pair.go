// Package pld is a numerical privacy accountant that uses privacy loss distributions. For a composition of
// mechanisms that are fixed in advance, it returns proved lower and upper bounds on δ(ε) and on ε(δ). The bounds
// include the rounding errors of floats.
//
// A mechanism is given by a dominating pair of distributions (P, Q) for each direction of the neighbouring
// relation: removing a record, and adding one. Their losses ln dP/dQ are put on a lattice, from above and from
// below (lattice.go). The masses are tilted, so that the rare losses of interest become common (tilt.go). They are
// convolved by fast Fourier transforms with bounds on the errors (fft.go, spectrum.go), and evaluated (curve.go).
// The spread of the whole composition determines the lattice (plan.go), so time and memory do not depend on the
// size of ε. A bad choice of the lattice makes the bounds loose, but never wrong.
package pld

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
)

// ErrParameter reports a parameter outside its range. Parameters are public.
var ErrParameter = errors.New("parameter")

// Pair is a dominating pair of a mechanism. For every ε, and in each direction of the neighbouring relation, E_P(1
// − e^(ε−l))₊ is at least the mechanism's δ(ε). The zero Pair is invalid.
type Pair struct {
	key      string
	forward  family
	backward family  // nil if it equals forward
	top      float64 // upper bound on the losses of forward
	back     float64 // upper bound on the losses of backward
	variance bound   // μ² of a Gaussian pair; several compose to one, with the sum of their μ² [Dong, Roth & Su 2022]
}

func positive(name string, r *big.Rat) (bound, error) {
	if r == nil || r.Sign() <= 0 {
		return bound{}, fmt.Errorf("%w: %s must be positive", ErrParameter, name)
	}
	return boundOf(r), nil
}

func fraction(name string, r *big.Rat) (bound, error) {
	if r == nil || r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) > 0 {
		return bound{}, fmt.Errorf("%w: %s must be from 0 to 1", ErrParameter, name)
	}
	return boundOf(r), nil
}

// Gaussian returns the pair of a query with L₂ sensitivity Δ and normal noise of standard deviation σ, given Δ²/σ²
// = μ². The pair is N(0, 1) and N(μ, 1) [Dong, Roth & Su 2022, Theorem 2.7]. It is valid for continuous normal
// noise and its post-processing, not for the discrete Gaussian.
func Gaussian(squaredRatio *big.Rat) (Pair, error) {
	v, err := positive("the squared ratio of sensitivity to deviation", squaredRatio)
	if err != nil {
		return Pair{}, err
	}
	return Pair{key: "gaussian", variance: v, top: math.Inf(1)}, nil
}

// gaussianOf returns the family of a Gaussian pair with the given μ². If μ² is below 10⁻²⁰⁰, floats cannot
// represent the family. Its curve is then below that of a family with a mass of δ(0) = 2Φ(μ/2) − 1 < μ/2 at +∞, and
// the rest at 0. If μ² is above 10¹⁴, all mass is at +∞.
func gaussianOf(v bound) family {
	mu := bound{down(math.Sqrt(v.lo)), up(math.Sqrt(v.hi))}
	switch {
	case v.lo < 1e-200:
		return nothing(min(1, mu.hi))
	case v.hi > 1e14:
		return nothing(1)
	}
	return gaussian{mu}
}

// nothing returns a family about which only δ(0) ≤ lost is known. It has the mass lost at +∞, and the rest at 0.
func nothing(lost float64) atomic {
	return atomic{atoms: []atom{
		{point(math.Inf(1)), bound{0, lost}, bound{}},
		{bound{}, bound{exact.SubDown(1, lost), 1}, bound{exact.SubDown(1, lost), 1}},
		{point(math.Inf(-1)), bound{}, bound{0, lost}},
	}}
}

// Laplace returns the pair of a query with L₁ sensitivity Δ and Laplace noise of scale b, given the ratio Δ/b.
func Laplace(ratio *big.Rat) (Pair, error) {
	e, err := positive("the ratio of sensitivity to scale", ratio)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		key: "laplace " + ratio.RatString(), forward: bounded(e, func() family { return laplace{e} }),
		top: e.hi,
	}, nil
}

// bounded returns a family with losses of at most e. If e is outside the range of floats and exponentials, it
// returns a family made by [nothing] instead.
func bounded(e bound, family func() family) family {
	switch {
	case e.hi < 1e-100:
		return nothing(e.hi) // δ(0) ≤ 1 − e^(−ε) ≤ ε
	case e.hi > 1e6:
		return nothing(1)
	}
	return family()
}

// RandomizedResponse returns the pair of k-ary randomised response, which answers truthfully with probability
// e^ε/(e^ε + k − 1), and gives each other answer with probability 1/(e^ε + k − 1) [Kairouz, Bonawitz & Ramage
// 2016]. k must be from 2 to 2³².
func RandomizedResponse(epsilon *big.Rat, k int64) (Pair, error) {
	e, err := positive("ε", epsilon)
	if err != nil {
		return Pair{}, err
	}
	if k < 2 || k > 1<<32 {
		return Pair{}, fmt.Errorf("%w: randomised response must have 2 to 2³² answers", ErrParameter)
	}
	return Pair{
		key: fmt.Sprintf("response %d %s", k, epsilon.RatString()), top: e.hi,
		forward: bounded(e, func() family { return response(e, k, bound{}) }),
	}, nil
}

// Pure returns the pair that dominates every ε-private mechanism: binary randomised response [Kairouz, Oh &
// Viswanath 2015].
func Pure(epsilon *big.Rat) (Pair, error) { return RandomizedResponse(epsilon, 2) }

// Approximate returns the pair that dominates every (ε, δ)-private mechanism. It reveals everything with
// probability δ, and is binary randomised response otherwise [Kairouz, Oh & Viswanath 2015, Theorem 3.4]. ε may be
// 0.
func Approximate(epsilon, delta *big.Rat) (Pair, error) {
	if epsilon == nil || epsilon.Sign() < 0 {
		return Pair{}, fmt.Errorf("%w: ε must not be negative", ErrParameter)
	}
	d, err := fraction("δ", delta)
	if err != nil {
		return Pair{}, err
	}
	e := boundOf(epsilon)
	p := Pair{key: "approximate " + epsilon.RatString() + " " + delta.RatString(), top: e.hi}
	if d.hi > 0 {
		p.top = math.Inf(1)
	}
	if e.hi < 1e-100 || e.hi > 1e6 {
		lost := 1.0
		if e.hi < 1e-100 {
			lost = min(1, exact.AddUp(d.hi, e.hi))
		}
		a := nothing(lost)
		a.atoms[0].p.lo = d.lo
		p.forward = a
		return p, nil
	}
	p.forward = response(e, 2, d)
	return p, nil
}

// maxShift is the largest sensitivity of a discrete Laplace pair, which has one loss for each unit of sensitivity.
const maxShift = 1 << 16

// DiscreteLaplace returns the pair of a query with integer sensitivity Δ and discrete Laplace noise of scale b:
// P(k) ∝ e^(−|k|/b). Δ must be from 1 to 2¹⁶. For a larger Δ, use Pure(Δ/b), which dominates this pair.
func DiscreteLaplace(sensitivity int64, scale *big.Rat) (Pair, error) {
	if _, err := positive("the scale", scale); err != nil {
		return Pair{}, err
	}
	if sensitivity < 1 || sensitivity > maxShift {
		return Pair{}, fmt.Errorf("%w: the sensitivity of a discrete Laplace pair must be 1 to 2¹⁶", ErrParameter)
	}
	step := boundOf(new(big.Rat).Inv(scale))
	e := boundOf(new(big.Rat).Quo(new(big.Rat).SetInt64(sensitivity), scale))
	return Pair{
		key: fmt.Sprintf("discrete laplace %d %s", sensitivity, scale.RatString()), top: e.hi,
		forward: bounded(e, func() family {
			return generated{
				func() atomic { return discreteLaplace(sensitivity, step) }, -e.hi, e.hi, e.mid(),
				2 * step.mid(),
			}
		}),
	}, nil
}

// maxDiscrete is the largest σ² of a discrete Gaussian pair. Its 74·σ losses are described one by one.
const maxDiscrete = 1 << 24

// DiscreteGaussian returns the pair of an integer query with sensitivity 1 and discrete Gaussian noise, P(k) ∝
// e^(−k²/(2σ²)). σ² must be from 2⁻²⁰ to 2²⁴. There is no such pair for larger sensitivities, because it is not
// proved that the largest shift dominates the smaller ones.
func DiscreteGaussian(squaredScale *big.Rat) (Pair, error) {
	v, err := positive("σ²", squaredScale)
	if err != nil {
		return Pair{}, err
	}
	if v.hi > maxDiscrete || v.lo < 1./(1<<20) {
		return Pair{}, fmt.Errorf("%w: σ² of a discrete Gaussian pair must be 2⁻²⁰ to 2²⁴", ErrParameter)
	}
	end := (1 + 2*(math.Sqrt(v.hi)*reach+3)) / (2 * v.lo)
	return Pair{
		key: "discrete gaussian " + squaredScale.RatString(), top: math.Inf(1),
		forward: generated{
			func() atomic { return discreteGaussian(v.mul(point(2))) }, -end, end, 1 / (2 * v.mid()),
			1 / v.mid(),
		},
	}, nil
}

// Subsample returns the pair of a mechanism that runs on a Poisson sample. Such a sample contains each record with
// probability q, independently of all others. Neighbours differ by adding or removing a record [Zhu, Dong & Wang
// 2022, Theorem 11]. The mechanism's own pair must be the same in both directions. This holds for all pairs except
// subsampled ones.
func Subsample(mechanism Pair, rate *big.Rat) (Pair, error) {
	q, err := fraction("the sampling rate", rate)
	if err != nil {
		return Pair{}, err
	}
	of := mechanism.forward
	key := mechanism.key
	if mechanism.key == "gaussian" {
		of = gaussianOf(mechanism.variance)
		key = fmt.Sprintf("gaussian %x %x", mechanism.variance.lo, mechanism.variance.hi)
	}
	if of == nil || mechanism.backward != nil {
		return Pair{}, fmt.Errorf("%w: subsampling supports only pairs that are the same in both "+
			"directions", ErrParameter)
	}
	if rate.Sign() == 0 || q.hi < 1e-200 {
		none := Pair{key: "sample " + rate.RatString() + " of " + key, forward: nothing(q.hi), top: mechanism.top}
		if rate.Sign() == 0 {
			none.top = 0
		}
		return none, nil
	}
	if rate.Cmp(big.NewRat(1, 1)) == 0 {
		return mechanism, nil
	}
	// The largest loss of the other direction is −ln(1 − q + q·e^(−t)), for a loss t of the mechanism itself. It is
	// at most ln(1 − q + q·e^t), because (1 − q + q·e^t)(1 − q + q·e^(−t)) = 1 + 2q(1−q)(cosh t − 1) ≥ 1. So top
	// bounds the losses of both directions.
	rest := boundOf(new(big.Rat).Sub(big.NewRat(1, 1), rate))
	top := mechanism.top
	if top < 700 {
		top = sampledLoss(point(top), q, rest).hi
	}
	return Pair{
		key:     "sample " + rate.RatString() + " of " + key,
		forward: sampled{of, q, rest}, backward: reversed{sampled{of, q, rest}}, top: top,
		back: min(-down(math.Log1p(-q.hi)), -exact.LogDown(rest.lo)),
	}, nil
}
