package ledger

import (
	"math/big"

	"dither/privacy"
)

// Lost is what was charged and got no answer: reservations that have neither a release nor a step, and fragments. It is
// spent all the same, since what was drawn may have been seen.
type Lost struct {
	// reservations of which it is recorded that they failed, unless they were given up
	Failed  int `json:"failed"`
	GivenUp int `json:"given_up"` // those that were, by who asked
	// reservations of which nothing is: whoever asked was killed, or is at it still
	Open int `json:"open"`
	Torn int `json:"torn"` // fragments
	// of all of these, as the terms' accountant adds them up; each in full, whatever parts it is about
	Loss privacy.Loss `json:"loss"`
}

// losing is the running sum of the reservations that have neither a release nor a step, so that no question adds them
// up again.
//
// It is exact, and δ is not capped at 1. So removing a loss leaves the sum of the others.
type losing struct {
	failed, givenUp, open int

	pure  privacy.Epsilon // the losses that are pure
	rho   privacy.Rho     // all losses as zCDP, each by itself
	delta *big.Rat        // likewise; not changed once set
}

func newLosing() losing { return losing{delta: new(big.Rat)} }

// add takes a reservation's loss into the sum.
func (s *losing) add(l privacy.Loss) {
	rho, delta := l.ZCDP()
	s.rho, s.delta = s.rho.Plus(rho), new(big.Rat).Add(s.delta, delta.Rat())
	if e, pure := l.Pure(); pure {
		s.pure = s.pure.Plus(e)
	}
}

// remove takes a loss out that is in the sum.
func (s *losing) remove(l privacy.Loss) {
	rho, delta := l.ZCDP()
	s.rho, s.delta = s.rho.Minus(rho), new(big.Rat).Sub(s.delta, delta.Rat())
	if e, pure := l.Pure(); pure {
		s.pure = s.pure.Minus(e)
	}
}

// group makes every loss what it promised k units together: kε and k²ρ are linear in ε and in ρ, so the sum's is
// the sum of the losses'. A δ above 0 has no such form: then what is spent has none either, and the terms were
// refused.
func (s *losing) group(k int64) { s.pure, s.rho = s.pure.Group(k), s.rho.Group(k) }

// in is the sum as an accountant counts it.
func (s *losing) in(by privacy.Accountant) privacy.Loss {
	if by == privacy.Pure {
		return privacy.PureLoss(s.pure)
	}
	return lossOf(by, []*big.Rat{s.rho.Rat(), new(big.Rat).Set(s.delta)})
}

// lose counts a reservation as lost, until something of it is told.
func (h *history) lose(w *waiting) {
	h.lost.open++
	h.lost.add(w.loss)
}

// tell counts a reservation as answered, at least in part: it is not lost.
func (h *history) tell(w *waiting) {
	if w.told {
		return
	}
	w.told = true
	h.lost.open--
	h.lost.remove(w.loss)
}

// end counts a reservation as one that gets no further answer.
func (h *history) end(w *waiting, givenUp bool) {
	switch {
	case w.told:
		return
	case givenUp:
		h.lost.givenUp++
	default:
		h.lost.failed++
	}
	h.lost.open--
}

// groupLost reads what was lost again, as what it promised so many units together.
func (h *history) groupLost(k int64) {
	_ = h.tornLoss.group(k)
	h.lost.group(k)
	for _, w := range h.waiting {
		if l, err := group(w.loss, k); err == nil {
			w.loss = l
		}
	}
}

// lostSoFar is what was lost, with a fragment that stands at the end of the log, if any.
func (h *history) lostSoFar(torn int, pending privacy.Loss) *Lost {
	out := &Lost{Failed: h.lost.failed, GivenUp: h.lost.givenUp, Open: h.lost.open, Torn: torn}
	if *out == (Lost{}) {
		return nil
	}
	by := h.by()
	out.Loss = h.lost.in(by).Plus(h.tornLoss.in(by)).Plus(pending)
	return out
}
