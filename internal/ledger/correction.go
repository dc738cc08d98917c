package ledger

import (
	"errors"
	"slices"
	"time"
)

// Correction records that the owner corrects the ledger's clock after an entry was dated too late. The clock is the
// latest date of any entry. From a correction on, the clock starts again at the date of the correction's entry.
// Without it, one entry dated 2100 would stop all grants until then.
//
// # No period's grant is given twice
//
// Claim: no two grants are given for overlapping periods, whatever the dates of the entries, and however often the
// owner corrects the clock. There is one exception. If a change of terms introduces grants or changes the length of
// their periods, a grant before the change and a grant after it may overlap. Each grant is for a period that
// contains the date of some entry, right or wrong. So the charges admitted between two changes of terms add up to
// at most one grant for each such period.
//
// Proof. A grant is given when an empty account begins for a period. Only enter, adopt and correct begin one. Each
// does so only for the period of the clock, and the clock is the date of an entry. Between two corrections the
// clock never goes back, and enter begins an account only for a period that starts after the current one. So the
// periods between two corrections do not overlap. A correction moves all periods granted so far into closed. From
// then on, enter and correct begin no account for a period that overlaps a period in closed. By induction, no two
// periods with a grant overlap. A charge is admitted only within what remains of the current account's grant. If a
// period gets no grant, the previous account continues, and its grant was given once. ∎ The budget of all periods
// together is a separate filter, which does not depend on the clock.
type Correction struct {
	Ahead time.Time `json:"ahead"` // the clock before the correction: the latest date of any entry until then
}

// ErrClockRight reports that no entry has a later date than the computer's clock, so nothing needs correction.
var ErrClockRight = errors.New("no entry is dated later than the computer's clock")

func (Correction) kind() Kind { return KindClock }

func (c Correction) validate() error {
	if !datable(c.Ahead) || c.Ahead.Location() != time.UTC {
		return invalid("the date from which the clock is corrected")
	}
	return nil
}

// CorrectClock records that the owner sets the ledger's clock to the computer's clock, because some entry has a
// later date. It returns the ledger's clock before the correction. It returns ErrClockRight if no entry has a later
// date.
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
		return invalid("the clock shows another date")
	case !at.Before(h.clock):
		return ErrClockRight
	}
	return nil
}

// correct sets the clock to the date of a correction, the parameter `at`. It begins a new account if the period that
// contains this date does not overlap a period whose grant was already given.
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

// span is a half-open interval of time: it contains From, but not To.
type span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// issue adds the current period to h.issued: the periods whose grants were given since the last correction of the
// clock.
func (h *history) issue() {
	h.issued = mergeSpans(append(h.issued, span{h.period, h.terms.Grant.next(h.period)}))
}

// isClosed reports whether the period that begins at the time start overlaps a period whose grant was given before the
// owner last corrected the clock (see [Correction]). If so, enter and correct give this period no grant.
func (h *history) isClosed(start time.Time) bool {
	end := h.terms.Grant.after(start)
	return slices.ContainsFunc(h.closed, func(s span) bool { return s.From.Before(end) && start.Before(s.To) })
}

// nextGrant returns the time of the next grant after the period that began at the time `start`. It skips periods that
// overlap one whose grant was given before a correction of the clock. The result follows the calendar, and is at most
// lastTime.
func (h *history) nextGrant(start time.Time) time.Time {
	g := h.terms.Grant
	next := g.next(start)
	for _, s := range h.closed { // in ascending order
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

// mergeSpans returns spans in ascending order, with spans that overlap or touch joined into one.
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
