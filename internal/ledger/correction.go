package ledger

import (
	"errors"
	"slices"
	"time"
)

// Correction records that the owner corrects the clock after an entry was dated too late. From then on the clock is
// this entry's date, and not the latest date of all entries. Without a correction, one entry dated 2100 would end all
// grants until then.
//
// # No period's grant is given twice
//
// Claim: whatever the dates of the entries and however often the clock is corrected, the grants that are given belong
// to periods that do not overlap, but for those on both sides of a change of terms that begins grants, or grants by
// another period; and each is of a period that the date of some entry lies in. So all charges admitted until the terms
// change add up to at most one grant for each period that entries were dated in: those of an honest clock, and those
// that a wrong date opened.
//
// Proof. A grant is given where the account of the period is emptied: in enter, adopt and correct, and nowhere else,
// for the period of the clock, which is the date of an entry. Between two corrections the clock never goes back, and
// enter empties only for a period that begins after the running one: so these periods do not overlap. A correction
// takes all that were given before it into closed, and from then on enter and correct empty the account for no period
// that overlaps one of those. By induction no two overlap. A charge is admitted only within what the account leaves of
// the grant; where a period gives none, the account that ran before goes on, which has its own grant once. ∎ The
// lifetime is a filter of its own, which no clock touches.
type Correction struct {
	Ahead time.Time `json:"ahead"` // what the clock was: the latest date of any entry until then
}

// ErrClockRight reports that no entry is dated later than the computer's clock, so there is nothing to correct.
var ErrClockRight = errors.New("no entry is dated later than the computer's clock")

func (Correction) kind() Kind { return KindClock }

func (c Correction) validate() error {
	if !datable(c.Ahead) || c.Ahead.Location() != time.UTC {
		return invalid("the date that is set right")
	}
	return nil
}

// CorrectClock records that the owner sets the ledger's clock to the computer's, after an entry was dated later. It
// returns ErrClockRight if none was.
func (l *Ledger) CorrectClock() (ahead time.Time, err error) {
	s, err := l.State()
	if err != nil {
		return ahead, err
	}
	_, err = l.append(&member{body: Correction{Ahead: s.Clock}, may: l.still(s.Head)})
	return s.Clock, err
}

func (h *history) checkCorrection(c Correction, at time.Time) error {
	switch {
	case !c.Ahead.Equal(h.clock):
		return invalid("the clock stands otherwise")
	case !at.Before(h.clock):
		return ErrClockRight
	}
	return nil
}

// correct sets the clock back.
func (h *history) correct(at time.Time) {
	h.clock = at
	h.closed, h.issued = mergeSpans(append(h.closed, h.issued...)), nil
	if h.terms == nil || h.terms.Grant == nil {
		return
	}
	if h.period = h.terms.Grant.start(at); !h.isClosed(h.period) {
		h.inPeriod = newAccount()
		h.issue()
	}
}

// span is a time from its beginning up to its end.
type span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// issue notes that the grant of the running period was given.
func (h *history) issue() {
	h.issued = mergeSpans(append(h.issued, span{h.period, h.terms.Grant.next(h.period)}))
}

// isClosed reports whether a grant before the newest correction covers a part of this period.
func (h *history) isClosed(start time.Time) bool {
	end := h.terms.Grant.after(start)
	return slices.ContainsFunc(h.closed, func(s span) bool { return s.From.Before(end) && start.Before(s.To) })
}

// nextGrant is the latest time at which, by the calendar, the first period after the one that began at start gives a
// grant.
func (h *history) nextGrant(start time.Time) time.Time {
	g := h.terms.Grant
	next := g.next(start)
	for _, s := range h.closed { // which rise
		if s.From.Before(g.after(next)) && next.Before(s.To) {
			if next = g.start(s.To); next.Before(s.To) {
				next = g.next(next)
			}
		}
	}
	if next.After(lastTime) {
		return lastTime
	}
	return next
}

// mergeSpans sorts spans and joins those that meet.
func mergeSpans(spans []span) []span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return a.From.Compare(b.From) })
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && !s.From.After(out[n-1].To) {
			if s.To.After(out[n-1].To) {
				out[n-1].To = s.To
			}
			continue
		}
		out = append(out, s)
	}
	return out
}
