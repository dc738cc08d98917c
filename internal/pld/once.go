package pld

import "math"

// once holds the losses of a mechanism that is used once, one slice for each direction. Its curve needs no lattice: it
// is a finite sum.
type once [][]atom

// onceOf returns the losses of the only step of a composition. It returns nil if there are several uses, or if the
// step's loss has a density.
func onceOf(order []Step) once {
	if len(order) != 1 || order[0].Count != 1 || !discrete(order[0].Pair.forward) {
		return nil
	}
	var out once
	for _, f := range []family{order[0].Pair.forward, order[0].Pair.backward} {
		if f == nil {
			continue
		}
		var l losses
		f.describe(&l)
		out = append(out, l)
	}
	return out
}

// finite reports whether a family has finitely many losses.
func discrete(f family) bool {
	switch f := f.(type) {
	case atomic, generated:
		return true
	case sampled:
		return discrete(f.of)
	}
	return false
}

// losses is a sink that keeps the atoms. It has no cells, so a family that is [discrete] passes it nothing else.
type losses []atom

func (*losses) cells() int              { return 0 }
func (*losses) edge(int) bound          { return bound{} }
func (*losses) cell(int, mass)          {}
func (*losses) outside(mass, mass)      {}
func (l *losses) atom(loss, p, q bound) { *l = append(*l, atom{loss, p, q}) }

// delta returns bounds on δ(ε) = Σ P(o)·max(0, 1 − e^(ε−l)) over the outcomes o with losses l, the larger of the two
// directions. It equals Σ max(0, P(o) − e^ε·Q(o)), because Q(o) = e^(−l)·P(o).
func (o once) delta(epsilon float64) (lower, upper float64) {
	for _, direction := range o {
		sum := bound{}
		for _, a := range direction {
			switch {
			case math.IsInf(a.loss.lo, 1):
				sum = sum.add(a.p)
			case a.loss.hi > epsilon && !math.IsInf(a.loss.lo, -1):
				sum = sum.add(a.p.mul(point(epsilon).sub(a.loss).expm1().neg().positive()))
			}
		}
		sum = sum.share()
		lower, upper = max(lower, sum.lo), max(upper, sum.hi)
	}
	return lower, upper
}

// epsilon returns bounds on the least ε ≥ 0 with δ(ε) ≤ δ, for every δ in [least, most]. top bounds all finite losses.
func (o once) epsilon(least, most, top float64) (lower, upper float64) {
	under := func(e float64) float64 { d, _ := o.delta(e); return d }
	over := func(e float64) float64 { _, d := o.delta(e); return d }
	if math.IsInf(top, 1) {
		return 0, math.Inf(1)
	}
	upper = crossing(over, least, 0, top, true)
	return crossing(under, most, 0, min(upper, top), false), upper
}
