package ledger

import "dither/privacy"

// Lost is what was charged and got no answer: reservations that have neither a release nor a step, and fragments. It is spent all the same, since what
// was drawn may have been seen.
type Lost struct {
	Failed  int          `json:"failed"`   // reservations of which it is recorded that they failed, unless they were given up
	GivenUp int          `json:"given_up"` // those that were, by who asked
	Open    int          `json:"open"`     // reservations of which nothing is: whoever asked was killed, or is at it still
	Torn    int          `json:"torn"`     // fragments
	Loss    privacy.Loss `json:"loss"`     // of all of these, as the terms' accountant adds them up; each in full, whatever parts it is about
}

// lose notes a reservation, until it has an answer.
func (h *history) lose(reservation uint64, l privacy.Loss) {
	t := newTally()
	t.add(l)
	h.lost[reservation] = t
}

// groupLost reads what was lost again, as what it promised so many units together. Where that has no form, what is spent has none either, and the terms were
// refused.
func (h *history) groupLost(k int64) {
	_ = h.tornLoss.group(k)
	for _, t := range h.lost {
		_ = t.group(k)
	}
}

// lostSoFar adds it up, with a fragment that stands at the end of the log, if any.
func (h *history) lostSoFar(torn int, pending privacy.Loss) *Lost {
	if len(h.lost) == 0 && torn == 0 {
		return nil
	}
	out, total := &Lost{Torn: torn}, newTally()
	total.plus(h.tornLoss)
	for reservation, t := range h.lost {
		total.plus(t)
		switch {
		case h.givenUp[reservation]:
			out.GivenUp++
		case h.failed[reservation]:
			out.Failed++
		default:
			out.Open++
		}
	}
	out.Loss = total.in(h.by()).Plus(pending)
	return out
}
