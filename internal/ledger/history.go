package ledger

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"dither/privacy"
)

// State is what a ledger amounts to at one entry. It is a copy.
type State struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Head    Head      `json:"head"`

	Adopted   bool         `json:"adopted"` // whether there are terms
	Terms     Terms        `json:"terms"`
	Budget    privacy.Loss `json:"budget"`
	Spent     privacy.Loss `json:"spent"`     // in the terms' relation; above Budget only after a change of terms
	Remaining privacy.Loss `json:"remaining"` // the largest price that is admitted, if the terms' maximum allows it

	Reservations int             `json:"reservations"`
	Answers      int             `json:"answers"`  // reservations that have their release
	Failures     int             `json:"failures"` // since the owner last looked into them
	Torn         int             `json:"torn"`     // fragments charged, one at the end of the log included
	Sealed       map[string]Seal `json:"sealed"`   // the newest version of each table
}

// ref finds an entry in the log.
type ref struct {
	hash   Hash
	line   uint64 // of the file, from 1
	offset int64
	length int // of the line, without its newline
}

// history is the account of the entries 0 … len(refs)−1, which form a chain and obey every rule of check.
type history struct {
	refs     []ref
	created  time.Time
	id       string
	terms    *Terms          // nil until adopted
	pure     privacy.Loss    // the losses that are pure, in the relation of terms
	zcdp     privacy.Loss    // all losses as zCDP, each by itself: (Σε)²/2 would be more than Σε²/2
	impure   bool            // some loss has no pure ε
	sealed   map[string]Seal // newest of each table
	versions map[Source]bool // every sealed version

	keyOf    map[uint64]string // every reservation's index → its replay key
	released map[uint64]bool   // the reservations that have their release
	newest   map[string]uint64 // replay key → the index of its newest release
	failed   map[uint64]bool   // the reservations that failed
	failures int               // of them since the last resumption
	torn     int
}

func newHistory() *history {
	return &history{
		sealed: map[string]Seal{}, versions: map[Source]bool{},
		zcdp:  privacy.ZCDPLoss(privacy.Rho{}, privacy.Delta{}),
		keyOf: map[uint64]string{}, released: map[uint64]bool{}, failed: map[uint64]bool{}, newest: map[string]uint64{},
	}
}

// tip is the head of the entries so far; ok is false before the first.
func (h *history) tip() (head Head, ok bool) {
	if len(h.refs) == 0 {
		return Head{}, false
	}
	last := len(h.refs) - 1
	return Head{Index: uint64(last), Hash: h.refs[last].hash}, true
}

// check says whether e may be the next entry. It changes nothing; what it lets through, the account below stays within
// its invariants: nothing released unreserved, nothing admitted beyond the budget of the terms at that moment.
func (h *history) check(e Entry) error {
	tip, begun := h.tip()
	if _, genesis := e.Body.(Genesis); genesis == begun {
		return errors.New("the genesis is the first entry, and only that")
	}
	if e.Index != uint64(len(h.refs)) || e.Prev != tip.Hash {
		return errors.New("it does not follow the entry before it")
	}
	switch b := e.Body.(type) {
	case Genesis:
		return nil
	case Adoption:
		return h.checkAdoption(b)
	case Seal:
		if b.Version <= h.sealed[b.Table].Version {
			return invalid("the versions of a table increase")
		}
		return nil
	case Reservation:
		return h.checkReservation(b)
	case Release:
		return h.checkOpen(b.Reservation)
	case Step:
		if h.failures >= MaxFailures {
			return ErrSuspended
		}
		return h.checkOpen(b.Reservation)
	case Failure:
		return h.checkOpen(b.Reservation)
	case Resume:
		return nil
	case Torn:
		if most := h.maxPrice(); !b.Loss.Within(most) || !most.Within(b.Loss) {
			return errors.New("a fragment is charged the maximum price")
		}
		return nil
	}
	return errors.New("unknown kind of entry")
}

// checkOpen admits the index of a reservation that has neither its release nor its failure.
func (h *history) checkOpen(reservation uint64) error {
	if _, reserved := h.keyOf[reservation]; !reserved || h.released[reservation] || h.failed[reservation] {
		return ErrNotReserved
	}
	return nil
}

// checkAdoption holds a change of terms to what the charges so far can be re-read as (docs/design/0002-ledger.md).
func (h *history) checkAdoption(a Adoption) error {
	if h.terms == nil || h.zcdp.IsZero() {
		return nil // there are no charges to read again
	}
	old := h.terms
	switch {
	case old.Neighbours == privacy.ChangeOne && a.Terms.Neighbours == privacy.AddRemove:
		// Under change-one nothing is promised about the number of units.
		return fmt.Errorf("%w: change-one cannot become add-remove once something is spent", ErrIncompatible)
	case old.Neighbours != a.Terms.Neighbours && a.Group < 2:
		return fmt.Errorf("%w: from add-remove to change-one past charges count at least twice", ErrIncompatible)
	case h.impure && a.Terms.Budget.Accountant() == privacy.Pure:
		return fmt.Errorf("%w: what was charged in ρ has no pure ε", ErrIncompatible)
	}
	if _, err := group(h.zcdp, a.Group); err != nil {
		return fmt.Errorf("%w: %w", ErrIncompatible, err)
	}
	return nil
}

