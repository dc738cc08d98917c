package ledger

import (
	"errors"
	"fmt"
	"time"

	"dither/privacy"
)

// check returns nil if e may be the next entry. It does not change the visible state. Every entry that it accepts
// keeps two invariants: nothing is released without a reservation, and nothing is admitted beyond the budget in
// force.
func (h *history) check(e Entry) error {
	tip, begun := h.tip()
	if _, genesis := e.Body.(Genesis); genesis == begun {
		return errors.New("the first entry must be a genesis, and no other may be")
	}
	if e.Index != h.count() {
		return fmt.Errorf("it is entry %d, but entry %d is due", e.Index, h.count())
	}
	if e.Prev != tip.Hash {
		return errUnlinked
	}
	switch b := e.Body.(type) {
	case Genesis:
		return nil
	case Adoption:
		return h.checkAdoption(b)
	case Seal:
		if b.Version <= h.sealed[b.Table].Version {
			return invalid("the versions of a table must increase")
		}
		return nil
	case Reservation:
		return h.checkReservation(b, e.Time)
	case Release:
		if err := h.checkOpen(b.Reservation); err != nil {
			return err
		}
		return h.recall(b.Reservation)
	case Checkpoint:
		return h.checkCheckpoint(b, e.Index)
	case Step:
		if h.failures >= MaxFailures {
			return ErrSuspended
		}
		if err := h.checkOpen(b.Reservation); err != nil {
			return err
		}
		return suspended(h.failures, h.givenUpBy, h.asker(b.Reservation))
	case Failure:
		return h.checkOpen(b.Reservation)
	case StepGivenUp:
		return h.checkOpen(b.Reservation)
	case Resume:
		return nil
	case Correction:
		return h.checkCorrection(b, e.Time)
	case Opening:
		return h.checkOpening(b)
	case Recovery:
		return h.checkRecovery(b)
	case Torn:
		// the writer of this entry relied on the head file, which a reader of the log cannot check
		if b.Unacknowledged {
			return nil
		}
		if most := h.maxPrice(); !b.Loss.Within(most) || !most.Within(b.Loss) {
			return errors.New("a fragment must be charged the maximum price")
		}
		return nil
	}
	return errors.New("unknown kind of entry")
}

// checkOpen returns ErrNotReserved unless the index is that of a reservation with neither release nor failure.
func (h *history) checkOpen(reservation uint64) error {
	if h.waiting[reservation] == nil {
		return ErrNotReserved
	}
	return nil
}

// checkAdoption returns ErrIncompatible if the past charges cannot be converted to the new terms
// (docs/design/0002-ledger.md).
func (h *history) checkAdoption(a Adoption) error {
	if h.terms == nil || h.spentIn(privacy.ZCDP).IsZero() {
		return nil // there are no charges to convert
	}
	old := h.terms
	switch {
	case old.Neighbours == privacy.ChangeOne && a.Terms.Neighbours == privacy.AddRemove:
		// Change-one promises nothing about the number of units.
		return fmt.Errorf("%w: change-one cannot become add-remove once something is spent", ErrIncompatible)
	case old.Neighbours != a.Terms.Neighbours && a.Group < 2:
		return fmt.Errorf("%w: from add-remove to change-one, past charges must count at least twice", ErrIncompatible)
	case h.impure && a.Terms.Budget.Accountant() == privacy.Pure:
		return fmt.Errorf("%w: charges in ρ have no pure ε", ErrIncompatible)
	}
	_, had := old.units()
	if _, has := a.Terms.units(); len(h.origins) > 0 && has && !had {
		// An opening or a recovery charges a loss for one row. Nobody knows how many rows of one person it stands
		// for.
		return fmt.Errorf(
			"%w: the spending of other ledgers or lost entries was charged for rows, and no loss of persons is known",
			ErrIncompatible)
	}
	if _, err := group(h.spentIn(privacy.ZCDP), a.Group); err != nil {
		return fmt.Errorf("%w: %w", ErrIncompatible, err)
	}
	return nil
}

