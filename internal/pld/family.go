package pld

import (
	"math"
	"slices"
)

// family is one direction of a dominating pair (P, Q). It describes the distribution of the privacy loss l = ln
// dP/dQ under P and under Q.
type family interface {
	// describe passes each part of the distribution to the sink once. A part is the mass of a cell between two
	// edges of the sink, or an atom, which may be anywhere.
	describe(s sink)
	// edges returns about n increasing losses that follow the distribution under P and under Q. Beyond the last
	// one, P has a mass below 10⁻²⁹⁰.
	edges(n int) []float64
	// spacing returns the distance of neighbouring losses, and one of the losses, if all losses lie on a lattice.
	// Otherwise ok is false.
	spacing() (distance, one float64, ok bool)
}

// mass is the mass of a cell under P and Q. scaled is e^(upper edge) times q. It does not vanish if q underflows.
type mass struct{ p, q, scaled bound }

// sink receives the description of a [family]. It determines the edges of the cells.
type sink interface {
	cells() int
	edge(j int) bound // edge j of 0 … cells(), increasing; known up to rounding
	cell(j int, m mass)
	atom(loss, p, q bound) // the loss may be ±Inf
	outside(below, above mass)
}

// tail is the mass on one side of a loss y: P(l > y) on the right, or P(l ≤ y) on the left. It is the smaller of
// the two, so that its relative error is small.
type tail struct {
	bound
	right bool
}

// tails holds the tails of a family without atoms at one loss.
type tails struct {
	loss         bound
	p, q, scaled tail // scaled is the tail of Q, times e^loss
}

// between returns the mass between two losses, as a difference of their tails.
func between(a, b tail) bound {
	switch {
	case a.right:
		return a.sub(b.bound).share()
	case !b.right:
		return b.sub(a.bound).share()
	}
	return point(1).sub(a.bound).sub(b.bound).share()
}

// massBetween returns the mass of the cell between two losses.
func massBetween(a, b tails) mass {
	m := mass{p: between(a.p, b.p), q: between(a.q, b.q)}
	grow := bound{}
	if a.scaled.hi > 0 {
		grow = a.scaled.mul(b.loss.sub(a.loss).positive().exp()) // the tail of Q at a, times e^b
	}
	switch {
	case a.q.right:
		m.scaled = grow.sub(b.scaled.bound).positive()
	case !b.q.right:
		m.scaled = b.scaled.sub(grow).positive()
	default:
		m.scaled = b.loss.exp().sub(grow).sub(b.scaled.bound).positive()
	}
	return m
}

// sweep passes a privacy loss distribution without atoms to the sink s: the mass of each cell between two edges of s, and
// the masses beyond the outermost edges. It computes them from the function at, which returns the distribution's tails at
// a loss.
func sweep(s sink, at func(loss bound) tails) {
	zero := tails{}
	one := tails{p: tail{right: true}, q: tail{right: true}}
	a := at(s.edge(0))
	below := mass{p: between(zero.p, a.p), q: between(zero.q, a.q)}
	for j := range s.cells() {
		b := at(s.edge(j + 1))
		s.cell(j, massBetween(a, b))
		a = b
	}
	s.outside(below, mass{p: between(a.p, one.p), q: between(a.q, one.q)})
}

// reversed is the other direction of a family: the pair (Q, P), whose loss is −l.
type reversed struct{ of family }

func (r reversed) describe(s sink) { r.of.describe(mirror{s}) }

func (r reversed) edges(n int) []float64 {
	e := r.of.edges(n)
	slices.Reverse(e)
	for i := range e {
		e[i] = -e[i]
	}
	return e
}

func (r reversed) spacing() (distance, one float64, ok bool) {
	distance, one, ok = r.of.spacing()
	return distance, -one, ok
}

// mirror is a sink that turns the description of (P, Q) into that of (Q, P), and passes it on.
type mirror struct{ sink }

func (m mirror) edge(j int) bound { return m.sink.edge(m.cells() - j).neg() }

func (m mirror) cell(j int, of mass) {
	scaled := bound{}
	if of.p.hi > 0 {
		scaled = of.p.mul(m.edge(j).neg().exp()) // the upper edge of the mirrored cell is minus the lower edge
	}
	m.sink.cell(m.cells()-1-j, mass{of.q, of.p, scaled})
}

func (m mirror) atom(loss, p, q bound) { m.sink.atom(loss.neg(), q, p) }

func (m mirror) outside(below, above mass) {
	m.sink.outside(mass{p: above.q, q: above.p}, mass{p: below.q, q: below.p})
}

// increasing sorts losses. It drops losses that are not finite, and those almost equal to the one before.
func increasing(losses []float64) []float64 {
	losses = slices.DeleteFunc(losses, func(l float64) bool { return math.IsNaN(l) || math.IsInf(l, 0) })
	slices.Sort(losses)
	kept := losses[:0]
	for _, l := range losses {
		if len(kept) == 0 || l-kept[len(kept)-1] > math.Abs(l)*1e-13 {
			kept = append(kept, l)
		}
	}
	return kept
}
