package ledger

import (
	"fmt"

	"dither/privacy"
)

// Opening is the owner's act of charging what other ledgers have spent about the same people, in the relation of the
// terms in force. It is charged to everybody, be it beyond the budget, and to no period: it happened before.
type Opening struct {
	Loss privacy.Loss `json:"loss"`
	From []Origin     `json:"from"` // at least one
}

// ErrCharged reports another ledger that was charged already, as it was then. It is an ErrInvalid.
var ErrCharged = fmt.Errorf("%w: what that ledger had spent was charged already", ErrInvalid)

// Origin is a ledger as it was read.
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

// Opened charges what other ledgers have spent. It is ErrNoPolicy without terms; ErrIncompatible where a loss in ρ
// meets a pure budget; ErrCharged for a ledger that was charged before: what it has spent since is not known from this
// one. ErrInvalid for this one itself.
//
// The loss was read in the relation of what the ledger held at seen (its Origin in Merged). If anything has been
// appended since, nothing is written and the error is ErrStale: read it again.
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
