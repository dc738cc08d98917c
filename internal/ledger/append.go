package ledger

import (
	"encoding/json"
	"errors"
)

// Adopt records that the owner adopts terms. From then on every earlier loss counts as its guarantee for groups of
// group units, because the new relation reads it that way: kε, or k²ρ. If the new budget is in zCDP and the old one
// was not, Adopt converts every loss to zCDP.
//
// The caller computed the group from the ledger's state at seen (State.Head). If an entry was appended since, Adopt
// writes nothing and returns ErrStale: compute the group again. It returns ErrIncompatible if a charge cannot be
// converted, at all or with this group: from change-one to add-remove; from add-remove to change-one with a group below
// 2; from zCDP to pure; with a group above 1 once a δ was spent.
func (l *Ledger) Adopt(terms Terms, group int64, seen Head) error {
	_, err := l.append(&member{body: adoption(terms, group), may: l.still(seen)})
	return err
}

// MayAdopt returns the error that Adopt would return now. It writes nothing.
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

// Sealed records that a version of a table was sealed into a file with this SHA-256, in hexadecimal. Versions of a
// table increase.
func (l *Ledger) Sealed(table string, version int, sha256 string) error {
	_, err := l.append(&member{body: Seal{Table: table, Version: version, SHA256: sha256}})
	return err
}

// Reserve charges a loss, durably, and returns the index of the reservation. Draw nothing for it before Reserve has
// returned.
//
// A refusal writes nothing: *privacy.OverdrawError, ErrPrice, ErrNoPolicy, ErrPolicyChanged, ErrNotSealed,
// ErrSuspended, ErrInvalid. After ErrNotWritten, which is ErrFull where the disk is full, nothing is recorded or
// charged either.
// After ErrAmbiguous the loss may have been charged, and nothing may be drawn for it.
func (l *Ledger) Reserve(r Reservation) (uint64, error) { return l.ReserveFor(r, 0) }

// ReserveFor is Reserve for a release whose values, with those of its steps, have at most most bytes. If the file
// system supports it, ReserveFor reserves room on the disk for them, or returns ErrFull. Larger values break nothing:
// the size is not part of the entry.
func (l *Ledger) ReserveFor(r Reservation, most int64) (uint64, error) {
	return l.append(&member{body: r, most: most})
}

// ReserveNew is ReserveFor for a key that has no answer yet. If the key has an answer, perhaps recorded at the last
// moment by another process, ReserveNew writes nothing and answered is true. Find then returns that answer.
func (l *Ledger) ReserveNew(r Reservation, most int64) (index uint64, answered bool, err error) {
	index, err = l.append(&member{body: r, most: most, may: func() error {
		_, found, err := l.log.find(r.Key)
		if found {
			return errAnswered
		}
		return err
	}})
	if errors.Is(err, errAnswered) { // otherwise the answer was in a batch that was taken back
		return 0, true, nil
	}
	return index, false, err
}

// errAnswered keeps ReserveNew from writing.
var errAnswered = errors.New("there is an answer")

// Release records, durably, the values that a reservation paid for. Return no value to anybody before Release has
// returned.
//
// The error is ErrNotReserved if the reservation does not exist or already has its release. After ErrNotWritten or
// ErrAmbiguous the values must not be returned, and their price stays spent. If they were recorded despite
// ErrAmbiguous, Find returns them once the ledger is open again.
func (l *Ledger) Release(reservation uint64, values json.RawMessage) error {
	_, err := l.append(&member{body: Release{Reservation: reservation, Values: values}})
	return err
}

// Step records, durably, values that a reservation paid for, when more may follow. Return no value to anybody before
// Step has returned. Its errors are those of Release, and ErrSuspended.
func (l *Ledger) Step(s Step) error {
	_, err := l.append(&member{body: s})
	return err
}

// Fail records that a reservation gets no release. Its price stays spent. The error is ErrNotReserved, as for Release.
func (l *Ledger) Fail(reservation uint64) error {
	_, err := l.append(&member{body: Failure{Reservation: reservation}})
	return err
}

// GiveUp is Fail for a reservation whose analyst gave the question up. It counts towards MaxGivenUp and MaxAllGivenUp,
// and not towards MaxFailures.
func (l *Ledger) GiveUp(reservation uint64) error {
	_, err := l.append(&member{body: Failure{Reservation: reservation, GivenUp: true, Counted: true}})
	return err
}

// GiveUpStep records that an analyst gave up a step of a reservation. The analyst need not be the one who paid for the
// reservation. The reservation stays open, and the step counts as GiveUp does. The error is ErrNotReserved, as for
// Release.
func (l *Ledger) GiveUpStep(reservation uint64, analyst string) error {
	_, err := l.append(&member{body: StepGivenUp{Reservation: reservation, Analyst: analyst}})
	return err
}

// Abandon is GiveUp by the owner. It counts towards no limit.
func (l *Ledger) Abandon(reservation uint64) error {
	_, err := l.append(&member{body: Failure{Reservation: reservation, GivenUp: true}})
	return err
}

// Resume records that the owner admits questions again, after failures or questions that were given up.
func (l *Ledger) Resume() error {
	_, err := l.append(&member{body: Resume{}})
	return err
}

// still returns a check, made under the lock, that seen is still the newest entry. Nobody else writes between the check
// and the write after it.
func (l *Ledger) still(seen Head) func() error {
	return func() error {
		if tip, _ := l.log.tip(); tip != seen {
			return ErrStale
		}
		return nil
	}
}