// group is Loss.Group; of one, a loss is itself.
func group(l privacy.Loss, k int64) (privacy.Loss, error) {
	if k == 1 {
		return l, nil
	}
	return l.Group(k)
}

func (h *history) checkReservation(r Reservation) error {
	switch {
	case h.terms == nil:
		return ErrNoPolicy
	case r.Policy != h.terms.Digest:
		return ErrPolicyChanged
	case h.failures >= MaxFailures:
		return ErrSuspended
	case !r.Loss.Within(h.terms.MaxPrice):
		return fmt.Errorf("%w: it is %s, and the maximum is %s", ErrPrice, r.Loss, h.terms.MaxPrice)
	}
	for _, s := range r.Sources {
		if !h.versions[s] {
			return ErrNotSealed
		}
	}
	return h.filter().Charge(r.Loss)
}

// spent is what all charges come to, as the terms' accountant counts them.
func (h *history) spent() privacy.Loss {
	if h.budget().Accountant() == privacy.ZCDP {
		return h.zcdp
	}
	return h.pure
}

// charge adds a loss.
func (h *history) charge(l privacy.Loss) {
	h.zcdp = h.zcdp.Plus(l)
	if l.Accountant() == privacy.Pure {
		h.pure = h.pure.Plus(l)
	} else {
		h.impure = true
	}
}

// filter is the budget filter with all of the history recorded.
func (h *history) filter() *privacy.Filter {
	f := privacy.NewFilter(h.budget())
	f.Record(h.spent())
	return f
}

func (h *history) budget() privacy.Loss {
	if h.terms == nil {
		return privacy.Loss{}
	}
	return h.terms.Budget
}

// maxPrice is the most that one reservation can have cost: nothing before there are terms.
func (h *history) maxPrice() privacy.Loss {
	if h.terms == nil {
		return privacy.Loss{}
	}
	return h.terms.MaxPrice
}

// fragmentCharge is what a fragment costs now: the reservation that it may be was admitted, so it cost at most the
// maximum price and at most what remained.
func (h *history) fragmentCharge() privacy.Loss {
	return privacy.Min(h.maxPrice(), h.filter().Remaining())
}

// apply takes an entry that check let through.
func (h *history) apply(e Entry, at ref) {
	h.refs = append(h.refs, at)
	switch b := e.Body.(type) {
	case Genesis:
		h.id, h.created = b.ID, e.Time
	case Adoption:
		h.pure, _ = group(h.pure, b.Group)                   // a pure loss has one for every group
		if zcdp, err := group(h.zcdp, b.Group); err == nil { // always: checkAdoption tried it
			h.zcdp = zcdp
		}
		terms := b.Terms
		h.terms = &terms
	case Seal:
		h.sealed[b.Table] = b
		h.versions[Source{b.Table, b.Version}] = true
	case Reservation:
		h.charge(b.Loss)
		h.keyOf[e.Index] = b.Key
	case Release:
		h.released[b.Reservation] = true
		h.newest[h.keyOf[b.Reservation]] = e.Index
	case Step:
		// Nothing is charged and nothing is found by a step: its reservation has paid, and only a release is a replay.
	case Failure:
		h.failed[b.Reservation] = true
		h.failures++
	case Resume:
		h.failures = 0
	case Torn:
		h.charge(h.fragmentCharge())
		h.torn++
	}
}

// state copies the account. With pending, a fragment stands at the end of the log, and counts as spent.
func (h *history) state(pending bool) State {
	tip, _ := h.tip()
	s := State{
		ID: h.id, Created: h.created, Head: tip, Spent: h.spent(),
		Reservations: len(h.keyOf), Answers: len(h.released), Failures: h.failures, Torn: h.torn, Sealed: maps.Clone(h.sealed),
	}
	if pending {
		s.Spent = s.Spent.Plus(h.fragmentCharge())
		s.Torn++
	}
	if h.terms != nil {
		s.Adopted, s.Terms, s.Budget = true, *h.terms, h.terms.Budget
		s.Terms.Units, s.Terms.Sources = maps.Clone(h.terms.Units), maps.Clone(h.terms.Sources)
		s.Terms.Held = maps.Clone(h.terms.Held)
		s.Terms.Removed = slices.Clone(h.terms.Removed)
	}
	f := privacy.NewFilter(s.Budget)
	f.Record(s.Spent)
	s.Remaining = f.Remaining()
	return s
}
