package ledger

import (
	"errors"
	"sync"
	"testing"

	"dither/privacy"
)

// ReserveNew charges what has no answer, through any handle, and charges nothing for what has one: not even where it
// could not be paid.
func TestReserveNew(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	other := mustOpen(t, dir)
	id, answered, err := l.ReserveNew(reservation(key(1), "0.5"), 0)
	if err != nil || answered {
		t.Fatal(id, answered, err)
	}
	second, answered, err := other.ReserveNew(reservation(key(1), "0.4"), 0) // it is under way, not answered
	if err != nil || answered || second == id {
		t.Fatal(second, answered, err)
	}
	must(t, other.Release(id, values(1)))
	head := other.Head()
	for _, of := range []*Ledger{l, other} {
		if index, answered, err := of.ReserveNew(reservation(key(1), "0.5"), 0); index != 0 || !answered || err != nil {
			// of which 0.1 is left
			t.Error(index, answered, err)
		}
	}
	if l.Head() != head {
		t.Error("something was written")
	}
	var exhausted *privacy.OverdrawError
	if _, answered, err := l.ReserveNew(reservation(key(2), "0.5"), 0); answered || !errors.As(err, &exhausted) {
		t.Error(answered, err)
	}
	if s := mustState(t, l); s.Lost == nil || s.Lost.Open != 1 || !equal(s.Lost.Loss, pure("0.4")) {
		t.Errorf("%+v", s.Lost)
	}
}

// Many at once: between the answer's recording and a reservation nothing comes.
func TestReserveNewAtOnce(t *testing.T) {
	dir, _ := begin(t, "1", "0.5")
	var wg sync.WaitGroup
	var mu sync.Mutex
	paid := map[uint64]bool{}
	for range 8 {
		l := mustOpen(t, dir)
		wg.Go(func() {
			id, answered, err := l.ReserveNew(reservation(key(1), "0.01"), 0)
			if err == nil && !answered {
				err = l.Release(id, values(int(id)))
				mu.Lock()
				paid[id] = true
				mu.Unlock()
			}
			if err != nil {
				t.Error(err)
			}
			if _, answered, err := l.ReserveNew(reservation(key(1), "0.01"), 0); !answered || err != nil {
				t.Errorf("after an answer: %t, %v", answered, err)
			}
		})
	}
	wg.Wait()
	if s := mustState(t, mustOpen(t, dir)); s.Reservations != len(paid) || s.Answers != len(paid) || s.Lost != nil {
		t.Errorf("%+v, and %d paid", s, len(paid))
	}
}
