package ledger

import (
	"fmt"

	"dither/privacy"
)

// Opening records that the owner charges this ledger for what other ledgers have spent on the same people. Loss is
// in the relation of the terms in force. It is charged to every unit, even beyond the budget. It counts against no
// period's grant, because it was spent before.
type Opening struct {
	Loss privacy.Loss `json:"loss"`
	From []Origin     `json:"from"` // at least one
}

// ErrCharged reports that another ledger's spending was already charged to this one. It is an ErrInvalid.
var ErrCharged = fmt.Errorf("%w: the spending of that ledger was charged already", ErrInvalid)

// Origin identifies another ledger, and its newest entry when it was read.
type Origin struct {
	ID   string `json:"id"`
	Head string `json:"head"` // in the form of Head.String
}

func (Opening) kind() Kind { return KindOpening }

func (o Opening) validate() error {
	if o.Loss.IsZero() || len(o.From) == 0 {
		return invalid("an opening must charge a loss above 0, of at least one ledger")
	}
	for _, f := range o.From {
		if err := (Genesis{ID: f.ID}).validate(); err != nil {
			return err
		}
		if _, err := ParseHead(f.Head); err != nil {
			return err
		}
	}
	return nil
}

// Opened charges this ledger for what other ledgers have spent. The errors are
//
//   - ErrNoPolicy if this ledger has no terms,
//   - ErrIncompatible if the loss is in ρ and the budget is pure,
//   - ErrCharged for a ledger that was already charged, because this ledger does not know what the other has spent since,
//   - ErrInvalid if a ledger of o is this ledger itself, or named twice.
//
// The caller converted the loss to this ledger's relation, from the state whose head is the parameter seen (the Origin
// of this ledger in Merged). If an entry was appended since, Opened writes nothing and returns ErrStale. The caller
// must then convert the loss again.
func (l *Ledger) Opened(o Opening, seen Head) error {
	_, err := l.append(&member{body: o, may: l.still(seen)})
	return err
}

func (h *history) checkOpening(o Opening) error {
	switch {
	case h.terms == nil:
		return ErrNoPolicy
	case o.Loss.Accountant() != privacy.Pure && h.by() == privacy.Pure:
		return fmt.Errorf("%w: charges in ρ have no pure ε", ErrIncompatible)
	}
	seen := map[string]bool{}
	for _, f := range o.From {
		switch {
		case f.ID == h.id:
			return invalid("this ledger is already charged with its own spending")
		case h.origins[f.ID]:
			return ErrCharged
		case seen[f.ID]:
			return invalid("the same ledger twice")
		}
		seen[f.ID] = true
	}
	return nil
}

func (h *history) applyOpening(o Opening) {
	h.impure = h.impure || o.Loss.Accountant() != privacy.Pure
	h.charges.charge(o.Loss, division{}, nil)
	for _, f := range o.From {
		h.origins[f.ID] = true
	}
}
