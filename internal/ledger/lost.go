package ledger

import (
	"math/big"

	"dither/privacy"
)

// Lost is the total charge without an answer: for reservations that have neither a release nor a step, and for
// fragments. It stays spent, because somebody may have seen what was drawn.
type Lost struct {
	// reservations recorded as failed, except those that were given up
	Failed  int `json:"failed"`
	GivenUp int `json:"given_up"` // those that their analysts gave up
	// reservations without such a record: the analyst's process was killed, or is still running
	Open int `json:"open"`
	Torn int `json:"torn"` // fragments
	// the total of these, under the terms' accountant; each counts in full, whatever parts it covers
	Loss privacy.Loss `json:"loss"`
}

// losing is the running total of the reservations that have neither a release nor a step, so that no question has to
// add them up.
//
// The total is exact, and its δ is not capped at 1. So removing one loss leaves the total of the others.
type losing struct {
	failed, givenUp, open int

	pure  privacy.Epsilon // the losses that are pure
	rho   privacy.Rho     // all losses as zCDP, each by itself
	delta *big.Rat        // likewise; not changed once set
}

func newLosing() losing { return losing{delta: new(big.Rat)} }

// add adds a reservation's loss to the total.
func (s *losing) add(l privacy.Loss) {
	rho, delta := l.ZCDP()
	s.rho, s.delta = s.rho.Plus(rho), new(big.Rat).Add(s.delta, delta.Rat())
	if e, pure := l.Pure(); pure {
		s.pure = s.pure.Plus(e)
	}
}

// remove removes a loss that is part of the total.
func (s *losing) remove(l privacy.Loss) {
	rho, delta := l.ZCDP()
	s.rho, s.delta = s.rho.Minus(rho), new(big.Rat).Sub(s.delta, delta.Rat())
	if e, pure := l.Pure(); pure {
		s.pure = s.pure.Minus(e)
	}
}

// group converts every loss to its guarantee for groups of k units. kε and k²ρ are linear in ε and in ρ, so the
// conversion of the total is the total of the conversions. A δ above 0 has no such form; but then the spent loss has
// none either, and the terms were refused.
func (s *losing) group(k int64) { s.pure, s.rho = s.pure.Group(k), s.rho.Group(k) }

// in is the total under an accountant.
func (s *losing) in(by privacy.Accountant) privacy.Loss {
	if by == privacy.Pure {
		return privacy.PureLoss(s.pure)
	}
	return lossOf(by, []*big.Rat{s.rho.Rat(), new(big.Rat).Set(s.delta)})
}

// lose counts a reservation as lost until one of its answers is recorded.
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

// end counts a reservation as one that will get no further answer.
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

// groupLost converts the lost losses to their guarantee for groups of k units.
func (h *history) groupLost(k int64) {
	_ = h.tornLoss.group(k)
	h.lost.group(k)
	for _, w := range h.waiting {
		if l, err := group(w.loss, k); err == nil {
			w.loss = l
		}
	}
}

// lostSoFar is the lost loss so far, including a fragment at the end of the log.
func (h *history) lostSoFar(torn int, pending privacy.Loss) *Lost {
	out := &Lost{Failed: h.lost.failed, GivenUp: h.lost.givenUp, Open: h.lost.open, Torn: torn}
	if *out == (Lost{}) {
		return nil
	}
	by := h.by()
	out.Loss = h.lost.in(by).Plus(h.tornLoss.in(by)).Plus(pending)
	return out
}
