package release

import (
	"context"
	"encoding/json"
	"errors"

	"dither/internal/bounded"
	"dither/internal/ledger"
)

// Release carries a primitive out: replay, rehearsal, reservation, access, noise, record, delay, return.
//
// What the ledger has already is given again, free. A price is reserved, durably, before any row is read. What the
// mechanisms release is recorded, durably, before it is returned. What fails after the reservation stays paid. If
// answers have an instant, the entry that says what came of the access is written then, and the access ends then.
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
		if r, err := k.replay(p); r != nil || err != nil { // whoever was at it has recorded it
			return r, err
		}
		if waited { // until an instant, or until it was given up: the question arrives anew
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
	if answered { // by somebody else, just now
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

// found is what an access gave, and how it is recorded.
type found struct {
	values Values
	text   json.RawMessage
}

// rehearsed makes ready, before anything is charged, what an access needs: the sealed versions hold the bytes that were
// sealed and stay until done is called, its statements can be carried out over made-up rows, and there is time enough.
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

// replay is the newest release of the same access, or nil.
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

// lost records that a reservation gets no answer. Its error is the same for all of them, or that of those that were
// given up. Which of the two depends on ctx, the caller's, and never on what the engine said. A time that ran out, be
// it one that the caller set, is a failure like any other: how long the rows take has a part in it. It has none where
// the answer has an instant that was still to come: then the question was given up.
func (k *Kernel) lost(ctx context.Context, at *instant, reservation uint64, cause error) error {
	record, how := k.ledger.Fail, Failed
	if at == nil && errors.Is(ctx.Err(), context.Canceled) || errors.Is(cause, errGivenUp) {
		record, how = k.ledger.GiveUp, GivenUp
	}
	if err := record(reservation); err != nil {
		k.tellOwner(err) // it is not counted; its price is
	}
	k.tellOwner(cause)
	return afterwards(ended(how))
}
