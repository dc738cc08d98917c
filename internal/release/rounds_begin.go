package release

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"dither/internal/ledger"
	"dither/privacy"
)

// Begin pays for the rounds. It continues rounds that were paid before, unless Fresh is set.
func (r *Rounds) Begin(ctx context.Context) error { return r.begin(ctx, true) }

// Resume continues rounds that were paid before. It pays for none: without such rounds it returns an EndedError.
func (r *Rounds) Resume(ctx context.Context) error { return r.begin(ctx, false) }

func (r *Rounds) begin(ctx context.Context, pays bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, err := r.earlier()
	if err != nil {
		return err
	}
	if !found && !pays {
		return &EndedError{
			How:     Misused,
			Message: "no rounds of this request were paid for under the present policy and the present versions of its tables",
			Hint:    "give the same flags as then, and no --fresh; or leave --resume out, and pay",
		}
	}
	if !found {
		if r.kernel.ledger.ReadOnly() {
			return ledger.ErrReadOnly
		}
		_, done, err := r.kernel.rehearsed(ctx, nil, r.look, r.look.statements...)
		if err != nil {
			return err
		}
		done()
		if err := r.pay(); err != nil {
			return err
		}
	}
	crashPoint("reserved")
	if err := r.hold(); err != nil {
		return afterwards(err)
	}
	r.told, r.spent, r.ended = 0, privacy.Loss{}, false
	r.plan, r.reads, r.asks = r.first, r.look, ""
	if r.look.price.Accountant() == privacy.ZCDP {
		r.spent = privacy.ZCDPLoss(privacy.Rho{}, privacy.Delta{})
	}
	return nil
}

// pay reserves the whole price, unless another process has just reserved it. A lock ensures that only one process pays
// at a time.
func (r *Rounds) pay() error {
	turn, err := takeTurn(r.kernel.home)
	if err != nil {
		return &UnreservedError{err}
	}
	defer func() { _ = turn.Close() }() // releases the lock
	if found, err := r.earlier(); err != nil || found {
		return err
	}
	if err := r.current(); err != nil {
		return err
	}
	r.payer = r.look.analyst
	r.id, _, err = r.kernel.reserve(r.look)
	return err
}

// current refuses rounds whose table was sealed again since they were planned.
func (r *Rounds) current() error {
	for _, v := range r.look.tables {
		now, err := r.kernel.Current(v.Table)
		if err != nil {
			return err
		}
		if now.Number != v.Number {
			return &EndedError{
				How:     Resealed,
				Message: "a table was sealed again since the rounds were planned",
				Hint:    "ask for new rounds",
			}
		}
	}
	return nil
}

// earlier finds the newest reservation with the key of these rounds that is open or finished. With Fresh it finds none.
func (r *Rounds) earlier() (found bool, err error) {
	if r.look.fresh {
		return false, nil
	}
	l := r.kernel.ledger
	all, err := l.Unreleased()
	if err != nil {
		return false, err
	}
	note := func(id uint64) (bool, error) {
		e, has, err := l.EntryHaving(id, r.look.key)
		if b, ok := e.Body.(ledger.Reservation); err == nil && has && ok && b.Key == r.look.key {
			r.id, r.payer = id, b.Analyst
			return true, nil
		}
		return false, err
	}
	for _, u := range slices.Backward(all) {
		if u.Abandoned {
			continue
		}
		if found, err = note(u.Reservation); found || err != nil {
			break
		}
	}
	if err != nil {
		return false, err
	}
	answer, released, err := l.Find(r.look.key)
	if err == nil && released && (!found || answer.Reserved > r.id) {
		found, err = note(answer.Reserved)
	}
	return found, err
}

// hold locks the rounds for this process, and reads their recorded steps.
func (r *Rounds) hold() (err error) {
	if r.turn, err = openBeside(r.kernel.home, fmt.Sprintf("r%d.rounds", r.id)); err != nil {
		return err
	}
	if err = hold(r.turn); err == nil {
		err = r.readSteps()
	}
	if err != nil {
		_ = r.turn.Close()
	}
	return err
}

// readSteps reads the recorded steps from the ledger. It is called with the lock held, so no other process adds steps.
func (r *Rounds) readSteps() error {
	r.recorded, r.finished = nil, false
	failed := false
	err := r.kernel.ledger.EntriesHaving(r.id+1, fmt.Sprintf(`"reservation":%d`, r.id), func(e ledger.Entry) error {
		switch b := e.Body.(type) {
		case ledger.Step:
			if b.Reservation == r.id {
				var of recordedRound
				if err := json.Unmarshal(b.Values, &of); err != nil {
					return ErrUnreadable
				}
				r.recorded = append(r.recorded, of)
			}
		case ledger.Release:
			r.finished = r.finished || b.Reservation == r.id
		case ledger.Failure:
			failed = failed || b.Reservation == r.id
		}
		return nil
	})
	if err == nil && failed {
		err = ended(FailedElsewhere)
	}
	return err
}

// Finish ends the rounds for good. What their steps did not spend stays spent. Recorded steps are still returned again.
func (r *Rounds) Finish() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended:
		return &EndedError{How: Over, Message: "the rounds were closed, or failed", Hint: "ask for them again"}
	case !r.finished:
		if err := r.kernel.ledger.Release(r.id, encode(nil)); err != nil {
			return afterwards(err)
		}
	}
	r.finished = true
	return r.give()
}

// Close releases the lock and the memory. The rounds can be requested again, and then continue.
func (r *Rounds) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.give()
}

func (r *Rounds) give() error {
	if r.ended {
		return nil
	}
	r.ended, r.cells = true, nil
	return r.turn.Close()
}
