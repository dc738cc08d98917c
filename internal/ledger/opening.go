package ledger

import (
	"fmt"

	"dither/privacy"
)

// Opening records that the owner charges the spending of other ledgers on the same people, in the relation of the terms
// in force. It is charged to everybody, even beyond the budget, and to no period, because it happened before.
type Opening struct {
	Loss privacy.Loss `json:"loss"`
	From []Origin     `json:"from"` // at least one
}

// ErrCharged reports that another ledger's spending was charged before. It is an ErrInvalid.
var ErrCharged = fmt.Errorf("%w: what that ledger had spent was charged already", ErrInvalid)

// Origin is another ledger as it was read.
type Origin struct {
	ID   string `json:"id"`
	Head string `json:"head"` // as Head writes it
}

func (Opening) kind() Kind { return KindOpening }

func (o Opening) validate() error {
	if o.Loss.IsZero() || len(o.From) == 0 {
		return invalid("an opening charges a loss above 0, of at least one ledger")
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

// Opened charges the spending of other ledgers. The error is ErrNoPolicy without terms; ErrIncompatible if a loss in ρ
// meets a pure budget; ErrCharged for a ledger that was charged before, because this ledger does not know what that one
// has spent since; ErrInvalid for this ledger itself.
//
// The caller converted the loss to the ledger's relation at seen (its Origin in Merged). If an entry was appended
// since, Opened writes nothing and returns ErrStale: convert the loss again.
func (l *Ledger) Opened(o Opening, seen Head) error {
	_, err := l.append(&member{body: o, may: l.still(seen)})
	return err
}

func (h *history) checkOpening(o Opening) error {
	switch {
	case h.terms == nil:
		return ErrNoPolicy
	case o.Loss.Accountant() != privacy.Pure && h.by() == privacy.Pure:
		return fmt.Errorf("%w: what was charged in ρ has no pure ε", ErrIncompatible)
	}
	seen := map[string]bool{}
	for _, f := range o.From {
		switch {
		case f.ID == h.id:
			return invalid("what this ledger spent is charged to it as it is")
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
