package ledger

import (
	"encoding/json"
	"errors"
)

// Adopt records that the owner adopts terms. From then on, every earlier loss counts as its loss for a group of the
// given number of units: kε or k²ρ for a group of k. This is the loss under the new relation, if two new neighbours
// differ by at most k steps of the old relation. If the new budget is in zCDP and the old one is not, Adopt
// converts every loss to zCDP.
//
// The caller computes the group from the ledger's [State], whose head is the parameter `seen`. If an entry was appended
// since, Adopt writes nothing and returns ErrStale. The caller must then compute the group again. Adopt returns
// ErrIncompatible if something was spent and
//
//   - the relation changes from change-one to add-remove,
//   - the relation changes from add-remove to change-one and group is below 2,
//   - the budget changes from zCDP to pure and some loss has no pure ε,
//   - units change from rows to persons after an [Opening] or a [Recovery], or
//   - group is above 1 and a δ was spent.
func (l *Ledger) Adopt(terms Terms, group int64, seen Head) error {
	_, err := l.append(&member{body: adoption(terms, group), may: l.still(seen)})
	return err
}

// MayAdopt returns the refusal that Adopt would return now, apart from ErrStale. It writes nothing.
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

// Sealed records that a version of a table was sealed into a file. sha256 is the SHA-256 of that file, in
// hexadecimal. The version must be greater than all earlier versions of the table.
func (l *Ledger) Sealed(table string, version int, sha256 string) error {
	_, err := l.append(&member{body: Seal{Table: table, Version: version, SHA256: sha256}})
	return err
}

// Reserve charges a loss durably, and returns the index of the reservation. Do not draw noise for it before Reserve
// returns.
//
// A refusal writes nothing: *privacy.OverdrawError, *LimitError, ErrPrice, ErrNoPolicy, ErrPolicyChanged,
// ErrNotSealed, ErrAnalyst, ErrParts, ErrSuspended, ErrInvalid. ErrNotWritten also means that nothing is recorded
// or charged. It is ErrFull if the disk is full. After ErrAmbiguous the loss may have been charged, and no noise
// may be drawn for it.
func (l *Ledger) Reserve(r Reservation) (uint64, error) { return l.ReserveFor(r, 0) }

// ReserveFor is Reserve with a size: the parameter most limits the bytes that the values of the release and of its
// steps take together. If the file system supports it, ReserveFor reserves that space on the disk, or returns ErrFull.
// Larger values are still accepted later, because the size is not part of the entry.
func (l *Ledger) ReserveFor(r Reservation, most int64) (uint64, error) {
	return l.append(&member{body: r, most: most})
}

// ReserveNew is ReserveFor for a key that has no answer yet. If the key already has an answer, perhaps recorded
// just now by another process, ReserveNew writes nothing and answered is true. Find then returns that answer.
func (l *Ledger) ReserveNew(r Reservation, most int64) (index uint64, answered bool, err error) {
	index, err = l.append(&member{body: r, most: most, may: func() error {
		_, found, err := l.log.find(r.Key)
		if found {
			return errAnswered
		}
		return err
	}})
	if errors.Is(err, errAnswered) { // another error means that the answer was in a batch that was taken back
		return 0, true, nil
	}
	return index, false, err
}

// errAnswered makes ReserveNew write nothing, because the key already has an answer.
var errAnswered = errors.New("the question already has an answer")

// Release durably records the values that a reservation paid for. Do not return a value to anybody before Release
// returns.
//
// Release returns ErrNotReserved if the reservation does not exist, has its release, or failed. After ErrNotWritten
// or ErrAmbiguous, do not return the values. Their price stays spent. After ErrAmbiguous the values may have been
// recorded. In that case Find returns them once the ledger is open again.
func (l *Ledger) Release(reservation uint64, values json.RawMessage) error {
	_, err := l.append(&member{body: Release{Reservation: reservation, Values: values}})
	return err
}

// Step durably records one answer of a reservation that may get further answers. Do not return a value to anybody
// before Step returns. Its errors are those of Release, and ErrSuspended.
func (l *Ledger) Step(s Step) error {
	_, err := l.append(&member{body: s})
	return err
}

// Fail records that a reservation will get no release. Its price stays spent. The errors are those of Release.
func (l *Ledger) Fail(reservation uint64) error {
	_, err := l.append(&member{body: Failure{Reservation: reservation}})
	return err
}

// GiveUp is Fail for a reservation whose analyst cancelled the question. The cancellation counts towards MaxGivenUp
// and MaxAllGivenUp, and not towards MaxFailures.
func (l *Ledger) GiveUp(reservation uint64) error {
	_, err := l.append(&member{body: Failure{Reservation: reservation, GivenUp: true, Counted: true}})
	return err
}

// GiveUpStep records that an analyst cancelled a step of a reservation. This analyst need not be the one who paid
// for the reservation. The reservation stays open, and the step counts towards MaxGivenUp and MaxAllGivenUp. The
// errors are those of Release.
func (l *Ledger) GiveUpStep(reservation uint64, analyst string) error {
	_, err := l.append(&member{body: StepGivenUp{Reservation: reservation, Analyst: analyst}})
	return err
}

// Abandon is Fail for a reservation that the owner cancels. It counts towards no limit.
func (l *Ledger) Abandon(reservation uint64) error {
	_, err := l.append(&member{body: Failure{Reservation: reservation, GivenUp: true}})
	return err
}

// Resume records that the owner admits questions again, after too many questions failed or were given up.
func (l *Ledger) Resume() error {
	_, err := l.append(&member{body: Resume{}})
	return err
}

// still returns a check that the head seen still names the newest entry. The caller makes the check under the lock, so
// nobody else can append between the check and the following write.
func (l *Ledger) still(seen Head) func() error {
	return func() error {
		if tip, _ := l.log.tip(); tip != seen {
			return ErrStale
		}
		return nil
	}
}
