package pld

import "math"

// atom is one value of the loss with its probabilities under P and Q. If the loss is finite, q = e^(−loss)·p.
type atom struct{ loss, p, q bound }

// atomic is a family with at most 2²⁰ losses, in decreasing order. distance is the distance of the lattice on which
// they lie, or 0 if there is none.
type atomic struct {
	atoms    []atom
	distance float64
}

func (a atomic) describe(s sink) {
	for _, t := range a.atoms {
		s.atom(t.loss, t.p, t.q)
	}
	s.outside(mass{}, mass{})
}

func (a atomic) edges(n int) []float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, t := range a.atoms {
		if l := t.loss.mid(); !math.IsInf(t.loss.lo, 0) {
			low, high = min(low, l), max(high, l)
		}
	}
	return evenly(low-1e-290, high+1e-290, min(n, 64))
}

func (a atomic) spacing() (distance, one float64, ok bool) {
	for _, t := range a.atoms {
		if !math.IsInf(t.loss.lo, 0) {
			return a.distance, t.loss.mid(), a.distance > 0
		}
	}
	return 0, 0, false
}

// generated is an atomic family with many atoms. The function make creates them on demand. The losses are between
// low and high. They lie on a lattice with the given distance between points, and the field one is a point of it.
type generated struct {
	make                     func() atomic
	low, high, one, distance float64
}

func (g generated) describe(s sink) { g.make().describe(s) }

func (g generated) edges(n int) []float64 { return evenly(g.low, g.high, min(n, 256)) }

func (g generated) spacing() (distance, one float64, ok bool) { return g.distance, g.one, true }

// response returns the pair of k-ary randomised response [Kairouz, Bonawitz & Ramage 2016], of which a mass δ is
// moved to a loss of +∞. With k = 2 it dominates every (ε, δ)-private mechanism [Kairouz, Oh & Viswanath 2015,
// Theorem 3.4; Murtagh & Vadhan 2016].
func response(epsilon bound, k int64, delta bound) atomic {
	// The true answer has probability 1/(1 + (k−1)e^(−ε)), and each other answer e^(−ε) times that.
	least := epsilon.neg().exp()
	truth := point(1).over(point(1).add(least.mul(point(float64(k - 1))))).mul(point(1).sub(delta).share())
	other := truth.mul(least)
	a := atomic{distance: 2 * epsilon.mid()}
	if delta.hi > 0 {
		a.atoms = append(a.atoms, atom{point(math.Inf(1)), delta, bound{}})
	}
	a.atoms = append(a.atoms, atom{epsilon, truth, other})
	if k > 2 {
		between := other.mul(point(float64(k - 2)))
		a.distance = epsilon.mid()
		a.atoms = append(a.atoms, atom{bound{}, between, between})
	}
	a.atoms = append(a.atoms, atom{epsilon.neg(), other, truth})
	if delta.hi > 0 {
		a.atoms = append(a.atoms, atom{point(math.Inf(-1)), bound{}, delta})
	}
	return a
}

// discreteLaplace returns the pair of discrete Laplace distributions P(k) = (1−a)/(1+a)·a^|k| with a = e^(−step),
// one centred at 0 and one at the integer shift. The loss is shift·step with probability 1/(1+a), and −shift·step
// with probability a^shift/(1+a). It is (shift − 2k)·step with probability P(k), for 0 < k < shift [Ghosh,
// Roughgarden & Sundararajan 2009].
func discreteLaplace(shift int64, step bound) atomic {
	at := func(k int64) bound { return step.mul(point(float64(k))) } // exact, because k ≤ 2²⁰
	a := step.neg().exp()
	one := point(1).over(point(1).add(a))
	middle := step.neg().expm1().neg().positive().mul(one)
	power := func(k int64) bound { return at(k).neg().exp() }
	family := atomic{distance: 2 * step.mid()}
	family.atoms = append(family.atoms, atom{at(shift), one, one.mul(power(shift))})
	for k := int64(1); k < shift; k++ {
		loss := at(max(shift-2*k, 2*k-shift))
		if shift < 2*k {
			loss = loss.neg()
		}
		family.atoms = append(family.atoms, atom{loss, middle.mul(power(k)), middle.mul(power(shift - k))})
	}
	family.atoms = append(family.atoms, atom{at(shift).neg(), one.mul(power(shift)), one})
	return family
}

// discreteGaussian returns the pair of discrete Gaussian distributions P(k) ∝ e^(−k²/(2σ²)), one centred at 0 and
// one at 1. twice is 2σ². The loss of k is (1 − 2k)/(2σ²) [Canonne, Kamath & Steinke 2020]. Integers beyond 37σ + 1
// have a total probability below 10⁻²⁹⁰, which is moved to a loss of +∞.
func discreteGaussian(twice bound) atomic {
	last := int64(math.Sqrt(twice.hi/2)*reach) + 2
	weights := make([]bound, last+2)
	total := point(0)
	for k := range weights {
		weights[k] = point(float64(k) * float64(k)).over(twice).neg().exp()
		total = total.add(weights[k])
		if k > 0 {
			total = total.add(weights[k])
		}
	}
	total.hi *= 1 + 1e-15 // for the integers beyond last
	at := func(k int64) bound { return weights[max(k, -k)].over(total) }
	family := atomic{distance: 2 / twice.mid()}
	beyond := bound{0, 1e-290}
	family.atoms = append(family.atoms, atom{point(math.Inf(1)), beyond, beyond},
		atom{point(math.Inf(-1)), bound{}, beyond})
	for k := -last; k <= last; k++ {
		loss := point(float64(1 - 2*k)).over(twice)
		family.atoms = append(family.atoms, atom{loss, at(k), at(k - 1)})
	}
	return family
}
