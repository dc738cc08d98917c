package ledger

import (
	"slices"
	"time"

	"dither/privacy"
)

// Grant is the amount of the budget that may be spent in each period. The budget itself limits all periods
// together.
//
// Periods follow the calendar in UTC, with weeks from Monday. The ledger's clock is the latest time of any entry,
// or of the entry about to be written if that is later. The clock never goes back, unless the owner corrects it
// ([Correction]). So setting a computer's clock back does not reopen an earlier period. Setting it forward opens at
// most one period, because unspent grants are not carried over and periods without entries grant nothing. The
// budget holds whatever the clock shows: an admitted price passes both filters, and the proof of privacy.Filter for
// the budget does not depend on the grant's filter.
type Grant struct {
	Per  string       `json:"per"`  // "day", "week", "month", "quarter" or "year"
	Loss privacy.Loss `json:"loss"` // the amount; under the budget's accountant, and within the budget
}

// Periods returns the names of the periods for which a policy may grant.
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

// datable reports whether an entry can have the time t.
func datable(t time.Time) bool { year := t.UTC().Year(); return 0 <= year && year <= 9999 }

// start returns the beginning of the period that contains t.
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

// next returns the end of the period that began at the time `start`, or lastTime if that is earlier.
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

// Period is the state of the current period's grant.
type Period struct {
	Grant
	Start     time.Time    `json:"start"`
	Next      time.Time    `json:"next"` // time of the next grant, by the calendar
	Spent     privacy.Loss `json:"spent"`
	Remaining privacy.Loss `json:"remaining"` // of the grant, or of the budget if less remains of it
}

// granted returns the account in which a charge at time t counts, and the beginning of its period.
func (h *history) granted(t time.Time) (*account, time.Time) {
	if t.Before(h.clock) {
		t = h.clock
	}
	start := h.terms.Grant.start(t)
	switch {
	case !start.After(h.period):
		return h.inPeriod, h.period
	// the period's grant was given before the clock was corrected, so the current account continues
	case h.isClosed(start):
		return h.inPeriod, start
	}
	return newAccount(), start
}

// periodAt returns the state of the grant at time t, or nil if there are no grants. The parameter pending is the charge
// for a fragment of an interrupted write at the end of the log, or zero.
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

// enter moves to the period that contains the clock's time. From now on charges count in that period's account, or
// in the previous account if the period gets no grant.
func (h *history) enter() {
	if h.terms == nil || h.terms.Grant == nil {
		return
	}
	before := h.inPeriod
	if h.inPeriod, h.period = h.granted(h.clock); h.inPeriod != before {
		h.issue()
	}
}
