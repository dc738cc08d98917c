package ledger

import (
	"encoding/json"
	"errors"
)

// Adopt records the owner's act of adopting terms. Every loss recorded before counts, from here on, as what it promised
// group units together, because it is read again under the new relation: kε, or k²ρ. Where the new budget is one of
// zCDP and the old one was not, every loss is read again as zCDP.
//
// The group was computed from what the ledger held at seen (State.Head). If anything has been appended since, nothing
// is written and the error is ErrStale: compute it again. The error is ErrIncompatible where no charge, or not with
// this group, can be read again: from change-one to add-remove; from add-remove to change-one with fewer than 2; from
// zCDP to pure; of more than 1 with a δ spent.
func (l *Ledger) Adopt(terms Terms, group int64, seen Head) error {
	_, err := l.append(&member{body: adoption(terms, group), may: l.still(seen)})
	return err
}

// MayAdopt is what Adopt would say now. It writes nothing.
func (l *Ledger) MayAdopt(terms Terms, group int64) error {
	a := adoption(terms, group)
	if err := a.validate(); err != nil {
		return err
	}
	return l.locked(func() error { return l.log.checkAdoption(a) })
}

func adoption(terms Terms, group int64) Adoption {
	if terms.Units == nil {
		terms.Units = map[string]string{}
	}
	if terms.Sources == nil {
		terms.Sources = map[string]string{}
	}
	if terms.Held == nil {
		terms.Held = map[string]string{}
	}
	if terms.Removed == nil {
		terms.Removed = []string{}
	}
	return Adoption{Terms: terms, Group: group}
}

// Sealed records that a version of a table was sealed into a file with this SHA-256, in hexadecimal. The versions of a
// table increase.
func (l *Ledger) Sealed(table string, version int, sha256 string) error {
	_, err := l.append(&member{body: Seal{Table: table, Version: version, SHA256: sha256}})
	return err
}

// Reserve charges a loss, durably, and returns the index of the reservation. Only after it has returned may anything be
// drawn for it.
//
// A refusal writes nothing: *privacy.OverdrawError, ErrPrice, ErrNoPolicy, ErrPolicyChanged, ErrNotSealed,
// ErrSuspended, ErrInvalid. After ErrNotWritten, which is ErrFull where the disk is full, nothing is recorded or
// charged either.
// After ErrAmbiguous the loss may have been charged, and nothing may be drawn for it.
func (l *Ledger) Reserve(r Reservation) (uint64, error) { return l.ReserveFor(r, 0) }

// ReserveFor is Reserve for a release whose values have at most so many bytes, those of its steps included. Where the
// file system can, the disk has room
// for them from here on, or the error is ErrFull. A size that is exceeded breaks nothing: it is not part of the entry.
func (l *Ledger) ReserveFor(r Reservation, most int64) (uint64, error) {
	return l.append(&member{body: r, most: most})
}

// ReserveNew is ReserveFor for what has no answer yet. Where its key has one, which others may have recorded at the
// last moment, nothing is written, and
// answered is true: Find gives it.
func (l *Ledger) ReserveNew(r Reservation, most int64) (index uint64, answered bool, err error) {
	index, err = l.append(&member{body: r, most: most, may: func() error {
		_, found, err := l.log.find(r.Key)
		if found {
			return errAnswered
		}
		return err
	}})
	if errors.Is(err, errAnswered) { // else it was answered within a batch that was taken back
		return 0, true, nil
	}
	return index, false, err
}

// errAnswered keeps ReserveNew from writing.
var errAnswered = errors.New("there is an answer")

// Release records, durably, the values that a reservation paid for. Only after it has returned may they leave.
//
// The error is ErrNotReserved for what is no reservation, or has its release. After ErrNotWritten or ErrAmbiguous the
// values must not leave, and their
// price stays spent; if they were recorded after ErrAmbiguous, Find gives them once the ledger is open again.
func (l *Ledger) Release(reservation uint64, values json.RawMessage) error {
	_, err := l.append(&member{body: Release{Reservation: reservation, Values: values}})
	return err
}

// Step records, durably, values that a reservation paid for, and that more may follow. Only after it has returned may
// they leave. The errors are Release's, and ErrSuspended.
func (l *Ledger) Step(s Step) error {
	_, err := l.append(&member{body: s})
	return err
}

// Fail records that a reservation gets no release. What it cost stays spent. The error is ErrNotReserved as for
// Release.
func (l *Ledger) Fail(reservation uint64) error {
	_, err := l.append(&member{body: Failure{Reservation: reservation}})
	return err
}

// GiveUp is Fail for a reservation whose question was given up by who asked it. It counts towards MaxGivenUp and
// MaxAllGivenUp, and not towards MaxFailures.
func (l *Ledger) GiveUp(reservation uint64) error {
	_, err := l.append(&member{body: Failure{Reservation: reservation, GivenUp: true, Counted: true}})
	return err
}

// GiveUpStep records that a step of a reservation was given up by an analyst, who need not be who paid for it. The
// reservation stays open, and the step counts as GiveUp does. The error is ErrNotReserved as for Release.
func (l *Ledger) GiveUpStep(reservation uint64, analyst string) error {
	_, err := l.append(&member{body: StepGivenUp{Reservation: reservation, Analyst: analyst}})
	return err
}

// Abandon is GiveUp by the owner: it counts towards nothing.
func (l *Ledger) Abandon(reservation uint64) error {
	_, err := l.append(&member{body: Failure{Reservation: reservation, GivenUp: true}})
	return err
}

// Resume records the owner's act of admitting questions again, after failures and after those that were given up.
func (l *Ledger) Resume() error {
	_, err := l.append(&member{body: Resume{}})
	return err
}

// still is asked under the lock whether an entry is still the newest: between reading it and writing after it nobody
// else writes.
func (l *Ledger) still(seen Head) func() error {
	return func() error {
		if tip, _ := l.log.tip(); tip != seen {
			return ErrStale
		}
		return nil
	}
}
