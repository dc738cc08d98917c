package curator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// endless is an engine whose rehearsals end when they are told to.
type endless struct {
	engine.Engine
	asked chan struct{}
}

func (e endless) Rehearse(ctx context.Context, _ *bounded.Statement, _ engine.Sealed) error {
	e.asked <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

// A rehearsal that takes too long is refused, free; so is one whose turn does not come. The owner is told of the first.
func TestRehearsalsEnd(t *testing.T) {
	c := openHome(t, newHome(t))
	told := 0
	c.options.OwnerErrors = func(err error) { told++ }
	asked := make(chan struct{}, 10)
	c.kernel.engine = endless{c.kernel.engine, asked}
	long, turn := rehearsalTime, turnTime
	t.Cleanup(func() { rehearsalTime, turnTime = long, turn })
	rehearsalTime = 20 * time.Millisecond
	var e *Error
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); !errors.As(err, &e) || e.Code != CodePolicy || e.Charged || !strings.Contains(e.Message, "made-up rows") || told != 1 {
		t.Errorf("too long: %v, told %d", err, told)
	}
	<-asked

	rehearsalTime, turnTime = time.Hour, 20*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for i := range rehearsalsOfOne {
		go func() {
			_, err := c.Answer(ctx, Question{SQL: fmt.Sprintf("SELECT COUNT(*) FROM people WHERE age > %d", i)})
			ended <- err
		}()
		<-asked
	}
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); !errors.As(err, &e) || e.Code != CodeUnavailable || !e.Retry || e.Charged {
		t.Errorf("no turn: %v", err)
	}
	go func() { // of another analyst
		_, err := c.Answer(ctx, Question{SQL: countSQL, Analyst: "bob"})
		ended <- err
	}()
	<-asked
	cancel()
	for range rehearsalsOfOne + 1 {
		if err := <-ended; codeOf(err) != CodeCancelled {
			t.Errorf("given up: %v", err)
		}
	}
	if s, _ := c.ledger.State(); s.Reservations != 0 {
		t.Errorf("%d reservations", s.Reservations)
	}
	if rehearsals.all != 0 || len(rehearsals.running) != 0 || len(rehearsals.waiting) != 0 {
		t.Errorf("%+v", rehearsals)
	}
}

// Turns are given in the order of asking, to so many at once, and to so many of one analyst; the queue is of bounded length.
func TestTurns(t *testing.T) {
	q := &turns{running: map[string]int{}}
	enter := func(who string) *turn { return must[*turn](t)(q.enter(who)) }
	goesOn := func(of *turn) bool {
		select {
		case <-of.granted:
			return true
		default:
			return false
		}
	}
	var ann []*turn
	for range rehearsalsOfOne + waitingOfOne {
		ann = append(ann, enter("ann"))
	}
	if _, err := q.enter("ann"); !errors.Is(err, errTurns) {
		t.Errorf("ann's queue: %v", err)
	}
	if !goesOn(ann[0]) || !goesOn(ann[1]) || goesOn(ann[2]) {
		t.Error("of ann two go on")
	}
	bob, eve, dan := enter("bob"), enter("eve"), enter("dan")
	if !goesOn(bob) || !goesOn(eve) || goesOn(dan) {
		t.Error("four go on")
	}
	q.leave(ann[0], true)
	if !goesOn(ann[2]) || goesOn(dan) {
		t.Error("ann's next was first")
	}
	q.leave(ann[3], false) // gives up waiting
	q.leave(bob, true)
	if !goesOn(dan) || goesOn(ann[4]) {
		t.Error("then dan, since of ann two go on")
	}
	q.leave(ann[1], true)
	if !goesOn(ann[4]) {
		t.Error("then ann's next but one")
	}
	for i := 0; len(q.waiting) < rehearsalsWaiting; i++ {
		enter(fmt.Sprint(i))
	}
	if _, err := q.enter("new"); !errors.Is(err, errTurns) {
		t.Errorf("the queue: %v", err)
	}
	// A turn that was granted while its asker gave up goes to the next one.
	q.leave(ann[4], false)
	if !goesOn(ann[5]) || q.all != rehearsalsAtOnce {
		t.Errorf("%d go on", q.all)
	}
}
