package release

import (
	"errors"
	"fmt"
	"testing"
)

func must[T any](t *testing.T) func(T, error) T {
	return func(x T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// Turns are given in the order of asking, to so many at once, and to so many of one analyst; the queue is of bounded
// length.
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
	for range RehearsalsOfOne + waitingOfOne {
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
