package ledger

import (
	"cmp"
	"slices"
)

// Unreleased is a reservation that has no release and did not fail.
type Unreleased struct {
	Reservation uint64 // the index of its entry
	Abandoned   bool   // the owner gave it up, or its analyst did before that counted; otherwise it is open
}

// Unreleased returns all such reservations, oldest first. It reads no entry.
func (l *Ledger) Unreleased() (out []Unreleased, err error) {
	err = l.locked(func() error {
		out = make([]Unreleased, 0, len(l.log.waiting)+len(l.log.abandoned))
		for i := range l.log.waiting {
			out = append(out, Unreleased{i, false})
		}
		for i := range l.log.abandoned {
			out = append(out, Unreleased{i, true})
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Unreleased) int { return cmp.Compare(a.Reservation, b.Reservation) })
	return out, err
}

// Waits reports whether a reservation is open: it has neither release nor failure.
func (l *Ledger) Waits(reservation uint64) (open bool, err error) {
	err = l.locked(func() error {
		open = l.log.waiting[reservation] != nil
		return nil
	})
	return open, err
}
