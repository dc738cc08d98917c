package curator

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/mechanism"
)

// slow is an engine that adds up when it is let, and tells that it was asked.
type slow struct {
	engine.Engine
	asked  chan struct{}
	let    <-chan struct{}
	failed atomic.Bool // fails once it is let
}

func (s *slow) Aggregate(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([][]mechanism.Exact, error) {
	s.asked <- struct{}{}
	<-s.let
	if s.failed.Load() {
		return failing{}.Aggregate(ctx, b, from)
	}
	return s.Engine.Aggregate(ctx, b, from)
}

const underwayQuestion = "SELECT region, COUNT(*), SUM(age) FROM people GROUP BY region"

// slowly makes a home's engine one that waits.
func slowly(c *Owner) (*slow, chan struct{}) {
	let := make(chan struct{})
	s := &slow{Engine: *inside(c).Engine, asked: make(chan struct{}, 100), let: let}
	*inside(c).Engine = s
	return s, let
}

// paidOf counts the reservations and releases of a ledger.
func paidOf(t *testing.T, c *Owner) (reserved, released int) {
	t.Helper()
	s, err := c.ledger.State()
	if err != nil {
		t.Fatal(err)
	}
	return s.Reservations, s.Answers
}

// A question that is asked many times at once, through two curators of one home, is paid once, and all have the one release.
func TestAskedAtOncePaysOnce(t *testing.T) {
	for name, ask := range map[string]func(*Owner) (string, bool, error){
		"Answer": func(c *Owner) (string, bool, error) {
			r, err := c.Answer(t.Context(), Question{SQL: underwayQuestion})
			if err != nil {
				return "", false, err
			}
			text, err := json.Marshal(r.Rows)
			return r.ID + string(text), r.Replayed, err
		},
		"Measure": func(c *Owner) (string, bool, error) {
			m, err := c.Measure(t.Context(), Question{SQL: underwayQuestion})
			if err != nil {
				return "", false, err
			}
			text, err := json.Marshal(m.Vectors[0].Values)
			return m.ID + string(text), m.Replayed, err
		},
		"Select": func(c *Owner) (string, bool, error) {
			s, err := c.Select(t.Context(), Selection{Request: Request{SQL: "SELECT region, COUNT(*) FROM people GROUP BY region"}, Best: 1})
			if err != nil {
				return "", false, err
			}
			text, err := json.Marshal(s.Best)
			return s.ID + string(text), s.Replayed, err
		},
	} {
		one := pureTerms.alone(t)
		two := openHome(t, one.home)
		engine, let := slowly(one)
		*inside(two).Engine = &slow{Engine: *inside(two).Engine, asked: engine.asked, let: let}
		const askers = 12
		var wg sync.WaitGroup
		var mu sync.Mutex
		said, fresh := map[string]int{}, 0
		for i := range askers {
			c := []*Owner{one, two}[i%2]
			wg.Go(func() {
				text, replayed, err := ask(c)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				said[text]++
				if !replayed {
					fresh++
				}
			})
		}
		<-engine.asked
		time.Sleep(50 * time.Millisecond) // in which others come and wait
		close(let)
		wg.Wait()
		if reserved, released := paidOf(t, one); reserved != 1 || released != 1 || fresh != 1 || len(said) != 1 || len(engine.asked) != 0 {
			t.Errorf("%s: %d reservations, %d releases, %d fresh, %d answers, %d looks more", name, reserved, released, fresh, len(said), len(engine.asked))
		}
		if left, err := os.ReadDir(filepath.Join(one.home, "underway")); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
}

// Who waits for an answer that fails pays for a look of their own; a wait ends with its context, and with the time that an answer may take: then
// nothing is charged. Who asks afresh does not wait.
func TestWaitsForNothing(t *testing.T) {
	one := pureTerms.alone(t)
	two := openHome(t, one.home)
	engine, let := slowly(one)
	engine.failed.Store(true)
	failed := make(chan error)
	go func() {
		_, err := one.Answer(t.Context(), Question{SQL: underwayQuestion})
		failed <- err
	}()
	<-engine.asked
	before := spent(t, one)

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := two.Answer(ctx, Question{SQL: underwayQuestion}); codeOf(err) != CodeCancelled {
		t.Errorf("given up: %v", err)
	}
	*inside(two).Limit = 30 * time.Millisecond
	if _, err := two.Answer(t.Context(), Question{SQL: underwayQuestion}); codeOf(err) != CodeUnavailable {
		t.Errorf("too long: %v", err)
	}
	if after := spent(t, one); after != before {
		t.Errorf("spent is %s, and was %s", after, before)
	}
	*inside(two).Limit = 0
	if r, err := two.Answer(t.Context(), Question{SQL: "SELECT SUM(age) FROM people"}); err != nil || r.Replayed {
		t.Errorf("another question: %v", err)
	}
	answered := make(chan error)
	go func() {
		r, err := two.Answer(t.Context(), Question{SQL: underwayQuestion})
		if err == nil && r.Replayed {
			t.Errorf("a failed look was replayed")
		}
		answered <- err
	}()
	time.Sleep(30 * time.Millisecond)
	close(let)
	if err := <-failed; codeOf(err) != CodeFailed {
		t.Errorf("%v", err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if reserved, released := paidOf(t, one); reserved != 3 || released != 2 {
		t.Errorf("%d reservations, %d releases", reserved, released)
	}
	if b := must[*Budget](t)(one.Budget()); b.Lost == nil || *b.Lost != (LostLoss{Failed: 1, Price: Loss{Epsilon: "0.5", Delta: "0", left: true}}) || b.Failures != 1 || b.Answers != 2 {
		t.Errorf("%+v, lost %+v", b, b.Lost)
	}

	three := pureTerms.alone(t)
	engine, let = slowly(three)
	first := make(chan error)
	go func() {
		_, err := three.Answer(t.Context(), Question{SQL: underwayQuestion})
		first <- err
	}()
	<-engine.asked
	fresh := openHome(t, three.home)
	if r, err := fresh.Answer(t.Context(), Question{SQL: underwayQuestion, Fresh: true}); err != nil || r.Replayed {
		t.Errorf("asked afresh: %v", err)
	}
	if b := must[*Budget](t)(three.Budget()); b.Lost == nil || b.Lost.Open != 1 || b.Lost.Failed != 0 || b.Lost.Price.Epsilon != "0.5" {
		t.Errorf("while one is being answered: %+v", b.Lost)
	}
	close(let)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if b := must[*Budget](t)(three.Budget()); b.Lost != nil {
		t.Errorf("%+v", b.Lost)
	}
}

// A file that a killed process left is taken away by whoever opens the home next, but not one that is held.
func TestUnderwayIsSwept(t *testing.T) {
	c := pureTerms.alone(t)
	done, _, err := inside(c).Underway(t.Context(), "held")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(c.home, "underway")
	write(t, dir, "left", "")
	openHome(t, c.home)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "held" {
		t.Errorf("%v, %v", left, err)
	}
	done()
	if left, err = os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// What was recorded between the look into the ledger and the reservation is replayed: nothing is charged.
func TestAnsweredAtTheLastMoment(t *testing.T) {
	c := pureTerms.alone(t)
	a := must[*asked](t)(c.ask(Question{SQL: underwayQuestion}))
	first := must[*Release](t)(c.Answer(t.Context(), Question{SQL: underwayQuestion}))
	id, answered, err := inside(c).Charge(a.look)
	if err != nil || !answered || id != 0 {
		t.Errorf("%d, %t, %v", id, answered, err)
	}
	if reserved, _ := paidOf(t, c); reserved != 1 {
		t.Errorf("%d reservations after %s", reserved, first.ID)
	}
}
