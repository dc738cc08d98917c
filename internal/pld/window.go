package pld

import (
	"math"
	"math/big"

	"dither/internal/exact"
)

// window is a composed measure on consecutive points, still tilted. Its points are the losses base + h·J, with J
// from start on. The mass at J is the stored value, times e^(scale − θ(J − centre)), where θ is the field theta.
type window struct {
	h, base, blur float64
	theta, scale  float64
	start, centre int64
	above, below  measure
	infinite      bound
	outRight      float64 // upper bound on the tilted mass to the right of the window
	outLeft       float64
	rise          []float64 // 1 − e^(−ih) for each i
	unspread      bool      // whether every mass was on a point
	unknown       bool      // whether a number of the plan is not finite; the bounds are then 0 and 1
	smooth        *smoothing
}

// measure is a computed sequence of tilted masses. Its error is at most err in the Euclidean norm.
type measure struct {
	mass  []float64
	err   float64
	total float64 // sum of the absolute values of mass
}

func measureOf(mass []float64, err float64) measure {
	m := measure{mass: mass, err: err}
	for _, x := range mass {
		m.total += math.Abs(x)
	}
	return m
}

// smoothing is the window of the same composition with one more Gaussian pair. [window.lower] uses it to bound how
// far the window's curve is above the true one.
type smoothing struct {
	share float64 // κ in the proof at window.lower
	window
}

// compose returns the window of a plan.
func (c chain) compose(p plan) *window {
	theta := p.lambda * p.h
	if !(p.h > 0) || !finite(p.h, theta, p.low, p.centre, p.deviation, p.left*p.h, p.right*p.h, p.guess) {
		return &window{unknown: true}
	}
	w := &window{h: p.h, theta: theta, rise: rises(p.h, p.size)}
	var all outside
	gathered := newGatherer(p.size, len(c))
	var spread float64
	base, kappa, blur := wide(0), wide(0), 0.0
	plain := max(1e-285, math.Exp(p.guess)*1e-10/c.total())
	tiltedShare := 1e-16 / c.total()
	widest := 0.0
	escape := 0.0 // logarithm of the probability that no loss is at +∞, rounded down
	escapeLow := 0.0
	for _, q := range c {
		low, high := q.sketch.cut(p.lambda, tiltedShare, plain)
		_, mean, _ := q.sketch.moments(p.lambda)
		high = min(high, mean+p.h*maxCells/2)
		// a lattice as wide as the window contains all that matters of a part
		low = max(low, min(mean, high)-p.h*min(float64(p.size), maxCells/2))
		_, origin, on := q.spacing()
		if !on {
			origin = 0
		}
		first := math.Floor((low-origin)/p.h) - 1
		cells := min(maxCells, max(1, math.Ceil((high-origin)/p.h)+1-first))
		if !(math.Abs(first) < 1<<50) {
			first, cells = 0, 1
		}
		l := newLattice(p.h, origin, int64(first), int64(cells))
		q.describe(l)
		t := tilt(l, theta, q.count)
		if !finite(origin, first, t.kappa) {
			return &window{unknown: true}
		}
		all.add(t, p)
		gathered.add(t.sequence)
		n := float64(q.count)
		if l.spread {
			spread += n
		}
		widest = max(widest, l.blur)
		base.Add(base, wideTimes(q.count, origin))
		base.Add(base, new(big.Float).SetPrec(256).Mul(wideTimes(q.count, p.h), wide(first)))
		kappa.Add(kappa, wideTimes(q.count, t.kappa))
		blur = exact.AddUp(blur, exact.MulUp(n, l.blur))
		m := l.infinite.share()
		escape = exact.AddDown(escape, exact.MulDown(n, down(math.Log1p(-m.hi))))
		escapeLow = exact.AddUp(escapeLow, exact.MulUp(n, up(math.Log1p(-m.lo))))
	}
	w.infinite = bound{max(0, -exact.Expm1Up(min(0, escapeLow))), min(1, -exact.Expm1Down(min(0, escape)))}
	w.base, _ = base.Float64()
	w.blur = blur*(1+1e-9) + 4*unit*math.Abs(w.base)
	w.start = index((p.low - w.base) / p.h)
	w.centre = index((p.centre - w.base) / p.h)
	w.scaleAt(kappa)
	s, scratch := gathered.finish(), gathered.scratch
	w.read(s, scratch, all, p)
	w.unspread = spread == 0
	if !w.unspread {
		w.smoothen(s, scratch, all, p, kappa, spread, widest)
	}
	return w
}

