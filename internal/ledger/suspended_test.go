package ledger

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func by(i int, analyst string) Reservation {
	r := reservation(key(i), "1/100000")
	r.Analyst = analyst
	return r
}

// Who gives up ten questions asks nothing more, neither a new question nor the next one of a stream; others do. At a
// hundred nobody does. The owner's resumption admits everybody again. So before and after the ledger is read again.
func TestSuspended(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	giveUp := func(analyst string, n int) {
		t.Helper()
		var open []uint64
		for range n { // all at once: what is in progress may still be given up
			index, err := l.Reserve(by(1, analyst))
			must(t, err)
			open = append(open, index)
		}
		for _, index := range open {
			must(t, l.GiveUp(index))
		}
	}
	refused := func(analyst, says string) {
		t.Helper()
		again := mustOpen(t, dir)
		for _, l := range []*Ledger{l, again} {
			_, err := l.Reserve(by(2, analyst))
			var e *SuspendedError
			if !errors.Is(err, ErrSuspended) || !errors.As(err, &e) || !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v, want %q", analyst, err, says)
			}
			if err := mustState(t, l).Suspended(analyst); !errors.Is(err, ErrSuspended) {
				t.Errorf("%q: %v", analyst, err)
			}
		}
		must(t, again.Close())
	}
	stream, err := l.Reserve(by(3, "ann"))
	must(t, err)
	giveUp("ann", MaxGivenUp-1)
	giveUp("", MaxGivenUp-1)
	must(t, l.Step(Step{stream, "next", values(1)}))
	giveUp("ann", 1)
	refused("ann", "10 questions or steps of ann have been cancelled")
	if err := l.Step(Step{stream, "next", values(1)}); !errors.Is(err, ErrSuspended) {
		t.Errorf("the next of a stream: %v", err)
	}
	giveUp("", 1)
	refused("", "10 questions or steps that name no analyst")
	for i := range 8 {
		name := fmt.Sprintf("analyst%d", i)
		if i == 7 {
			giveUp(name, MaxGivenUp-1)
			must(t, mustState(t, l).Suspended("bob"))
			giveUp("late", 1)
			break
		}
		giveUp(name, MaxGivenUp)
	}
	if s := mustState(t, l); s.GivenUp["ann"] != 10 || s.GivenUp[""] != 10 || s.Failures != 0 ||
		s.Lost.GivenUp != MaxAllGivenUp {
		t.Errorf("%+v, lost %+v", s.GivenUp, s.Lost)
	}
	refused("bob", "100 questions or steps have been cancelled")
	if err := l.Release(stream, values(1)); err != nil { // what is paid for is told
		t.Error(err)
	}
	must(t, l.Resume())
	giveUp("ann", MaxGivenUp-1)
	giveUp("bob", 1)
	if s := mustState(t, mustOpen(t, dir)); s.GivenUp["ann"] != 9 || s.GivenUp["bob"] != 1 || len(s.GivenUp) != 2 {
		t.Errorf("%+v", s.GivenUp)
	}
}

// One analyst who gives up more than a hundred questions, all of them in progress at once, suspends nobody else: nor do
// steps of trainings. The second analyst counts as usual.
func TestSuspendedByNobodyElse(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	var open []uint64
	for range MaxAllGivenUp + 1 {
		index, err := l.Reserve(by(1, "ann"))
		must(t, err)
		open = append(open, index)
	}
	for _, index := range open[1:] {
		must(t, l.GiveUp(index))
	}
	for range MaxAllGivenUp {
		must(t, l.GiveUpStep(open[0], "ann"))
	}
	for _, l := range []*Ledger{l, mustOpen(t, dir)} {
		s := mustState(t, l)
		if s.GivenUp["ann"] != 2*MaxAllGivenUp || s.Suspended("ann") == nil {
			t.Errorf("%+v", s.GivenUp)
		}
		must(t, s.Suspended("bob"))
		_, err := l.Reserve(by(2, "bob"))
		must(t, err)
	}
	var mine []uint64
	for i := range MaxAllGivenUp / MaxGivenUp {
		for range MaxGivenUp {
			index, err := l.Reserve(by(3, fmt.Sprint(i)))
			must(t, err)
			mine = append(mine, index)
		}
	}
	for _, index := range mine[:MaxAllGivenUp-MaxGivenUp] {
		must(t, mustState(t, l).Suspended("bob"))
		must(t, l.GiveUp(index))
	}
	if err := mustState(t, l).Suspended("bob"); !errors.Is(err, ErrSuspended) {
		t.Errorf("%v", err)
	}
}

