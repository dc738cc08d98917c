package model

import "math"

// every is the number of steps from one check of a fit to the next.
const every = 10

// How a fit adapts the length of its steps.
const (
	growth = 1.3  // the factor by which a search first lengthens the last step
	shrink = 0.5  // the longest step after one that failed, relative to it
	relax  = 1.02 // the factor by which the longest step grows at each check
)

// rounding is a relative difference of losses, or of their slopes, that rounding may cause.
const rounding = 1e-14

// descend lowers the loss by accelerated mirror descent. A step of mirror descent subtracts a multiple of the gradient
// from the potentials. Acceleration then adds a growing share of the last change of the potentials, until that change
// points uphill.
//
// At each check, whenever there is no momentum, and until a step is too long, the multiple is searched: it grows, and is
// halved until the loss falls by half of what the gradient promises. The other steps are not searched, which halves the evaluations. If the
// loss has not fallen from one check to the next, the fit goes back to the best point, and makes shorter steps for a
// while. So the losses at the checks never rise.
//
// Sources: McKenna et al. 2019, Algorithm 1 with its line search, for mirror descent. Nesterov 1983, and O'Donoghue and
// Candès, "Adaptive restart for accelerated gradient schemes", 2015, for the momentum, here on potentials.
func (s *solver) descend() {
	report := &s.model.report
	loss := s.evaluate()
	best, momentum := loss, 0
	s.each(func(f *factor) {
		copy(f.best, f.potential)
		copy(f.point, f.potential)
	})
	for ; report.Iterations < s.options.Iterations; report.Iterations++ {
		check := report.Iterations%every == 0
		switch {
		case !check || report.Iterations == 0:
		case loss <= best*(1+rounding):
			slow := best-loss <= s.options.Improvement*loss
			best = loss
			s.each(func(f *factor) { copy(f.best, f.potential) })
			report.Converged = s.ended(loss, slow)
		default:
			s.back()
			s.longest = s.step * shrink
			s.step /= 2
			loss, momentum = s.evaluate(), 0
		}
		if report.Converged {
			break
		}
		if check {
			s.longest *= relax
		}
		s.keep()
		searched := check || momentum == 0 || s.opening
		if searched {
			next, falls := s.search()
			if !falls { // no step is short enough for floating-point numbers
				s.move(0)
				break
			}
			loss = next
		} else {
			s.shift(s.step)
		}
		if momentum > 0 && s.uphill() {
			momentum = 0
		}
		share := float64(momentum) / float64(momentum+3)
		momentum++
		s.each(func(f *factor) {
			for i, v := range f.potential {
				f.potential[i] += share * (v - f.point[i])
				f.point[i] = v
			}
		})
		if share > 0 || !searched {
			loss = s.evaluate()
		}
	}
	if !(loss <= best) {
		s.back()
		loss = s.evaluate()
	}
	report.Loss, report.Gap = loss, s.gap(loss)
	s.evaluate()
}

// ended reports whether the fit may end at a point.
func (s *solver) ended(loss float64, slow bool) bool {
	if s.options.Gap > 0 {
		return s.gap(loss) <= s.options.Gap
	}
	return slow
}

// each calls f for the factors whose potentials the fit chooses, and marks them as changed.
func (s *solver) each(f func(*factor)) {
	for _, of := range s.model.factors {
		if !of.fixed {
			f(of)
			of.changed = true
		}
	}
}

// back returns to the best point.
func (s *solver) back() {
	s.each(func(f *factor) {
		copy(f.potential, f.best)
		copy(f.point, f.best)
	})
}

// keep stores the point from which the next steps go.
func (s *solver) keep() {
	s.each(func(f *factor) {
		f.potential, f.oldPotential = f.oldPotential, f.potential
		f.marginal, f.oldMarginal = f.oldMarginal, f.marginal
		f.gradient, f.oldGradient = f.oldGradient, f.gradient
	})
}

// search finds a step from the stored point and makes it. It returns the loss, and whether there is such a step.
func (s *solver) search() (loss float64, falls bool) {
	factor := growth
	if s.opening {
		factor = 2
	}
	s.step = min(s.step*factor, s.longest)
	for range 60 {
		if loss, falls = s.move(s.step); falls {
			return loss, true
		}
		s.step /= 2
		s.opening = false
	}
	return loss, false
}

// move makes a step from the stored point, and returns the loss. It reports whether the loss has fallen by at least
// half of ⟨g, μ − μ′⟩, which the gradient g promises for the change of the marginals from μ to μ′. A quadratic loss
// falls by exactly ⟨g + g′, μ − μ′⟩/2, so this holds if ⟨g′, μ − μ′⟩ ≥ 0, up to rounding. The product is precise where
// the difference of two losses is not.
func (s *solver) move(step float64) (loss float64, falls bool) {
	s.shift(step)
	loss = s.evaluate()
	slope, size := 0.0, 0.0
	s.each(func(f *factor) {
		for i, g := range f.gradient {
			slope += g * (f.oldMarginal[i] - f.marginal[i])
			size += math.Abs(g) * f.marginal[i]
		}
	})
	return loss, slope >= -rounding*size
}

// shift sets the potentials to a step from the stored point.
func (s *solver) shift(step float64) {
	s.each(func(f *factor) {
		for i, g := range f.oldGradient {
			f.potential[i] = f.oldPotential[i] - step*g
		}
	})
}

// uphill reports whether the potentials have moved in a direction in which the loss rises, from the last point to this
// one. It treats factors as independent, which decides nothing but the speed.
func (s *solver) uphill() bool {
	slope := 0.0
	s.each(func(f *factor) {
		both, gradient, change := 0.0, 0.0, 0.0
		for i, p := range f.oldMarginal {
			move := f.potential[i] - f.point[i]
			both += p * f.oldGradient[i] * move
			gradient += p * f.oldGradient[i]
			change += p * move
		}
		slope += both - gradient*change/s.model.total
	})
	return slope > 0
}
