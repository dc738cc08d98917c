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
	"dither/internal/release"
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
	c.listener = func(err error) { told++ }
	asked := make(chan struct{}, 10)
	*inside(c).Engine = endless{*inside(c).Engine, asked}
	long, turn := *inside(nil).RehearsalTime, *inside(nil).TurnTime
	t.Cleanup(func() { *inside(nil).RehearsalTime, *inside(nil).TurnTime = long, turn })
	*inside(nil).RehearsalTime = 20 * time.Millisecond
	var e *Error
	if _, err := c.Answer(t.Context(), Question{SQL: countSQL}); !errors.As(err, &e) || e.Code != CodePolicy || e.Charged || !strings.Contains(e.Message, "made-up rows") || told != 1 {
		t.Errorf("too long: %v, told %d", err, told)
	}
	<-asked

	*inside(nil).RehearsalTime, *inside(nil).TurnTime = time.Hour, 20*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for i := range release.RehearsalsOfOne {
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
	for range release.RehearsalsOfOne + 1 {
		if err := <-ended; codeOf(err) != CodeCancelled {
			t.Errorf("given up: %v", err)
		}
	}
	if s, _ := c.ledger.State(); s.Reservations != 0 {
		t.Errorf("%d reservations", s.Reservations)
	}
	if !inside(nil).Idle() {
		t.Error("a rehearsal is left")
	}
}