// A question that is admitted after its analyst was suspended is none that this program wrote.
func TestSuspensionIsARule(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	for range MaxGivenUp {
		index, err := l.Reserve(by(1, "ann"))
		must(t, err)
		must(t, l.GiveUp(index))
	}
	l.log.givenUpBy = map[string]int{} // as a program without the rule
	_, err := l.Reserve(by(2, "ann"))
	must(t, err)
	if _, err := Open(dir, l.now); !errors.As(err, new(*CorruptError)) {
		t.Errorf("%v", err)
	}
}

// A step that is given up leaves its reservation open, counts like a question that is given up, durably, and stops
// further steps at ten; what is paid stays paid once, and is released at the end.
func TestStepGivenUp(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	index, err := l.Reserve(by(1, "ann"))
	must(t, err)
	must(t, l.Step(Step{index, "step 1", values(1)}))
	before := mustState(t, l)
	for i := range MaxGivenUp {
		again := mustOpen(t, dir)
		for _, l := range []*Ledger{l, again} {
			if s := mustState(t, l); s.Suspended("ann") != nil || s.GivenUp["ann"] != i {
				t.Fatalf("after %d: %v, %+v", i, s.Suspended("ann"), s.GivenUp)
			}
		}
		must(t, again.GiveUpStep(index, "ann"))
		must(t, again.Close())
	}
	must(t, l.GiveUpStep(index, "ann")) // what is in progress may still be given up
	for _, l := range []*Ledger{l, mustOpen(t, dir)} {
		s := mustState(t, l)
		if s.GivenUp["ann"] != MaxGivenUp+1 || s.Failures != 0 || s.Lost != nil || !equal(s.Spent, before.Spent) ||
			s.Reservations != 1 {
			t.Errorf("%+v", s)
		}
		if err := l.Step(Step{index, "step 2", values(2)}); !errors.Is(err, ErrSuspended) {
			t.Errorf("a step: %v", err)
		}
		if _, err := l.Reserve(by(2, "ann")); !errors.Is(err, ErrSuspended) {
			t.Errorf("a question: %v", err)
		}
		must(t, s.Suspended("bob"))
	}
	must(t, l.Resume())
	for range MaxGivenUp { // whoever goes on with what another paid for
		must(t, l.GiveUpStep(index, "bob"))
	}
	if s := mustState(t, mustOpen(t, dir)); s.Suspended("ann") != nil || !errors.Is(s.Suspended("bob"), ErrSuspended) {
		t.Errorf("%+v", s.GivenUp)
	}
	must(t, l.Step(Step{index, "step 2", values(2)}))
	must(t, l.Resume())
	must(t, l.Release(index, values(3)))
	for _, of := range []uint64{index, index - 1, 1 << 40} {
		if err := l.GiveUpStep(of, "ann"); !errors.Is(err, ErrNotReserved) {
			t.Errorf("of %d: %v", of, err)
		}
	}
	if s := mustState(t, mustOpen(t, dir)); s.GivenUp != nil || s.Answers != 1 {
		t.Errorf("%+v", s)
	}
}

// What the owner gives up is nobody's fault: it suspends nobody.
func TestAbandonedCountsForNobody(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	for i := range MaxAllGivenUp + 1 {
		index, err := l.Reserve(by(i, "ann"))
		must(t, err)
		must(t, l.Abandon(index))
	}
	for _, l := range []*Ledger{l, mustOpen(t, dir)} {
		s := mustState(t, l)
		if err := s.Suspended("ann"); err != nil || s.GivenUp != nil || s.Lost.GivenUp != MaxAllGivenUp+1 {
			t.Errorf("%v, %+v", err, s)
		}
	}
}
