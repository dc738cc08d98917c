package release

import (
	"context"
	"encoding/json"
	"errors"

	"dither/internal/bounded"
	"dither/internal/ledger"
)

// Release runs a primitive: replay, rehearsal, reservation, access, noise, record, delay, return.
//
// If the ledger has a release of the same access, Release replays it, free. Otherwise a price is reserved durably
// before any row is read. Released values are recorded durably before they are returned. The price of a failure
// after the reservation stays spent. Under an answer_delay, the entry with the outcome is written at the release
// time, and Release returns then.
func (k *Kernel) Release(ctx context.Context, p Primitive) (*Released, error) {
	l, arrival := p.decided(), k.arrived(ctx)

	// Replay.
	if !l.fresh {
		if r, err := k.replay(p); r != nil || err != nil {
			return r, err
		}
	}
	if k.ledger.ReadOnly() {
		return nil, ledger.ErrReadOnly
	}
	if _, err := k.DelayOf(l); err != nil {
		return nil, err
	}
	if !l.fresh {
		done, waited, err := k.underway(ctx, l.key)
		if err != nil {
			return nil, err
		}
		defer done()
		if r, err := k.replay(p); r != nil || err != nil { // the other caller may have recorded the release
			return r, err
		}
		// the wait ended at a release time, or when the other caller gave up: the question counts as arriving now
		if waited {
			arrival = k.clock.Now()
		}
	}
	at, err := k.instantOf(l, arrival)
	if err != nil {
		return nil, err
	}

	// Rehearse.
	rows, done, err := k.rehearsed(ctx, at, l, l.statements...)
	if err != nil {
		return nil, err
	}
	defer done()

	// Reserve.
	id, answered, err := k.reserve(l)
	if err != nil {
		return nil, err
	}
	if answered { // another caller has just recorded this release
		r, err := k.replay(p)
		if r == nil && err == nil {
			err = ErrUnreadable
		}
		return r, err
	}

	// Read rows, and add noise.
	found, err := watched(ctx, k, at, func(ctx context.Context) (f found, err error) {
		if f.values, err = p.access(ctx, rows); err == nil {
			f.text, err = p.encode(f.values)
		}
		return f, err
	})
	if err != nil {
		return nil, k.lost(ctx, at, id, err)
	}

	// Record, and return.
	if err := k.ledger.Release(id, found.text); err != nil {
		return nil, afterwards(err)
	}
	return &Released{ID: id, Values: found.values}, nil
}

// found holds the values that an access releases, and the text of them that the ledger records.
type found struct {
	values Values
	text   json.RawMessage
}

// rehearsed prepares an access before anything is charged. It checks that the sealed versions hold the bytes that
// were sealed, and keeps them from being removed until done is called. It rehearses the statements over made-up
// rows, and checks that there is enough time left.
func (k *Kernel) rehearsed(
	ctx context.Context,
	at *instant,
	l *Look,
	statements ...*bounded.Statement,
) (rows reader, done func(), err error) {
	done, err = k.hold(ctx, l.tables)
	if err != nil {
		return reader{}, nil, err
	}
	rows = k.reader(l)
	if err = k.rehearse(ctx, l.analyst, rows.sealed, statements...); err == nil {
		err = k.begins(at)
	}
	if err != nil {
		done()
		return reader{}, nil, err
	}
	return rows, done, nil
}

// replay returns the newest release of the same access, or nil if there is none.
func (k *Kernel) replay(p Primitive) (*Released, error) {
	answer, ok, err := k.ledger.Find(p.decided().key)
	if err != nil || !ok {
		return nil, err
	}
	text, err := answer.Values()
	if err != nil {
		return nil, err
	}
	v, err := p.decode(text)
	if err != nil {
		return nil, err
	}
	return &Released{ID: answer.Reserved, Values: v, Replayed: true}, nil
}

// lost records that a reservation gets no answer. It returns one uniform error for every failure, and another for a
// cancelled question. Which of the two it is depends on the caller's context, never on what the engine reports. An
// expired deadline is a failure even if the caller set it, because the running time depends on the rows. Under an
// answer_delay the deadline counts as a cancellation if it expires before the release time. The wait until the
// release time does not depend on the rows.
func (k *Kernel) lost(ctx context.Context, at *instant, reservation uint64, cause error) error {
	record, how := k.ledger.Fail, Failed
	if at == nil && errors.Is(ctx.Err(), context.Canceled) || errors.Is(cause, errGivenUp) {
		record, how = k.ledger.GiveUp, GivenUp
	}
	if err := record(reservation); err != nil {
		k.tellOwner(err) // the failure is not counted, but its price is
	}
	k.tellOwner(cause)
	return afterwards(ended(how))
}
