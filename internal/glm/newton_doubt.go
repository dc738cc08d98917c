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
	return missed(u)
}

// missed returns (eᵘ − 1 − u)/u: see [curved].
func missed(u float64) float64 {
	if u < 1e-9 {
		return 0
	}
	return math.Expm1(u)/u - 1
}

// missable returns the share of a step that rows of any distribution may add to it: c/(1 − c), since a step that is missed by a
// share c of itself (see [curved]) may be 1/(1 − c) times as long. If c is above mostCurved, there are no intervals.
func (f *Fit) missable(step []float64, reason string) float64 {
	c := curved(step)
	if c > mostCurved {
		f.Unknown(reason)
	}
	return c / (1 - min(c, mostCurved))
}

// weak returns the projection on the directions that have no intervals: noise hides the curvature, or the assumption
// about the coefficients has too large a share. It returns nil if there are none.
func (n Newton) weak(to *located) *mat.Dense {
	d := len(to.theta)
	all := mat.NewDense(d, d, nil)
	found := false
	// A penalty that is as large as the curvature leaves a bias that cannot be corrected. Where it is smaller, intervals allow
	// for the curvature's noise: see [Fit.doubtHessian].
	least := seen * to.sums.HessSD
	if to.sums.Ridge > 0 {
		least = max(to.sums.HessSD, to.sums.Ridge)
	}
	for _, of := range []struct {
		m   mat.Symmetric
		bad func(l float64) bool
	}{
		{symmetrised(to.spread), func(l float64) bool { return l > mostShrunk*square(spreadOfTheta) }},
		{symmetrised(to.curve), func(l float64) bool { return l < least }},
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

// widenRare widens the intervals of coefficients that few rows decide, such as those of indicators that are rarely 1. Slack is
// for an error of two standard deviations.
//
// Rows that are 1 lose curvature as the coefficient grows in magnitude, at most by a factor of e⁻ᵗ for a change of t, because
// |ℓ‴| ≤ ℓ″. So at a distance of t the gradient differs by at least J(1 − e⁻ᵗ), where the normal approximation has Jt. If an
// error is h by that approximation, it is at most t = −ln(1 − h). J is the curvature vᵀHv along the direction v in which the
// coefficient moves, less rareDoubt standard deviations of its error, since noise that moves the coefficient towards 0 also
// shows too much curvature. Rows are few if the curvature, less one of these standard deviations, is below the given share of
// that of all rows. If h is near 1 or above, noise hides the curvature where the coefficient may be, and there is no interval.
func (f *Fit) widenRare(curve mat.Matrix, share float64) {
	d := len(f.Theta)
	most := 0.0
	for i := range d {
		most = max(most, curve.At(i, i))
	}
	for j := range d {
		curvature := 1 / f.inverse.At(j, j)
		direction := mat.Col(nil, j, f.inverse) // in which the coefficient moves, with the others at their best
		for i := range direction {
			direction[i] *= curvature
		}
		off := f.hessSD * spreadOf(direction, direction)
		if !(curvature-off < share*most) {
			continue
		}
		h := 2 * math.Sqrt(max(f.Noise.At(j, j), 0)+f.Sampling.At(j, j))
		least := curvature - rareDoubt*off
		if h *= curvature / least; !(least > 0 && h < mostMissed) {
			if f.weak == nil {
				f.weak = mat.NewDense(d, d, nil)
			}
			f.weak.Set(j, j, f.weak.At(j, j)+1)
			continue
		}
		f.Slack[j] += -math.Log1p(-h) - h*least/curvature
	}
}