func finite(numbers ...float64) bool {
	for _, x := range numbers {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// index returns about ⌊x⌋, clamped to ±2⁶¹. No composition has points beyond that.
func index(x float64) int64 {
	if math.IsNaN(x) {
		return 0
	}
	return int64(math.Floor(min(0x1p61, max(-0x1p61, x))))
}

func (c chain) total() float64 {
	n := 0.0
	for _, q := range c {
		n += float64(q.count)
	}
	return n
}

// scaleAt sets scale to kappa − θ·centre, where kappa is the sum of the κ of all parts (see [tilted]).
func (w *window) scaleAt(kappa *big.Float) {
	shift := new(big.Float).SetPrec(256).Mul(new(big.Float).SetInt64(w.centre), wide(w.theta))
	w.scale, _ = shift.Sub(kappa, shift).Float64()
}

// outside collects the terms of the bound on the tilted mass outside a window: the sum of the last points, the sum
// of the middle points, and the logarithms of Σ value·e^(±s(J − middle)), where J numbers the points and s is an
// exponent of the plan.
type outside struct {
	last, middle int64
	right, left  float64
}

func (o *outside) add(t tilted, p plan) {
	o.last += t.count * int64(len(t.above)-1)
	o.middle += t.count * t.middle
	o.right = exact.AddUp(o.right, exact.MulUp(float64(t.count), t.excess(p.right*p.h)))
	o.left = exact.AddUp(o.left, exact.MulUp(float64(t.count), t.excess(-p.left*p.h)))
}

// read fills the window from a spectrum. It bounds the mass outside the window by Chernoff's inequality: for every
// r, the tilted mass at points J ≥ r is at most Σ value·e^(s(J − r)), which is a product over the parts.
func (w *window) read(s *spectrum, scratch []complex128, all outside, p plan) {
	above, below, errAbove, errBelow := s.invert(scratch)
	rotate := func(x []float64) []float64 {
		n := int64(len(x))
		at := (w.start%n + n) % n
		return append(append(make([]float64, 0, n), x[at:]...), x[:at]...)
	}
	w.above, w.below = measureOf(rotate(above), errAbove), measureOf(rotate(below), errBelow)
	end := w.start + int64(s.size)
	chernoff := func(excess, exponent float64) float64 {
		return exact.ExpUp(excess + exponent + 1e-12*(math.Abs(excess)+math.Abs(exponent)))
	}
	w.outRight = chernoff(all.right, -p.right*p.h*float64(end-all.middle))
	w.outLeft = chernoff(all.left, -p.left*p.h*float64(all.middle-w.start+1))
	if all.last < end {
		w.outRight = 0
	}
	if w.start <= 0 {
		w.outLeft = 0
	}
}

// smoothen composes the window with the Gaussian pair of 2μ from the proof at [window.lower]. μ bounds the effect
// of the spreading.
func (w *window) smoothen(
	s *spectrum, scratch []complex128, all outside, p plan, kappa *big.Float, spread, blur float64,
) {
	// μ = √(π/8)·h·√n, as in the proof at window.lower.
	mu := 0.626657068657751 * (p.h + 4*blur) * math.Sqrt(spread) * (1 + 1e-12)
	twice := 2 * mu
	share := 0.5 * exact.ExpUp(twice*twice/8) * (1 + 1e-12)
	if !(share < 0.9) {
		return
	}
	g := gaussian{point(twice)}
	// the right tail is moved to +∞, and must be negligible beside δ
	sides := math.Ceil((reach*twice + twice*twice) / p.h)
	if !(sides < maxCells/2) {
		return
	}
	side := int64(sides) + 1
	l := newLattice(p.h, 0, -side, 2*side)
	g.describe(l)
	t := tilt(l, w.theta, 1)
	if !finite(t.kappa) {
		return
	}
	s.multiply(t.sequence, scratch)
	v := &smoothing{share: share, window: *w}
	v.start += side
	v.centre += side
	v.base -= p.h * float64(side)
	v.blur += l.blur + 4*unit*(math.Abs(v.base)+math.Abs(p.h*float64(side)))
	v.infinite.hi = min(1, exact.AddUp(v.infinite.hi, l.infinite.hi))
	v.scaleAt(new(big.Float).SetPrec(256).Add(kappa, wide(t.kappa)))
	all.add(t, p)
	v.read(s, scratch, all, p)
	w.smooth = v
}
