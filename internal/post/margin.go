package post

import (
	"math"

	"dither/internal/value"
)

// margin is the error of a cell that depends on released numbers. The cell's value is a linear form, a quotient of two
// forms, or something that has an interval of its own.
type margin struct {
	over, under *form   // the value is over/under; under is nil for a linear form. Both are nil if ends is set
	x, y        float64 // with under: the values of over and under
	ends        *Interval
}

// interval returns the interval of a cell at the level of l. ok is false if the intervals of the question take too long.
func (l *laws) interval(m *margin, x float64) (i Interval, ok bool) {
	switch {
	case m.ends != nil:
		return *m.ends, true
	case m.under == nil:
		return l.linear(m.over, x)
	}
	i, ok = l.quotient(m.over, m.under, m.x, m.y)
	return Interval{math.Min(i.Low, down(x)), math.Max(i.High, up(x))}, ok
}

// stdDev returns the standard deviation of a linear form's noise, or 0 for another margin.
func (l *laws) stdDev(m *margin) float64 {
	if m.over == nil || m.under != nil {
		return 0
	}
	if known, ok := l.deviations[m.over]; ok {
		return known
	}
	square := 0.0
	for _, t := range m.over.terms {
		square += t.coefficient * t.coefficient * t.of.Unit * t.of.Unit * l.variance(t.of)
	}
	l.deviations[m.over] = math.Sqrt(square)
	return l.deviations[m.over]
}

// formOf returns a cell as a linear form. ok is false if it is none. An exact number is a constant form.
func formOf(c Cell, exact bool) (f *form, ok bool) {
	switch {
	case c.Value.Null:
		return nil, false
	case exact:
		return constant(number(c.Value)), true
	case c.error == nil || c.error.over == nil || c.error.under != nil:
		return nil, false
	}
	return c.error.over, true
}

// sum returns the error of a + s·b. xa and xb say whether a and b are exact.
func (e *env) sum(a, b Cell, xa, xb bool, s float64) *margin {
	f, ok1 := formOf(a, xa)
	g, ok2 := formOf(b, xb)
	switch {
	case xa && xb:
		return nil
	case ok1 && ok2:
		return e.plus(f, g, s)
	case xb && a.error != nil:
		return e.shifted(a, s*number(b.Value))
	case xa && b.error != nil:
		return e.shifted(e.scaled(b, s), number(a.Value))
	}
	p, q := a.error, b.error
	if p == nil || q == nil || p.under == nil || q.under == nil || p.y != q.y || !same(p.under, q.under) {
		return nil
	}
	if !e.afford(len(p.over.terms) + len(q.over.terms)) {
		return nil
	}
	return fraction(p.over.plus(q.over, s), p.under, p.x+s*q.x, p.y)
}

// same reports whether two forms are the same combination of the same numbers.
func same(f, g *form) bool {
	if len(f.terms) != len(g.terms) {
		return false
	}
	for i, t := range f.terms {
		if t.id != g.terms[i].id || t.coefficient != g.terms[i].coefficient {
			return false
		}
	}
	return true
}

// plus returns the error of f + c·g, unless the forms of the question have become too large.
func (e *env) plus(f, g *form, c float64) *margin {
	if !e.afford(len(f.terms) + len(g.terms)) {
		return nil
	}
	return &margin{over: f.plus(g, c)}
}

func fraction(over, under *form, x, y float64) *margin {
	if y == 0 || !finite(x) || !finite(y) {
		return nil
	}
	return &margin{over: over, under: under, x: x, y: y}
}

// shifted returns the error of c + by, where by is exact.
func (e *env) shifted(c Cell, by float64) *margin {
	m := c.error
	switch {
	case m == nil:
		return nil
	case m.ends != nil:
		return ends(m.ends.Low+by, m.ends.High+by)
	case m.under != nil:
		if !e.afford(len(m.over.terms) + len(m.under.terms)) {
			return nil
		}
		return fraction(m.over.plus(m.under, by), m.under, m.x+by*m.y, m.y)
	}
	return e.plus(m.over, constant(by), 1)
}

// scaled returns by·c, where by is exact.
func (e *env) scaled(c Cell, by float64) Cell {
	m := c.error
	switch {
	case m == nil:
	case m.ends != nil && by >= 0:
		c.error = ends(m.ends.Low*by, m.ends.High*by)
	case m.ends != nil:
		c.error = ends(m.ends.High*by, m.ends.Low*by)
	case !e.afford(len(m.over.terms)):
		c.error = nil
	case m.under != nil:
		c.error = fraction(m.over.times(by), m.under, m.x*by, m.y)
	default:
		c.error = &margin{over: m.over.times(by)}
	}
	return c
}

// divided returns the error of a/b.
func (e *env) divided(a, b Cell, xa, xb bool) *margin {
	x, y := number(a.Value), number(b.Value)
	if xb {
		return e.scaled(a, 1/y).error
	}
	g, linear := formOf(b, false)
	f, ok := formOf(a, xa)
	switch {
	case ok && linear:
		return fraction(f, g, x, y)
	case linear || a.error == nil || b.error == nil || a.error.under == nil || b.error.under == nil,
		a.error.y != b.error.y, !same(a.error.under, b.error.under):
		return nil
	}
	return fraction(a.error.over, b.error.over, a.error.x, b.error.x)
}

// mapped returns the error of f(c), where f is monotone: its ends are those of c's interval. down and up widen the
// result for the rounding of f.
func (e *env) mapped(c Cell, f func(float64) float64, rounds bool) *margin {
	if c.error == nil {
		return nil
	}
	i, ok := e.laws.interval(c.error, number(c.Value))
	if !ok {
		return nil
	}
	lo, hi := f(i.Low), f(i.High)
	if lo > hi {
		lo, hi = hi, lo
	}
	if rounds {
		lo, hi = down(lo), up(hi)
	}
	return ends(lo, hi)
}

// ends returns the error of a cell with an interval of its own. A NaN, as of ∞ − ∞, is no bound.
func ends(lo, hi float64) *margin {
	if math.IsNaN(lo) {
		lo = math.Inf(-1)
	}
	if math.IsNaN(hi) {
		hi = math.Inf(1)
	}
	return &margin{ends: &Interval{down(lo), up(hi)}}
}

// widen returns an interval around a whole number, whose true value is whole too.
func widen(i Interval, v value.Value) Interval {
	if v.Type != value.Integer || math.Abs(i.Low) > 1<<52 || math.Abs(i.High) > 1<<52 {
		return i
	}
	return Interval{math.Ceil(i.Low), math.Floor(i.High)}
}
