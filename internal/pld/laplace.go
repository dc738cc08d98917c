package pld

// laplace is the pair of Laplace distributions of scale b at 0 and at Δ, by e = Δ/b. Under P the loss is e with
// probability ½, −e with probability ½·e^(−e), and between them has the density ¼·e^(−(e−l)/2); under Q it
// is the mirror image.
type laplace struct{ epsilon bound }

func (d laplace) describe(s sink) {
	half := point(0.5)
	e := d.epsilon
	low := e.neg().exp().mul(half)
	s.atom(e, half, low)
	s.atom(e.neg(), low, half)
	d.describeBetween(s, point(1))
}

// describeBetween describes the part between the two atoms, times the given number.
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

// between is ½·(e^(−(e−b)/2) − e^(−(e−a)/2)) under P, its mirror image under Q, and e^(upper edge) times
// the latter, for the part from a to b of the cell that lies within ±e.
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

// evenly is n + 1 numbers from a to b, with both ends moved outward a little so that the ends are inside.
func evenly(a, b float64, n int) []float64 {
	hair := (b - a) * 1e-6
	a, b = a-hair, b+hair
	e := make([]float64, 0, n+1)
	for i := 0; i <= n; i++ {
		e = append(e, a+(b-a)*(float64(i)/float64(n)))
	}
	return increasing(e)
}
