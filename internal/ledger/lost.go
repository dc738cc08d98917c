package ledger

import (
	"math/big"

	"dither/privacy"
)

// Lost is the total charge without an answer: for reservations that have neither a release nor a step, and for
// fragments of interrupted writes. This charge stays spent, because somebody may have seen what was drawn.
type Lost struct {
	// reservations with a recorded failure, except cancelled ones
	Failed  int `json:"failed"`
	GivenUp int `json:"given_up"` // reservations that were cancelled
	// reservations without a release or a failure: in progress, or left by a process that was killed
	Open int `json:"open"`
	Torn int `json:"torn"` // charged fragments of interrupted writes
	// their total loss, under the terms' accountant; each loss counts in full, even if it was confined to parts
	Loss privacy.Loss `json:"loss"`
}

// losing is the running total of the losses of the reservations that have neither a release nor a step. Keeping it
// saves adding them up for every question.
//
// The total is exact, and its δ may exceed 1. So subtracting one loss leaves the exact total of the others.
type losing struct {
	failed, givenUp, open int

	pure  privacy.Epsilon // sum of the pure losses
	rho   privacy.Rho     // sum of all losses, each converted to zCDP
	delta *big.Rat        // sum of their δ; replaced, never changed in place
}

func newLosing() losing { return losing{delta: new(big.Rat)} }

// add adds a reservation's loss to the sums.
func (s *losing) add(l privacy.Loss) {
	rho, delta := l.ZCDP()
	s.rho, s.delta = s.rho.Plus(rho), new(big.Rat).Add(s.delta, delta.Rat())
	if e, pure := l.Pure(); pure {
		s.pure = s.pure.Plus(e)
	}
}

// remove subtracts a loss that was added before.
func (s *losing) remove(l privacy.Loss) {
	rho, delta := l.ZCDP()
	s.rho, s.delta = s.rho.Minus(rho), new(big.Rat).Sub(s.delta, delta.Rat())
	if e, pure := l.Pure(); pure {
		s.pure = s.pure.Minus(e)
	}
}

// group converts every loss to the loss of groups of k units. kε and k²ρ are linear in ε and in ρ, so converting
// the total equals adding the converted losses. A δ above 0 has no such conversion, but then checkAdoption has
// refused the terms.
func (s *losing) group(k int64) { s.pure, s.rho = s.pure.Group(k), s.rho.Group(k) }

// in returns the total under an accountant.
func (s *losing) in(by privacy.Accountant) privacy.Loss {
	if by == privacy.Pure {
		return privacy.PureLoss(s.pure)
	}
	return lossOf(by, []*big.Rat{s.rho.Rat(), new(big.Rat).Set(s.delta)})
}

// lose counts a new reservation as lost until a release or a step is recorded.
func (h *history) lose(w *waiting) {
	h.lost.open++
	h.lost.add(w.loss)
}

// tell counts a reservation as answered, at least in part, so its loss leaves the total.
func (h *history) tell(w *waiting) {
	if w.told {
		return
	}
	w.told = true
	h.lost.open--
	h.lost.remove(w.loss)
}

// end counts a reservation as failed or given up, if none of its answers was recorded. Its loss stays in the total.
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

// groupLost converts the losses of charged fragments and of reservations without an answer to the losses of groups
// of k units.
func (h *history) groupLost(k int64) {
	_ = h.tornLoss.group(k)
	h.lost.group(k)
	for _, w := range h.waiting {
		if l, err := group(w.loss, k); err == nil {
			w.loss = l
		}
	}
}

// lostSoFar returns the total charge without an answer, or nil if there is none. torn is the number of charged
// fragments, and pending is the charge for the one at the end of the log.
func (h *history) lostSoFar(torn int, pending privacy.Loss) *Lost {
	out := &Lost{Failed: h.lost.failed, GivenUp: h.lost.givenUp, Open: h.lost.open, Torn: torn}
	if *out == (Lost{}) {
		return nil
	}
	by := h.by()
	out.Loss = h.lost.in(by).Plus(h.tornLoss.in(by)).Plus(pending)
	return out
}
