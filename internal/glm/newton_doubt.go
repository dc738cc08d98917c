package glm

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// unlike returns the mean squared difference between the Hessian that was released after a step and the one that the step
// implied, in units of their noise. It is about 1 if the rows are as assumed, and above 20 for indicators of a tenth of the
// rows. It is 0 if no Hessian was released.
func (n Newton) unlike(before *located, s Sums) float64 {
	if s.Hessian == nil {
		return 0
	}
	d := len(s.Theta)
	released, implied := symmetric(d, s.Hessian), symmetrised(before.curve)
	off := 0.0
	for i := range d {
		for k := range i + 1 {
			off += square(released.At(i, k) - implied.At(i, k))
		}
	}
	return off / (square(s.HessSD) + square(before.sums.HessSD)) / float64(d*(d+1)/2)
}

// longest returns the magnitudes of the step, each longer by a standard deviation of its noise.
func (l *located) longest() []float64 {
	out := make([]float64, len(l.step))
	for i, x := range l.step {
		out[i] = math.Abs(x) + math.Sqrt(max(l.spread.At(i, i), 0))
	}
	return out
}

// curved bounds the share of a step δ by which the gradient may miss the linear one, in the norm of the Hessian: (eᵘ − 1 −
// u)/u, where u = ‖δ‖₁ bounds |δ·x|, because |ℓ‴| ≤ ℓ″ [Bach 2010, Proposition 1].
func curved(step []float64) float64 {
	u := 0.0
	for _, x := range step {
		u += math.Abs(x)
	}
	if u < 1e-9 {
		return 0
	}
	return math.Expm1(u)/u - 1
}

// weak returns the projection on the directions that have no intervals: noise hides the curvature, or the assumption
// about the coefficients has too large a share. It returns nil if there are none.
func (n Newton) weak(to *located) *mat.Dense {
	d := len(to.theta)
	all := mat.NewDense(d, d, nil)
	found := false
	most := mostShrunk
	if to.sums.Ridge > 0 {
		most = besidePenalty
	}
	for _, of := range []struct {
		m   mat.Symmetric
		bad func(l float64) bool
	}{
		{symmetrised(to.spread), func(l float64) bool { return l > most*square(spreadOfTheta) }},
		{symmetrised(to.curve), func(l float64) bool { return l < max(seen*to.sums.HessSD, overPenalty*to.sums.Ridge) }},
	} {
		e := decompose(of.m)
		if e == nil {
			continue
		}
		for _, l := range e.values {
			found = found || of.bad(l)
		}
		all.Add(all, e.apply(func(l float64) float64 { return indicator(of.bad(l)) }))
	}
	if !found {
		return nil
	}
	return all
}
