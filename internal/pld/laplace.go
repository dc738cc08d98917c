package pld

// laplace is the pair of Laplace distributions of scale b centred at 0 and at Δ, given by ε = Δ/b. Under P, the
// loss is ε with probability ½ and −ε with probability ½·e^(−ε). Between these it has the density ¼·e^(−(ε−l)/2).
// Under Q the distribution is the mirror image.
type laplace struct{ epsilon bound }

func (d laplace) describe(s sink) {
	half := point(0.5)
	e := d.epsilon
	low := e.neg().exp().mul(half)
	s.atom(e, half, low)
	s.atom(e.neg(), low, half)
	d.describeBetween(s, point(1))
}

// describeBetween describes to s the part of the distribution between the two atoms, with all masses multiplied by
// times.
func (d laplace) describeBetween(s sink, times bound) {
	e := d.epsilon
	between := func(a, b bound) mass {
		m := d.between(a, b)
		return mass{m.p.mul(times), m.q.mul(times), m.scaled.mul(times)}
	}
	for j := range s.cells() {
		if lo, hi := s.edge(j), s.edge(j+1); hi.hi > -e.hi && lo.lo < e.hi {
			s.cell(j, between(lo, hi))
		}
	}
	first, last := s.edge(0), s.edge(s.cells())
	var below, above mass
	if first.hi > -e.hi {
		below = between(e.neg(), first)
	}
	if last.lo < e.hi {
		above = between(last, e)
	}
	s.outside(below, above)
}

// between returns the mass of a cell, where a and b are its ends clamped to ±ε. Under P it is ½·(e^(−(ε−b)/2) −
// e^(−(ε−a)/2)), and under Q the mirror image. scaled is the mass under Q times e^(upper edge).
func (d laplace) between(lower, upper bound) mass {
	e, half := d.epsilon, point(0.5)
	a := bound{max(lower.lo, -e.hi), max(lower.hi, -e.lo)}
	b := bound{min(upper.lo, e.lo), min(upper.hi, e.hi)}
	width := b.sub(a).positive().mul(half)
	share := width.neg().expm1().neg().positive().mul(half)
	p := e.sub(b).positive().mul(half).neg().exp().mul(share)
	q := e.add(a).positive().mul(half).neg().exp().mul(share)
	return mass{p, q, p.mul(width.exp()).mul(upper.sub(b).positive().exp())}
}

func (d laplace) edges(n int) []float64 { return evenly(-d.epsilon.hi, d.epsilon.hi, min(n/3, 64)) }

func (laplace) spacing() (distance, one float64, ok bool) { return 0, 0, false }

// evenly returns n + 1 evenly spaced numbers, the first slightly below a and the last slightly above b.
func evenly(a, b float64, n int) []float64 {
	hair := (b - a) * 1e-6
	a, b = a-hair, b+hair
	e := make([]float64, 0, n+1)
	for i := 0; i <= n; i++ {
		e = append(e, a+(b-a)*(float64(i)/float64(n)))
	}
	return increasing(e)
}
