package curator

import (
	"context"
	"testing"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// slowRehearsals is an engine whose rehearsals take 200 ms of a clock.
type slowRehearsals struct {
	engine.Engine
	clock *fakeClock
}

func (e *slowRehearsals) Rehearse(ctx context.Context, b *bounded.Statement, from engine.Sealed) error {
	e.clock.set(e.clock.Now().Add(200 * time.Millisecond))
	return e.Engine.Rehearse(ctx, b, from)
}

// The rehearsals of all measured questions come before the first one arrives, so that their number does not make it late:
// here four of them take longer than the floor of 500 ms.
func TestManyMeasuredQuestionsAreNotLate(t *testing.T) {
	home := delayedHome(t, "")
	c, clock := waits(t, home)
	*inside(c).Engine = &slowRehearsals{*inside(c).Engine, clock}
	there, done := handing(t), make(chan error, 1)
	go func() {
		_, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*), (SELECT COUNT(*) FROM people WHERE age > 30), " +
			"(SELECT COUNT(*) FROM people WHERE age > 40), (SELECT COUNT(*) FROM people WHERE age > 50) FROM people"})
		done <- err
	}()
	for range 4 {
		select {
		case <-there:
			strike(clock)
		case err := <-done:
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