// group returns the loss l for a group of k units, as Loss.Group does. For a group of one it returns l itself.
func group(l privacy.Loss, k int64) (privacy.Loss, error) {
	if k == 1 {
		return l, nil
	}
	return l.Group(k)
}

func (h *history) checkReservation(r Reservation, at time.Time) error {
	switch {
	case h.terms == nil:
		return ErrNoPolicy
	case r.Policy != h.terms.Digest:
		return ErrPolicyChanged
	}
	if err := suspended(h.failures, h.givenUpBy, r.Analyst); err != nil {
		return err
	}
	if !r.Loss.Within(h.terms.MaxPrice) {
		return fmt.Errorf("%w: it is %s, and the maximum is %s", ErrPrice, r.Loss, h.terms.MaxPrice)
	}
	for _, s := range r.Sources {
		if !h.versions[s] {
			return ErrNotSealed
		}
	}
	limits, err := h.limits(r, at)
	if err != nil {
		return err
	}
	for i, l := range limits {
		left, fits := l.admits(r.Loss)
		if fits {
			continue
		}
		overdraw := &privacy.OverdrawError{Price: r.Loss, Remaining: left, Budget: l.budget}
		if l.of != "" {
			return &LimitError{l.of, overdraw, l.nextFor(r.Loss, limits[i+1:])}
		}
		return overdraw
	}
	return nil
}

// limit is one of the limits that a reservation must fit.
type limit struct {
	of     string // name of the limit in messages; "" for the budget
	budget privacy.Loss
	left   func() privacy.Loss
	// quick test, if set: true means that the price fits, false means that the field left must decide
	fits   func() bool
	next   *limit    // for a grant: the next period's grant, unspent
	begins time.Time // the time at which the next period's grant is given
}

// admits reports whether a price fits the limit. If not, it also returns what remains of the limit.
func (l *limit) admits(price privacy.Loss) (left privacy.Loss, fits bool) {
	if l.fits != nil && l.fits() {
		return left, true
	}
	left = l.left()
	return left, price.Within(left)
}

// nextFor returns the time of the next grant if that grant and all other limits admit the price. Otherwise it
// returns zero.
func (l *limit) nextFor(price privacy.Loss, others []limit) time.Time {
	if l.next == nil {
		return time.Time{}
	}
	for _, o := range append([]limit{*l.next}, others...) {
		if _, fits := o.admits(price); !fits {
			return time.Time{}
		}
	}
	return l.begins
}

// limitOf returns the limit that a budget sets on the charges in a, for the reservation r. d and parts say to which
// parts r is confined.
func (h *history) limitOf(of string, a *account, budget privacy.Loss, r Reservation, d division, parts []string) limit {
	n := h.terms.Neighbours
	return limit{
		of: of, budget: budget,
		left: func() privacy.Loss { return a.room(budget, n, d, parts) },
		fits: func() bool { return a.fits(r.Loss, budget, n, d, parts) },
	}
}

// limits returns all limits on a reservation, in this order: the analyst's limit, the period's grant, the budget.
func (h *history) limits(r Reservation, at time.Time) (out []limit, err error) {
	d, parts, err := h.division(r.Confined, r.Sources)
	if err != nil {
		return nil, err
	}
	if err := h.checkAnalyst(r.Analyst); err != nil {
		return nil, err
	}
	if most, limited := h.terms.Analysts[r.Analyst]; limited {
		out = append(out, limit{
			of: "the limit of " + r.Analyst, budget: most,
			left: func() privacy.Loss { return h.askedBy(r.Analyst, most).Remaining },
		})
	}
	if g := h.terms.Grant; g != nil {
		in, start := h.granted(at)
		now, next := h.limitOf("the grant of this "+g.Per, in, g.Loss, r, d, parts),
			h.limitOf("", newAccount(), g.Loss, r, d, parts)
		now.next, now.begins = &next, h.nextGrant(start)
		out = append(out, now)
	}
	of := ""
	if len(parts) > 0 {
		of = "the budget of these parts"
	}
	return append(out, h.limitOf(of, h.charges, h.budget(), r, d, parts)), nil
}
