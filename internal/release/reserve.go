package release

import (
	"dither/internal/ledger"
	"dither/privacy"
)

// reserve charges the price of an access durably, and records its mechanisms with their parameters. It is the only
// code that charges, and it runs before any row is read. If the ledger already has the answer, and the question is
// not asked with Fresh, reserve charges nothing and answered is true.
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

// reservation returns the ledger entry that charges an access.
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

// recorded returns the ledger entry that charges an access, with the data by which later questions find its answer.
func (k *Kernel) recorded(l *Look) ledger.Reservation {
	r := k.reservation(l)
	r.Caps = l.recalled.Caps
	if subject := l.recalled.Subject; subject != nil {
		r.Subject = subject(l.Versions())
	}
	return r
}

// Room returns the highest price that an access may have now. It is limited by what remains of the budget, for
// everybody or for the parts (subsets of the units) that the access is charged to, by the period's grant, and by the
// analyst's limit.
func (k *Kernel) Room(l *Look) (privacy.Loss, error) { return k.ledger.Room(k.reservation(l)) }

// ReleasedBefore reports whether an access was released before, so that it can be replayed free. It is false with
// Fresh.
func (k *Kernel) ReleasedBefore(l *Look) (ok bool, err error) {
	if l.fresh {
		return false, nil
	}
	_, ok, err = k.ledger.Find(l.key)
	return ok, err
}
