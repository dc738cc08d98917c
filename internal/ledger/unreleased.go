package ledger

import (
	"cmp"
	"slices"
)

// Unreleased is a reservation that is open, or that was cancelled without counting towards a limit.
type Unreleased struct {
	Reservation uint64 // index of the reservation's entry
	// cancelled by the owner, or by its analyst before cancellations counted; if false, the reservation is open
	Abandoned bool
}

// Unreleased returns all reservations that are open or were cancelled without counting towards a limit, oldest
// first. It reads no entry from the log.
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

// Waits reports whether a reservation is open: it has neither a release nor a recorded failure.
func (l *Ledger) Waits(reservation uint64) (open bool, err error) {
	err = l.locked(func() error {
		open = l.log.waiting[reservation] != nil
		return nil
	})
	return open, err
}
