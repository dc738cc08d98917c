package release

import (
	"dither/internal/ledger"
	"dither/privacy"
)

// reserve charges the price of a look, durably, with its mechanisms and their parameters. It is the one place that
// does, and it comes before any row of the look is read. Nothing is charged where the ledger has the answer of what is
// not asked afresh by now.
func (k *Kernel) reserve(l *Look) (id uint64, answered bool, err error) {
	if l.fresh || l.steps > 0 {
		id, err = k.ledger.ReserveFor(k.recorded(l), l.most())
	} else {
		id, answered, err = k.ledger.ReserveNew(k.recorded(l), l.most())
	}
	if err != nil {
		return 0, false, &UnreservedError{err}
	}
	return id, answered, nil
}

// reservation is the charge of a look.
func (k *Kernel) reservation(l *Look) ledger.Reservation {
	r := ledger.Reservation{
		Key: l.key, Policy: k.policy.Digest(), Loss: l.price, Question: l.question, Mechanisms: l.mechanisms,
		Sources: l.Sources(), Analyst: l.analyst,
	}
	if table, parts := l.Confinement(); table != "" {
		r.Confined = &ledger.Confined{Table: table, Parts: parts}
	}
	return r
}

// recorded is the charge of a look, with what later questions find it by.
func (k *Kernel) recorded(l *Look) ledger.Reservation {
	r := k.reservation(l)
	r.Caps = l.recalled.Caps
	if subject := l.recalled.Subject; subject != nil {
		r.Subject = subject(l.Versions())
	}
	return r
}

// Room is the highest price that a look may have now: within the budget of everybody or of its parts, the period's grant and the
// analyst's limit.
func (k *Kernel) Room(l *Look) (privacy.Loss, error) { return k.ledger.Room(k.reservation(l)) }

// ReleasedBefore reports that a look was released before, so that it is a free replay.
func (k *Kernel) ReleasedBefore(l *Look) (ok bool, err error) {
	if l.fresh {
		return false, nil
	}
	_, ok, err = k.ledger.Find(l.key)
	return ok, err
}
