package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime/debug"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/plan"
)

// Where the policy has an answer_delay, the answer to a question leaves at one instant, which is fixed when the question arrives
// (docs/design/0006-instants.md, with the proof of what that hides). Until then the ledger holds the reservation and nothing else: one entry, the
// release or the failure, is written at the instant, whatever happened before. So no reader, in any process, can know sooner.

// clock tells the time, and when it has come. Tests of this package have their own; nothing else sets another one.
type clock interface {
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

// arrives notes that a question arrives now, unless it is known when it did.
func (c *Curator) arrives(ctx context.Context) context.Context {
	if c.policy.Delay == nil || ctx.Value(arrivalKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, arrivalKey{}, c.clock.Now())
}

// delayOf is how long after its arrival the answer of a look leaves; 0 where the policy says nothing of it. It is a function of the statements, of
// the policy, and of how often the rows are read.
func (c *Curator) delayOf(l *look) (time.Duration, error) {
	d := c.policy.Delay
	if d == nil {
		return 0, nil
	}
	cost := c.costs(l, func(table string) int64 { return d.RowsOf(c.policy.Table(table)) })
	after, ok := d.After(cost, c.timeout())
	if !ok {
		return 0, &Error{
			Code:    CodePolicy,
			Message: fmt.Sprintf("by the policy's answer_delay the answer would leave later than the %s that an answer may take", c.timeout()),
			Hint:    "ask about fewer tables, with fewer and shorter expressions",
		}
	}
	return after, nil
}

// costs is what answer_delay.factor multiplies: the cost of a look's statements, as often as rows are read.
func (c *Curator) costs(l *look, rows func(table string) int64) *big.Int {
	cost := plan.Work(c.policy, rows, append([]*bounded.Statement{l.bounded}, l.more...)...)
	return cost.Mul(cost, big.NewInt(max(l.passes, 1)))
}

// Work is the cost of a question that answer_delay.factor multiplies, where every table has as many rows as rows says:
// `dither audit timing --calibrate` divides times by it. It is free.
func (c *Curator) Work(q Question, rows func(table string) int64) (*big.Int, error) {
	a, err := c.ask(q)
	if err != nil {
		return nil, c.public(err)
	}
	return c.costs(a.look, rows), nil
}

// instantOf is when the answer of a look leaves that arrives at a time.
func (c *Curator) instantOf(l *look, arrival time.Time) (*instant, error) {
	after, err := c.delayOf(l)
	if err != nil || after == 0 {
		return nil, err
	}
	d := c.policy.Delay
	leaves := arrival.Add(after)
	return &instant{arrival: arrival, begun: arrival.Add(d.Floor), cut: leaves.Add(-min(d.Floor, d.Quantum) / cutShare), leaves: leaves}, nil
}

// cutShare is which part of the floor, or of the quantum if that is less, an engine has to stop in. Whether it does tells nobody anything: it is
// left alone. But what it still does could slow down the writing of the entry.
const cutShare = 4

// arrived is when the question of a context arrived.
func (c *Curator) arrived(ctx context.Context) time.Time {
	if at, ok := ctx.Value(arrivalKey{}).(time.Time); ok {
		return at
	}
	return c.clock.Now()
}

// begins refuses, free, a look that comes to its reservation so late that its time would not be enough. Planning, rehearsal and the ledger
// took that long, or the machine was busy: no row of the question has a part in it.
func (c *Curator) begins(at *instant) error {
	if at == nil || !c.clock.Now().After(at.begun) {
		return nil
	}
	return &Error{
		Code: CodeUnavailable, Message: "the question came to its turn too late to be answered in time, and was not asked", Retry: true,
		Hint: "ask again; if it happens often, the owner makes answer_delay.floor larger",
	}
}

var (
	errUnfinished = errors.New("the answer was not there at its instant")
	errGivenUp    = errors.New("the question was given up before its instant")
)

// watched gives run the sealed files, and the time that an answer may take. Without an instant that is the timeout.
//
// With one, it returns at the instant, never sooner unless ctx ends, and then with errGivenUp, whatever run has come to. What run has given by then is
// returned; if there is nothing, that is errUnfinished, and run is left alone: it was told to stop, and nobody waits for it.
// So run must share nothing with its caller but what it returns, or what is read only if it has returned. What is returned too late is discarded, if it can be.
func watched[T any](ctx context.Context, c *Curator, at *instant, from engine.Sealed, run func(context.Context, engine.Sealed) (T, error)) (none T, err error) {
	if at == nil {
		ctx, cancel := context.WithTimeout(ctx, c.timeout())
		defer cancel()
		return run(ctx, from)
	}
	results := make(chan result[T], 1)
	defer func() {
		if errors.Is(err, errGivenUp) || errors.Is(err, errUnfinished) {
			go discarded(results)
		}
	}()
	within, stop := context.WithTimeout(ctx, c.timeout()) // which is later: for a server that is never told to stop, as its asker was killed
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
		r.given, r.err = run(within, from)
	}()
	for _, moment := range []time.Time{at.cut, at.leaves} {
		reached, forget := c.clock.Reaching(moment)
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
