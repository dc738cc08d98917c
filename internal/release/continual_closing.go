package release

import (
	"fmt"
	"time"

	"dither/mechanism/stream"
)

// closing says which periods an advance closes: up to the period `until`. New rows count in the period `at`; 0 means that
// no rows are read.
type closing struct{ at, until int }

// mostReleases limits the numbers that one advance releases. They are one entry of the ledger, whose size is limited: a
// larger entry could never be written, and the stream could not go on. A number of a stream has at most some hundred
// digits.
const mostReleases = 1 << 18

// closes decides which periods an advance closes. It depends on the times of sealing, the clock and the ledger, and on
// no row.
func (c *Continual) closes(r *ContinualRecord, h stream.Header, now time.Time, most int) (closing, error) {
	refused := func(message, hint string) (closing, error) {
		return closing{}, &EndedError{How: Over, Message: message, Hint: hint}
	}
	t, v, first := r.Terms, c.look.tables[0], len(r.Released)+1
	current := t.PeriodAt(now)
	// the ledger's times and those of sealing have whole seconds
	if at := now.Add(time.Second); at.Before(r.newest) || at.Before(v.Sealed) {
		return refused(
			fmt.Sprintf("the clock goes back: the newest entry of the stream or version of the table is from %s",
				later(r.newest, v.Sealed).UTC().Format(time.RFC3339)),
			"correct the clock; nothing was released")
	}
	switch {
	case current < 1:
		return refused("the stream begins at "+t.From.Format(time.RFC3339), "advance it then")
	case most != 0 && most < first:
		return refused(fmt.Sprintf("period %d is released already", most), "`dither stream show` prints it")
	case most > t.Periods:
		return refused(fmt.Sprintf("the stream has %d periods", t.Periods), "")
	case most > current:
		return refused(fmt.Sprintf("period %d begins at %s", most, t.Begins(most).Format(time.RFC3339)), "advance it then")
	}
	if limit := first - 1 + max(mostReleases/t.Cells, 1); most == 0 || most > limit {
		most = limit
	}
	out := closing{until: min(current-1, t.Periods)}
	if v.Number > h.Version {
		out.at = max(min(t.PeriodAt(v.Sealed), current), first)
		if out.at > current || out.at > t.Periods {
			out.at = 0 // not yet, or after the horizon
		}
		out.until = max(out.until, out.at)
	}
	if most < out.until {
		out.until = most
		if out.at > most {
			out.at = 0
		}
	}
	if out.until < first && current < first {
		return refused(
			fmt.Sprintf("no period can be closed now: period %d begins at %s", first, t.Begins(first).Format(time.RFC3339)),
			"advance it then")
	}
	if out.until < first {
		return refused(
			fmt.Sprintf("no period can be closed now: period %d ends at %s", first, t.Begins(first+1).Format(time.RFC3339)),
			"to close it now, seal a new version of the table first; or advance the stream then")
	}
	return out, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
