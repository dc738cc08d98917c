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

// Where the policy has an answer_delay, the answer to a question leaves at one instant, which is fixed when the
// question arrives (docs/design/0006-instants.md, with the proof of what that hides). Until then the ledger holds the
// reservation and nothing else: one entry, the release or the failure, is written at the instant, whatever happened
// before. So no reader, in any process, can know sooner.

// Clock tells the time, and when it has come. Tests of this package have their own; nothing else sets another one.
type Clock interface {
	Now() time.Time
	// Reaching is closed, or sent to, once it is at; stop gives up waiting.
	Reaching(at time.Time) (reached <-chan time.Time, stop func())
}

// wall is the computer's clock. Its times go on steadily, though somebody set it.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) Reaching(at time.Time) (<-chan time.Time, func()) {
	t := time.NewTimer(time.Until(at))
	return t.C, func() { t.Stop() }
}

// instant is when the answer to a question leaves; nil where that is when it is there.
type instant struct {
	arrival time.Time
	begun   time.Time // by then the rows are read, or the question is refused, free
	cut     time.Time // then the engine is told to stop
	leaves  time.Time
}

// arrivalKey finds, in a context, when a question arrived.
type arrivalKey struct{}

// Arrives notes that a question arrives now, unless it is known when it did.
func (k *Kernel) Arrives(ctx context.Context) context.Context {
	if k.policy.Delay == nil || ctx.Value(arrivalKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, arrivalKey{}, k.clock.Now())
}

// DelayOf is the time between a look's arrival and the departure of its answer; 0 if the policy has no answer_delay. It is a
// function of the statements, of the policy, and of how often the rows are read.
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

// Work is the amount that answer_delay.factor multiplies: the cost of a look's statements, times the number of times that rows are read.
func (k *Kernel) Work(l *Look, rows func(table string) int64) *big.Int {
	work := cost.Work(k.policy, rows, l.statements...)
	return work.Mul(work, big.NewInt(max(l.passes, 1)))
}

// instantOf is when the answer of a look leaves that arrives at a time.
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

// cutShare is which part of the floor, or of the quantum if that is less, an engine has to stop in. Whether it does
// tells nobody anything: it is left alone. But what it still does could slow down the writing of the entry.
const cutShare = 4

// arrived is when the question of a context arrived.
func (k *Kernel) arrived(ctx context.Context) time.Time {
	if at, ok := ctx.Value(arrivalKey{}).(time.Time); ok {
		return at
	}
	return k.clock.Now()
}

// begins refuses, free, a look that comes to its reservation so late that its time would not be enough. Planning,
// rehearsal and the ledger took that long, or the machine was busy: no row of the question has a part in it.
func (k *Kernel) begins(at *instant) error {
	if at == nil || !k.clock.Now().After(at.begun) {
		return nil
	}
	return ended(Late)
}

var (
	errUnfinished = errors.New("the answer was not there at its instant")
	errGivenUp    = errors.New("the question was given up before its instant")
)

// watched gives run the time that an answer may take. Without an instant that is the timeout.
//
// With one, it returns at the instant, never sooner unless ctx ends, and then with errGivenUp, whatever run has come
// to. What run has given by then is returned; if there is nothing, that is errUnfinished, and run is left alone: it was
// told to stop, and nobody waits for it. So run must share nothing with its caller but what it returns, or what is read
// only if it has returned. What is returned too late is discarded, if it can be.
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
	// which is later: for a server that is never told to stop, as its asker was killed
	within, stop := context.WithTimeout(ctx, k.Timeout())
	defer stop()
	go func() {
		var r result[T]
		defer func() {
			if p := recover(); p != nil { // a process that ends would tell at once
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

// handedOver is where tests wait until there is a result.
var handedOver = func() {}

// result is what an engine's part of an answer came to.
type result[T any] struct {
	given T
	err   error
}

// discarded waits for what nobody waits for any more, and gives back what it holds.
func discarded[T any](results <-chan result[T]) {
	if holds, ok := any((<-results).given).(interface{ discard() }); ok {
		holds.discard()
	}
}
