package release

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime/debug"
	"time"

	"dither/internal/cost"
)

// If the policy has an answer_delay, the answer to a question leaves at a release time that is fixed when the
// question arrives. docs/design/0006-instants.md has the proof of what this hides. Until then the ledger holds only
// the reservation. At the release time it receives one entry, the release or the failure, whatever happened before.
// So no reader, in any process, can learn the outcome sooner.

// Clock returns the current time, and signals when a given time is reached. Only tests of this package replace the
// real clock.
type Clock interface {
	Now() time.Time
	// Reaching returns a channel that is closed, or sent to, at the given time, and a function that stops the waiting.
	Reaching(at time.Time) (reached <-chan time.Time, stop func())
}

// wall is the computer's clock. Its times are monotonic: setting the clock does not affect them.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) Reaching(at time.Time) (<-chan time.Time, func()) {
	t := time.NewTimer(time.Until(at))
	return t.C, func() { t.Stop() }
}

// instant holds the times of a question under an answer_delay. A nil *instant means that the answer leaves as soon
// as it is ready.
type instant struct {
	arrival time.Time
	begun   time.Time // the latest time for the reservation; later, the question is refused, free
	cut     time.Time // at this time the engine is told to stop
	leaves  time.Time
}

// arrivalKey is the context key of a question's time of arrival.
type arrivalKey struct{}

// Arrives stores the current time in the context as the question's time of arrival, unless the context has one.
// Without an answer_delay it returns ctx.
func (k *Kernel) Arrives(ctx context.Context) context.Context {
	if k.policy.Delay == nil || ctx.Value(arrivalKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, arrivalKey{}, k.clock.Now())
}

// Departs stores the current time in the context as the time of arrival of one access of a question that runs several. All
// that came before depends on no row: rehearsals, replays, and releases at their release times.
func (k *Kernel) Departs(ctx context.Context) context.Context {
	if k.policy.Delay == nil {
		return ctx
	}
	return context.WithValue(ctx, arrivalKey{}, k.clock.Now())
}

// DelayOf returns the time between a question's arrival and the release of its answer; 0 if the policy has no
// answer_delay. It is a function of the statements, the policy, and the planned number of passes over the rows.
func (k *Kernel) DelayOf(l *Look) (time.Duration, error) {
	d := k.policy.Delay
	if d == nil {
		return 0, nil
	}
	cost := k.Work(l, func(table string) int64 { return d.RowsOf(k.policy.Table(table)) })
	after, ok := d.After(cost, k.Timeout())
	if !ok {
		return 0, &EndedError{How: Slow, Limit: k.Timeout()}
	}
	return after, nil
}

// Work returns the amount that answer_delay.factor multiplies: the cost of an access's statements, times its
// planned number of passes over the rows.
func (k *Kernel) Work(l *Look, rows func(table string) int64) *big.Int {
	work := cost.Work(k.policy, rows, l.statements...)
	return work.Mul(work, big.NewInt(max(l.passes, 1)))
}

// instantOf returns the times of an access that arrives at arrival; nil without an answer_delay.
func (k *Kernel) instantOf(l *Look, arrival time.Time) (*instant, error) {
	after, err := k.DelayOf(l)
	if err != nil || after == 0 {
		return nil, err
	}
	d := k.policy.Delay
	leaves := arrival.Add(after)
	return &instant{
		arrival: arrival,
		begun:   arrival.Add(d.Floor),
		cut:     leaves.Add(-min(d.Floor, d.Quantum) / cutShare),
		leaves:  leaves,
	}, nil
}

// cutShare sets the time that an engine has to stop: a quarter of the floor, or of the quantum if that is less.
// Whether the engine stops in time reveals nothing, because nobody waits for it. But an engine that is still
// running could slow down the writing of the ledger entry.
const cutShare = 4

// arrived returns the time of arrival in a context, or the current time if it has none.
func (k *Kernel) arrived(ctx context.Context) time.Time {
	if at, ok := ctx.Value(arrivalKey{}).(time.Time); ok {
		return at
	}
	return k.clock.Now()
}

// begins refuses, free, an access that is ready for its reservation too late. Planning, rehearsal, the ledger or a
// busy machine took too long. None of these depends on the question's rows.
func (k *Kernel) begins(at *instant) error {
	if at == nil || !k.clock.Now().After(at.begun) {
		return nil
	}
	return ended(Late)
}

var (
	errUnfinished = errors.New("the answer was not ready at its release time")
	errGivenUp    = errors.New("the question was cancelled before its release time")
)

// watched calls the function run with the time limit of an answer, and returns its result. Without an answer_delay (the
// parameter `at` is nil), the limit is Timeout.
//
// With an answer_delay, watched returns at the release time, even if run has not returned by then. It returns run's
// result if there is one by then, and errUnfinished otherwise. It returns sooner only if ctx ends, and then always with
// errGivenUp. After errUnfinished or errGivenUp, run may still be going, and nobody waits for it. So run must share
// nothing with its caller except its result, and data that the caller reads only after run has returned. A result that
// comes too late is discarded.
func watched[T any](
	ctx context.Context,
	k *Kernel,
	at *instant,
	run func(context.Context) (T, error),
) (none T, err error) {
	if at == nil {
		ctx, cancel := context.WithTimeout(ctx, k.Timeout())
		defer cancel()
		return run(ctx)
	}
	results := make(chan result[T], 1)
	defer func() {
		if errors.Is(err, errGivenUp) || errors.Is(err, errUnfinished) {
			go discarded(results)
		}
	}()
	// This deadline is later than the release time. An engine passes it to its server, which then stops the query
	// even if this process is killed.
	within, stop := context.WithTimeout(ctx, k.Timeout())
	defer stop()
	go func() {
		var r result[T]
		defer func() {
			if p := recover(); p != nil { // a crash of the process would reveal the outcome at once
				r = result[T]{err: fmt.Errorf("defect: %v\n%s", p, debug.Stack())}
			}
			results <- r
			handedOver()
		}()
		r.given, r.err = run(within)
	}()
	for _, moment := range []time.Time{at.cut, at.leaves} {
		reached, forget := k.clock.Reaching(moment)
		select {
		case <-ctx.Done():
			forget()
			return none, errors.Join(errGivenUp, ctx.Err())
		case <-reached:
			stop()
		}
	}
	select {
	case r := <-results:
		return r.given, r.err
	default:
		return none, errUnfinished
	}
}

// handedOver is called when run has ended. Tests replace it to wait for that.
var handedOver = func() {}

// result is the result of the function that watched runs.
type result[T any] struct {
	given T
	err   error
}

// discarded waits for a result that came too late, and releases what it holds.
func discarded[T any](results <-chan result[T]) {
	if holds, ok := any((<-results).given).(interface{ discard() }); ok {
		holds.discard()
	}
}
