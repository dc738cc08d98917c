package release

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// A rehearsal comes before the charge, so it is bounded: in time, in memory (by the engines), and in how many there are
// at once in this process, of one analyst fewer. Who comes when there is no room waits for a turn, and not for ever.
// None of that depends on a row: only made-up rows are read.
const (
	rehearsalsAtOnce  = 4
	RehearsalsOfOne   = 2 // at once, of one analyst; those who name nobody are one analyst
	rehearsalsWaiting = 64
	waitingOfOne      = 16
)

// These are variables for tests of this package.
var (
	rehearsalTime = time.Minute // of all statements of one question together, the wait for a turn not among it
	turnTime      = time.Minute // how long a turn is waited for
)

// turns is a queue: so many go on at once, of one analyst so many; the others wait in the order in which they came.
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

// rehearsals has the turns of all rehearsals in this process.
var rehearsals = &turns{running: map[string]int{}}

var errTurns = errors.New("too many questions wait for their rehearsal")

// take waits for a turn, which done ends. It is errTurns where too many wait already, or for too long.
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

// grant lets go on who may. The caller holds the lock.
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

// leave ends a turn, or the wait for it, which may have ended at this moment.
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

// rehearse runs bounded aggregates over made-up rows. One that fails there is refused before it costs anything, and
// before any row is read: that is a defect of the plan, which the owner is told of. So is one that takes too much time
// or memory.
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
	if ctx.Err() != nil { // nobody waits for the answer: nothing is reserved
		return ctx.Err()
	}
	return nil
}

// unrehearsed says why a question is refused.
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

// unsupportedBy is what an engine does not do.
func unsupportedBy(r *engine.RefusedError) error {
	return &EndedError{How: Unsupported, Message: r.Message, Hint: r.Hint}
}
