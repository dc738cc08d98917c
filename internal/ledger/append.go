package ledger

import (
	"encoding/json"
	"errors"
)

// Adopt records the owner's act of adopting terms. Every loss recorded before counts, from here on, as what it promised group
// units together, because it is read again under the new relation: kε, or k²ρ. Where the new budget is one of zCDP and the
// old one was not, every loss is read again as zCDP.
//
// The group was computed from what the ledger held at seen (State.Head). If anything has been appended since, nothing is
// written and the error is ErrStale: compute it again. The error is ErrIncompatible where no charge, or not with this
// group, can be read again: from change-one to add-remove; from add-remove to change-one with fewer than 2; from zCDP to
// pure; of more than 1 with a δ spent.
func (l *Ledger) Adopt(terms Terms, group int64, seen Head) error {
	_, err := l.appendAt(adoption(terms, group), &seen)
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
	_, err := l.append(Seal{Table: table, Version: version, SHA256: sha256})
	return err
}

// Reserve charges a loss, durably, and returns the index of the reservation. Only after it has returned may anything be
// drawn for it.
//
// A refusal writes nothing: *privacy.OverdrawError, ErrPrice, ErrNoPolicy, ErrPolicyChanged, ErrNotSealed,
// ErrSuspended, ErrInvalid.
// After ErrAmbiguous the loss may have been charged, and nothing may be drawn for it.
func (l *Ledger) Reserve(r Reservation) (uint64, error) { return l.append(r) }

// ReserveNew is Reserve for what has no answer yet. Where its key has one, which others may have recorded at the last moment, nothing is written, and
// answered is true: Find gives it.
func (l *Ledger) ReserveNew(r Reservation) (index uint64, answered bool, err error) {
	index, err = l.appendIf(r, func() error {
		if _, answered = l.log.newest[r.Key]; answered {
			return errAnswered
		}
		return nil
	})
	if answered {
		return 0, true, nil
	}
	return index, false, err
}

// errAnswered keeps ReserveNew from writing.
var errAnswered = errors.New("there is an answer")

// Release records, durably, the values that a reservation paid for. Only after it has returned may they leave.
//
// The error is ErrNotReserved for what is no reservation, or has its release. After ErrAmbiguous the values must not leave;
// if they were recorded, Find gives them once the ledger is open again.
func (l *Ledger) Release(reservation uint64, values json.RawMessage) error {
	_, err := l.append(Release{Reservation: reservation, Values: values})
	return err
}

// Step records, durably, values that a reservation paid for, and that more may follow. Only after it has returned may they
// leave. The errors are Release's, and ErrSuspended.
func (l *Ledger) Step(s Step) error {
	_, err := l.append(s)
	return err
}

// Fail records that a reservation gets no release. What it cost stays spent. The error is ErrNotReserved as for Release.
func (l *Ledger) Fail(reservation uint64) error {
	_, err := l.append(Failure{Reservation: reservation})
	return err
}

// GiveUp is Fail for a reservation whose question was given up by who asked it. It does not count towards MaxFailures.
func (l *Ledger) GiveUp(reservation uint64) error {
	_, err := l.append(Failure{Reservation: reservation, GivenUp: true})
	return err
}

// Resume records the owner's act of admitting questions again after failures.
func (l *Ledger) Resume() error {
	_, err := l.append(Resume{})
	return err
}

// append is the one verb: an entry, if the head is still the one that was read, durable on return. The lock makes the
// comparison: between reading the head and writing after it nobody else writes.
func (l *Ledger) append(body Body) (uint64, error) { return l.appendAt(body, nil) }

// appendAt is append; with seen, only if that is still the newest entry.
func (l *Ledger) appendAt(body Body, seen *Head) (index uint64, err error) {
	return l.appendIf(body, func() error {
		if tip, _ := l.log.tip(); seen != nil && tip != *seen {
			return ErrStale
		}
		return nil
	})
}

// appendIf is append; only if may, which is asked under the lock, does not refuse.
func (l *Ledger) appendIf(body Body, may func() error) (index uint64, err error) {
	if err := body.validate(); err != nil {
		return 0, err
	}
	err = l.locked(func() error {
		if err := may(); err != nil {
			return err
		}
		if l.log.fragment != nil {
			if err := l.write(l.log.fragment.body(l.log.maxPrice())); err != nil {
				return err
			}
		}
		index = uint64(len(l.log.refs))
		return l.write(body)
	})
	if err != nil {
		return 0, err
	}
	return index, nil
}

// write appends one entry and replaces the head file. The caller holds the lock, and has read the log to its end.
func (l *Ledger) write(body Body) error {
	tip, _ := l.log.tip()
	now := l.now()
	if !datable(now) {
		return ErrClock
	}
	line, err := encodeLine(uint64(len(l.log.refs)), tip.Hash, now, body)
	if err != nil {
		return invalid("it cannot be written as JSON")
	}
	if len(line) > maxLine {
		return ErrTooLarge
	}
	e, err := decodeLine(line) // so that nothing is ever written that could not be read
	if err != nil {
		return err
	}
	if err := l.log.check(e); err != nil {
		return err
	}
	data := append(line, '\n')
	if !l.log.ended() {
		data = append([]byte{'\n'}, data...) // in the same write: a newline alone is nothing
	}
	if err := writeAll(l.file, data); err != nil {
		return l.fail(err)
	}
	// What is applied is what is read back, by the one path that everyone else reads it by.
	if err := l.log.extend(l.file, l.log.size+int64(len(data))); err != nil {
		return l.fail(err)
	}
	written, _ := l.log.tip()
	if written.Hash != e.Hash {
		return l.fail(errors.New("the entry did not read back"))
	}
	if err := l.nameTip(); err != nil {
		return l.fail(err)
	}
	return nil
}

// maxBatch is how many entries one write has at most.
const maxBatch = 64
