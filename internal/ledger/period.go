package ledger

import (
	"slices"
	"time"

	"dither/privacy"
)

// Grant is the part of the budget that may be spent in each period. The budget itself is the cap of all periods
// together.
//
// Periods follow the calendar in UTC, with weeks from Monday. The clock is the latest time of any entry, or of the
// entry about to be written if that is later. It never goes back, unless the owner corrects it (Correction). So a
// computer's clock that is set back opens no period again. One that is set forward opens at most one period, because a
// period's remainder is not carried over, and periods without entries grant nothing. The cap holds whatever the clock
// says: an admitted price passes two filters, and privacy.Filter's proof for the cap assumes nothing about the other.
type Grant struct {
	Per  string       `json:"per"`  // "day", "week", "month", "quarter" or "year"
	Loss privacy.Loss `json:"loss"` // counted as the budget is, and within it
}

// Periods are the periods that a policy may grant for.
func Periods() []string { return []string{"day", "week", "month", "quarter", "year"} }

func (g *Grant) validate(budget privacy.Loss) error {
	switch {
	case g == nil:
		return nil
	case !slices.Contains(Periods(), g.Per):
		return invalid("the period of a grant")
	case g.Loss.IsZero() || g.Loss.Accountant() != budget.Accountant() || !g.Loss.Within(budget):
		return invalid("a grant must be above 0 and within the budget")
	}
	return nil
}

// lastTime is the latest time that an entry can have.
var lastTime = time.Date(9999, time.December, 31, 23, 59, 59, 999_999_999, time.UTC)

// datable reports a time that an entry can have.
func datable(t time.Time) bool { year := t.UTC().Year(); return 0 <= year && year <= 9999 }

// start is when the period of t began.
func (g *Grant) start(t time.Time) time.Time {
	if t.UTC().Year() > 9999 { // no later period exists
		t = lastTime
	}
	t = t.UTC()
	year, month, day := t.Date()
	switch g.Per {
	case "week":
		day -= (int(t.Weekday()) + 6) % 7
	case "month":
		day = 1
	case "quarter":
		month, day = month-(month-1)%3, 1
	case "year":
		month, day = time.January, 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// next is the end of the period that began at start: the latest one, by the calendar.
func (g *Grant) next(start time.Time) time.Time {
	if t := g.after(start); t.Before(lastTime) {
		return t
	}
	return lastTime
}

func (g *Grant) after(start time.Time) time.Time {
	switch g.Per {
	case "week":
		return start.AddDate(0, 0, 7)
	case "month":
		return start.AddDate(0, 1, 0)
	case "quarter":
		return start.AddDate(0, 3, 0)
	case "year":
		return start.AddDate(1, 0, 0)
	}
	return start.AddDate(0, 0, 1)
}

// Period is the state of a period's grant.
type Period struct {
	Grant
	Start     time.Time    `json:"start"`
	Next      time.Time    `json:"next"` // when the next grant comes
	Spent     privacy.Loss `json:"spent"`
	Remaining privacy.Loss `json:"remaining"` // of the grant, or of the budget if that is less
}

// granted returns the account of the period of t, and the period's beginning.
func (h *history) granted(t time.Time) (*account, time.Time) {
	if t.Before(h.clock) {
		t = h.clock
	}
	start := h.terms.Grant.start(t)
	switch {
	case !start.After(h.period):
		return h.inPeriod, h.period
	case h.isClosed(start): // its grant was given before the clock was corrected
		return h.inPeriod, start
	}
	return newAccount(), start
}

// periodAt is the state of the grant at t, or nil.
func (h *history) periodAt(t time.Time, pending privacy.Loss) *Period {
	if h.terms == nil || h.terms.Grant == nil {
		return nil
	}
	g := h.terms.Grant
	in, start := h.granted(t)
	p := &Period{Grant: *g, Start: start, Next: h.nextGrant(start)}
	p.Spent = in.spent(h.terms.Neighbours, h.by()).Plus(pending)
	f := privacy.NewFilter(g.Loss)
	f.Record(p.Spent)
	p.Remaining = f.Remaining()
	return p
}

// enter makes the clock's period the one that charges count in.
func (h *history) enter() {
	if h.terms == nil || h.terms.Grant == nil {
		return
	}
	before := h.inPeriod
	if h.inPeriod, h.period = h.granted(h.clock); h.inPeriod != before {
		h.issue()
	}
}
