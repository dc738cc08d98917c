// Package pld is a numerical accountant by privacy loss distributions. For a composition of mechanisms that is fixed in
// advance it returns proved lower and upper bounds of δ(ε) and of ε(δ), including the rounding of floats.
//
// A mechanism is given as a dominating pair of distributions (P, Q) for each direction of the neighbouring relation:
// removing a record, and adding one. Their losses ln dP/dQ are put on a lattice from above and from below (lattice.go),
// tilted so that the rare losses of interest become common ones (tilt.go), convolved by fast Fourier transforms with
// bounds on their errors (fft.go, spectrum.go), and evaluated (curve.go). The spread of the whole composition decides
// the lattice (plan.go), so time and memory do not depend on how large or small its ε is. A bad choice would make the
// bounds loose, never wrong.
package pld

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
)

// ErrParameter reports a parameter outside its range. It depends on public parameters alone.
var ErrParameter = errors.New("parameter")

// Pair dominates a mechanism: for every ε, and in each direction of the neighbouring relation, E_P(1 −
// e^(ε−l))₊ is at least the mechanism's δ(ε). The zero Pair is invalid.
type Pair struct {
	key      string
	forward  family
	backward family  // nil if it is forward
	top      float64 // no loss is above it
	back     float64 // nor one of backward above that
	variance bound   // μ² of a Gaussian pair: such pairs compose to one, whose μ² is the sum [Dong, Roth & Su 2022]
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

// Gaussian is the pair of a query of L₂ sensitivity Δ with normal noise of standard deviation σ, by Δ²/σ² =
// μ²: N(0, 1) and N(μ, 1) [Dong, Roth & Su 2022, Theorem 2.7]. It certifies the continuous distribution and what
// post-processes it, not the discrete Gaussian.
func Gaussian(squaredRatio *big.Rat) (Pair, error) {
	v, err := positive("the squared ratio of sensitivity to deviation", squaredRatio)
	if err != nil {
		return Pair{}, err
	}
	return Pair{key: "gaussian", variance: v, top: math.Inf(1)}, nil
}

// gaussianOf is the family of a μ² and the greatest loss. Below 10⁻²⁰⁰, where floats lose it, its curve lies
// below that of a mass of δ(0) = 2Φ(μ/2) − 1 < μ/2 at +∞ and the rest at 0; above 10¹⁴ that mass is all.
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

// nothing is a family of which only δ(0) ≤ lost is known.
func nothing(lost float64) atomic {
	return atomic{atoms: []atom{
		{point(math.Inf(1)), bound{0, lost}, bound{}},
		{bound{}, bound{exact.SubDown(1, lost), 1}, bound{exact.SubDown(1, lost), 1}},
		{point(math.Inf(-1)), bound{}, bound{0, lost}},
	}}
}

// Laplace is the pair of a query of L₁ sensitivity Δ with Laplace noise of scale b, by their ratio Δ/b.
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

// bounded is a family whose losses are at most e, or nothing if e exceeds the range of floats and exponentials.
func bounded(e bound, family func() family) family {
	switch {
	case e.hi < 1e-100:
		return nothing(e.hi) // δ(0) ≤ 1 − e^(−ε) ≤ ε
	case e.hi > 1e6:
		return nothing(1)
	}
	return family()
}

// RandomizedResponse is the pair of k-ary randomised response: the truth with probability e^ε/(e^ε + k − 1), each
// other answer with 1/(e^ε + k − 1) [Kairouz, Bonawitz & Ramage 2016]. It takes 2 ≤ k ≤ 2³².
func RandomizedResponse(epsilon *big.Rat, k int64) (Pair, error) {
	e, err := positive("ε", epsilon)
	if err != nil {
		return Pair{}, err
	}
	if k < 2 || k > 1<<32 {
		return Pair{}, fmt.Errorf("%w: randomised response takes from 2 to 2³² answers", ErrParameter)
	}
	return Pair{
		key: fmt.Sprintf("response %d %s", k, epsilon.RatString()), top: e.hi,
		forward: bounded(e, func() family { return response(e, k, bound{}) }),
	}, nil
}

// Pure is the pair that dominates every ε-private mechanism: binary randomised response [Kairouz, Oh & Viswanath
// 2015].
func Pure(epsilon *big.Rat) (Pair, error) { return RandomizedResponse(epsilon, 2) }

// Approximate is the pair that dominates every (ε, δ)-private mechanism: it reveals everything with probability δ,
// and otherwise is binary randomised response [Kairouz, Oh & Viswanath 2015, Theorem 3.4]. ε may be 0.
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

// maxShift bounds the sensitivity of a discrete Laplace pair, which has one loss for each unit of it.
const maxShift = 1 << 16

// DiscreteLaplace is the pair of a query of integer sensitivity Δ with discrete Laplace noise of scale b: P(k) ∝
// e^(−|k|/b). It takes Δ from 1 to 2¹⁶; beyond, Pure(Δ/b) dominates it.
func DiscreteLaplace(sensitivity int64, scale *big.Rat) (Pair, error) {
	if _, err := positive("the scale", scale); err != nil {
		return Pair{}, err
	}
	if sensitivity < 1 || sensitivity > maxShift {
		return Pair{}, fmt.Errorf("%w: the sensitivity of a discrete Laplace pair is from 1 to 2¹⁶", ErrParameter)
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

// maxDiscrete bounds σ² of a discrete Gaussian pair, whose 74·σ losses are described one by one.
const maxDiscrete = 1 << 24

// DiscreteGaussian is the pair of a query of integer values and sensitivity 1 with discrete Gaussian noise, P(k) ∝
// e^(−k²/(2σ²)), whose squared scale is from 2⁻²⁰ to 2²⁴. Larger sensitivities have no such pair: that the
// largest shift dominates the smaller ones is not proved.
func DiscreteGaussian(squaredScale *big.Rat) (Pair, error) {
	v, err := positive("σ²", squaredScale)
	if err != nil {
		return Pair{}, err
	}
	if v.hi > maxDiscrete || v.lo < 1./(1<<20) {
		return Pair{}, fmt.Errorf("%w: σ² of a discrete Gaussian pair is from 2⁻²⁰ to 2²⁴", ErrParameter)
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

// Subsample is the pair of a mechanism that runs on a Poisson sample, which holds each record with probability q
// independently of all others, where neighbours differ by a record added or removed [Zhu, Dong & Wang 2022, Theorem
// 11]. The mechanism's own pair must be one that is the same in both directions, which all but subsampled ones are.
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
		return Pair{}, fmt.Errorf("%w: only a pair that is the same in both directions is subsampled", ErrParameter)
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
	// The other direction's greatest loss is −ln(1 − q + q·e^(−t)), for a t of the mechanism itself, which is no
	// more than ln(1 − q + q·e^t), since (1 − q + q·e^t)(1 − q + q·e^(−t)) = 1 + 2q(1−q)(cosh t − 1) ≥ 1.
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
