package post

import (
	"math"
	"slices"
)

// quotient returns the interval of θ = n/d, for two linear forms of the same released numbers whose values are N and D.
//
// The interval is that of Fieller [1954], for noise of any distribution. For the true θ, n − θd = 0, so the form N − θD of
// the released numbers is an error alone, with a known distribution. The set of all θ for which |N − θD| is at most the
// quantile of that distribution contains the true θ with probability at least 1 − alpha. The interval is the hull of this
// set. It takes into account that N and D have numbers in common, as a part and its total have. If d = 0 cannot be
// excluded, there is no bound.
//
// A range of θ is excluded if the least |N − θD| in it is above the quantile for the largest coefficients in it, because
// the tail grows with the coefficients. The coefficients of N − θD are linear in θ, so their magnitude is largest at an
// end of the range. For large |θ| the same holds of φ = 1/θ and φN − D.
func (l *laws) quotient(n, d *form, x, y float64) (i Interval, ok bool) {
	key := divided{n, d, x, y}
	if known, ok := l.quotients[key]; ok { // as in each row of a window
		return known, true
	}
	if *l.steps < mostSteps/2 {
		return l.apart(n, d, x, y)
	}
	f := &fieller{laws: l, pair: l.pair(n, d), x: x, y: y, left: 60}
	i = f.hull()
	l.quotients[key] = i
	return i, true
}

// divided is a quotient of two forms, and their values.
type divided struct {
	n, d *form
	x, y float64
}

// apart returns an interval of n/d from intervals of n and of d that each miss with probability at most alpha/2
// (Bonferroni). It takes less time than Fieller's.
func (l *laws) apart(n, d *form, x, y float64) (i Interval, ok bool) {
	if l.half == nil {
		l.half = newLaws(l.alpha / 2)
		l.half.steps, l.half.table = l.steps, l.table
	}
	b, ok := l.half.linear(d, y)
	if ok && b.Low <= 0 && b.High >= 0 {
		return Interval{math.Inf(-1), math.Inf(1)}, true
	}
	a, also := l.half.linear(n, x)
	if !ok || !also {
		return Interval{}, false
	}
	of := []float64{a.Low / b.Low, a.Low / b.High, a.High / b.Low, a.High / b.High}
	return *ends(slices.Min(of), slices.Max(of)).ends, true
}

type fieller struct {
	*laws
	*pair
	x, y float64 // the values of n and d
	left int
}

// hull returns the hull of the accepted θ.
func (f *fieller) hull() Interval {
	theta := f.x / f.y
	if !finite(theta) || !f.divides() {
		return Interval{math.Inf(-1), math.Inf(1)}
	}
	f.left--
	width := f.reach(f.parts(theta, theta)) / math.Abs(f.y)
	if width == 0 || !finite(width) {
		width = math.Abs(theta) * 1e-9
	}
	return Interval{-f.last(-theta, width, -1), f.last(theta, width, 1)}
}

// divides reports whether d = 0 is rejected.
func (f *fieller) divides() bool {
	f.left--
	return f.reach(f.d.parts()) < math.Abs(f.y)-f.d.slack
}

// last returns an upper bound on sign·θ over the accepted θ with sign·θ ≥ from, where from is accepted.
func (f *fieller) last(from, width, sign float64) float64 {
	end := from + 1.5*width
	for tries := 0; !f.excludedBeyond(sign*end, sign); tries++ {
		width *= 2
		if end += width; tries > 12 || f.left <= 0 || !finite(end) {
			return math.Inf(1)
		}
	}
	return f.search(from, end, (end-from)/200, sign)
}

// search returns an upper bound, up to a tolerance, on sign·θ over the accepted θ between lo and hi.
func (f *fieller) search(lo, hi, tolerance, sign float64) float64 {
	for hi-lo > tolerance && f.left > 0 {
		middle := hi - (hi-lo)/4
		if f.excluded(sign*middle, sign*hi) {
			hi = middle
		} else {
			lo = middle
		}
	}
	return hi
}

// excluded reports whether every θ between a and b is rejected.
func (f *fieller) excluded(a, b float64) bool {
	u, v := f.x-a*f.y, f.x-b*f.y
	if u == 0 || v == 0 || (u > 0) != (v > 0) {
		return false
	}
	most := math.Max(math.Abs(a), math.Abs(b))
	least := math.Min(math.Abs(u), math.Abs(v)) - f.n.slack - most*f.d.slack - rounding*(math.Abs(f.x)+most*math.Abs(f.y))
	if least <= 0 {
		return false
	}
	f.left--
	return f.reach(f.parts(a, b)) < least
}

// excludedBeyond reports whether every θ from a on is rejected, in the direction of sign.
func (f *fieller) excludedBeyond(a, sign float64) bool {
	f.left--
	if a*sign <= 0 { // from a to 0, and from there on, would need two ranges
		return f.excluded(a, sign*math.Abs(f.scale())) && f.excludedBeyond(sign*math.Abs(f.scale()), sign)
	}
	phi := 1 / a // φ between 0 and 1/a
	u, v := -f.y, phi*f.x-f.y
	if u == 0 || v == 0 || (u > 0) != (v > 0) {
		return false
	}
	most := math.Abs(phi)
	least := math.Min(math.Abs(u), math.Abs(v)) - most*f.n.slack - f.d.slack - rounding*(most*math.Abs(f.x)+math.Abs(f.y))
	return least > 0 && f.reach(f.inverse(phi)) < least
}

// scale returns a positive θ that divides the line at a place where both forms matter.
func (f *fieller) scale() float64 {
	if s := math.Abs(f.x / f.y); s > 0 && finite(s) {
		return s
	}
	if s := f.reach(f.n.parts()) / math.Abs(f.y); s > 0 && finite(s) {
		return s
	}
	return 1
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
