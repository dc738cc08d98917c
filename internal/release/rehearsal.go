package release

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/ledger"
)

// A rehearsal comes before the charge, so it is bounded: in time, in memory (by the engines), and in the number that
// run at once. There are limits for this process and for one analyst. Further rehearsals wait in a queue for their turn
// to run, up to a time limit. None of this depends on a row, because only made-up rows are read.
const (
	rehearsalsAtOnce  = 4
	RehearsalsOfOne   = 2 // rehearsals of one analyst at once. All callers without a name count as one analyst
	rehearsalsWaiting = 64
	waitingOfOne      = 16
)

// variables, so that tests of this package can change them
var (
	rehearsalTime = time.Minute // for all statements of one question together, without the wait in the queue
	turnTime      = time.Minute // the longest wait in the queue of rehearsals
)

// turns is a queue that limits how many tasks run at once, in all and for one analyst. The other tasks wait in
// order of arrival.
type turns struct {
	mu      sync.Mutex
	running map[string]int
	all     int
	waiting []*turn
}

type turn struct {
	analyst string
	granted chan struct{}
}

// rehearsals is the queue of all rehearsals in this process.
var rehearsals = &turns{running: map[string]int{}}

var errTurns = errors.New("too many questions are waiting for their rehearsal")

// take waits for a turn: the permission to run a task. The caller ends the turn by calling done. The error is errTurns
// if too many are waiting already, or after the time limit.
func (q *turns) take(ctx context.Context, analyst string, limit time.Duration) (done func(), err error) {
	t, err := q.enter(analyst)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-t.granted:
		return func() { q.leave(t, true) }, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = errTurns
	}
	q.leave(t, false)
	return nil, err
}

func (q *turns) enter(analyst string) (*turn, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	of := 0
	for _, w := range q.waiting {
		if w.analyst == analyst {
			of++
		}
	}
	if len(q.waiting) >= rehearsalsWaiting || of >= waitingOfOne {
		return nil, errTurns
	}
	t := &turn{analyst, make(chan struct{})}
	q.waiting = append(q.waiting, t)
	q.grant()
	return t, nil
}

// grant gives a turn to every waiting task that the limits allow to run: the task then starts. The caller holds the
// lock.
func (q *turns) grant() {
	q.waiting = slices.DeleteFunc(q.waiting, func(t *turn) bool {
		if q.all >= rehearsalsAtOnce || q.running[t.analyst] >= RehearsalsOfOne {
			return false
		}
		q.all++
		q.running[t.analyst]++
		close(t.granted)
		return true
	})
}

// leave removes a task from the running ones or, if granted is false, from the queue. If the task was started while its
// wait ended, leave ends it too.
func (q *turns) leave(t *turn, granted bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, t); !granted && i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return
	}
	q.all--
	if q.running[t.analyst]--; q.running[t.analyst] == 0 {
		delete(q.running, t.analyst)
	}
	q.grant()
}

// rehearse runs bounded statements over made-up rows. A statement that fails is refused before any row is read and
// before anything is charged. Such a failure is a defect of the plan, and the owner gets its text. A statement that
// takes too much time or memory is refused too.
func (k *Kernel) rehearse(ctx context.Context, analyst string, from engine.Sealed, all ...*bounded.Statement) error {
	done, err := rehearsals.take(ctx, analyst, turnTime)
	if errors.Is(err, errTurns) {
		return ended(Crowded)
	}
	if err != nil {
		return err
	}
	defer done()
	within, cancel := context.WithTimeoutCause(ctx, rehearsalTime, engine.ErrRehearsal)
	defer cancel()
	for _, b := range all {
		err := k.engine.Rehearse(within, b, from)
		if err != nil && ctx.Err() == nil && within.Err() != nil {
			err = errors.Join(engine.ErrRehearsal, err)
		}
		if err != nil {
			return k.unrehearsed(ctx, err)
		}
	}
	if ctx.Err() != nil { // the caller has cancelled: reserve nothing
		return ctx.Err()
	}
	return nil
}

// Ready returns the refusal that Release would return for an access before its reservation. It reads no row, and charges
// nothing. A question that runs several accesses calls it for each before the first is charged.
func (k *Kernel) Ready(ctx context.Context, p Primitive) error {
	l := p.decided()
	if released, err := k.ReleasedBefore(l); released || err != nil {
		return err
	}
	if k.ledger.ReadOnly() {
		return ledger.ErrReadOnly
	}
	if err := k.Answerable(l); err != nil {
		return err
	}
	_, done, err := k.rehearsed(ctx, nil, l, l.statements...)
	if err == nil {
		done()
	}
	return err
}

// unrehearsed returns the refusal for a failed rehearsal.
func (k *Kernel) unrehearsed(ctx context.Context, err error) error {
	var refused *engine.RefusedError
	switch {
	case errors.As(err, &refused):
		return unsupportedBy(refused)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	k.tellOwner(err)
	switch {
	case errors.Is(err, engine.ErrRehearsal):
		return &EndedError{How: Costly, Limit: rehearsalTime}
	case errors.Is(err, engine.ErrUnavailable):
		return ended(Unreachable)
	}
	return ended(Unevaluable)
}

// unsupportedBy returns the refusal for a question that an engine does not support.
func unsupportedBy(r *engine.RefusedError) error {
	return &EndedError{How: Unsupported, Message: r.Message, Hint: r.Hint}
}
