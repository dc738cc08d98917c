package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"dither/privacy"
)

// acked is what a script was told had happened.
type acked struct {
	reserved map[uint64]string // index → price
	released map[string][]byte // key → values
	head     *Head             // after the newest acknowledgement
	created  bool
}

const faultDir = "/home"

// step is one call of the scripted history.
type step func(l *Ledger, a *acked) error

func reserveStep(i int, price string) step {
	return func(l *Ledger, a *acked) error {
		index, err := l.Reserve(reservation(key(i), price))
		if err == nil {
			a.reserved[index] = price
			a.note(l)
		}
		return err
	}
}

// releaseStep releases the newest reservation, if it was acknowledged.
func releaseStep(i int) step {
	return func(l *Ledger, a *acked) error {
		newest := uint64(0)
		for index := range a.reserved {
			newest = max(newest, index)
		}
		err := l.Release(newest, values(i))
		if err == nil {
			a.released[key(i)] = values(i)
			a.note(l)
		}
		return err
	}
}

func (a *acked) note(l *Ledger) {
	h := l.Head()
	a.head = &h
}

// script is the history that faults are injected into: terms, seals, answers, a change of terms.
func script() []step {
	return []step{
		func(l *Ledger, _ *acked) error { return l.Adopt(terms("2", "0.5"), 1, l.Head()) },
		func(l *Ledger, _ *acked) error { return l.Sealed("visits", 1, digest) },
		reserveStep(1, "0.1"), releaseStep(1),
		reserveStep(2, "1/30"), releaseStep(2),
		func(l *Ledger, _ *acked) error { _, err := l.State(); return err },
		func(l *Ledger, _ *acked) error { _, _, err := l.Find(key(1)); return err },
		func(l *Ledger, _ *acked) error { return l.Entries(func(Entry) error { return nil }) },
		reserveStep(3, "0.5"), releaseStep(3),
	}
}

// play runs the script until the first error, in a new file system; a nil error is the whole of it.
func play(m *memFS) (*acked, error) {
	a := &acked{reserved: map[uint64]string{}, released: map[string][]byte{}}
	if err := create(m, faultDir, testID, testTime); err != nil {
		return a, err
	}
	a.created = true
	l, err := open(m, faultDir, clock)
	if err != nil {
		return a, err
	}
	for _, s := range script() {
		if err := s(l, a); err != nil {
			checkPoisoned(m.t, l, err)
			return a, err
		}
	}
	return a, l.Close()
}

// checkPoisoned holds a handle that has said ErrAmbiguous to saying nothing else.
func checkPoisoned(t *testing.T, l *Ledger, err error) {
	t.Helper()
	if !errors.Is(err, errInjected) {
		t.Fatalf("the cause is lost: %v", err)
	}
	if !errors.Is(err, ErrAmbiguous) {
		return
	}
	if _, err := l.State(); !errors.Is(err, ErrAmbiguous) {
		t.Fatalf("after an ambiguous error: %v", err)
	}
	if _, err := l.Reserve(reservation(key(9), "0.1")); !errors.Is(err, ErrAmbiguous) {
		t.Fatalf("after an ambiguous error: %v", err)
	}
}

// recovered opens what a crash left and checks every promise against what was acknowledged.
func recovered(t *testing.T, m *memFS, a *acked) {
	t.Helper()
	m.failAt = 0
	before, err := verify(m, faultDir, a.head)
	if err != nil {
		var corrupt *CorruptError
		if !a.created && (errors.Is(err, ErrMissing) || errors.Is(err, ErrHeadMissing) || errors.As(err, &corrupt)) {
			return // an interrupted Create
		}
		t.Fatalf("verify: %v after %s %+v", err, m.failed, m.fault)
	}
	l, err := open(m, faultDir, clock)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	s := checkPromises(t, l, a)
	if !equal(before.State.Spent, s.Spent) {
		t.Fatalf("Verify counts %s as spent, Open %s", before.State.Spent, s.Spent)
	}
	// What was told once stays told, even if the process that wrote it had not made it durable.
	m.crash(lostAll)
	if l, err = open(m, faultDir, clock); err != nil {
		t.Fatalf("open after a power cut: %v", err)
	}
	if again := checkPromises(t, l, a); again.Head != s.Head {
		t.Fatalf("entry %d was read, and after a power cut the head is %d", s.Head.Index, again.Head.Index)
	} else {
		s = again // a fragment that was counted may be gone
	}
	if !s.Adopted || s.Sealed["visits"].Version == 0 {
		return
	}
	// The ledger goes on: the next append repairs the end of the file, and changes nothing of what was spent.
	index, err := l.Reserve(reservation(key(7), "0.01"))
	if err != nil {
		var exhausted *privacy.OverdrawError
		if !errors.As(err, &exhausted) {
			t.Fatalf("reserving after the crash: %v", err)
		}
		return
	}
	if err := l.Release(index, values(7)); err != nil {
		t.Fatalf("releasing after the crash: %v", err)
	}
	a.reserved[index], a.released[key(7)] = "0.01", values(7)
	if after := checkPromises(t, l, a); !equal(after.Spent, s.Spent.Plus(pure("0.01"))) {
		t.Fatalf("spent went from %s to %s", s.Spent, after.Spent)
	}
	if r, err := verify(m, faultDir, a.head); err != nil || r.Fragment != 0 {
		t.Fatalf("verify after the repair: %v, %d bytes of a fragment", err, r.Fragment)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func checkPromises(t *testing.T, l *Ledger, a *acked) State {
	t.Helper()
	reserved, sum := map[uint64]bool{}, privacy.Loss{}
	err := l.Entries(func(e Entry) error {
		switch b := e.Body.(type) {
		case Reservation:
			reserved[e.Index] = true
		case Release:
			if !reserved[b.Reservation] {
				return fmt.Errorf("release %d has no reservation before it", e.Index)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for index, price := range a.reserved {
		if !reserved[index] {
			t.Fatalf("the acknowledged reservation %d is gone", index)
		}
		sum = sum.Plus(pure(price))
	}
	for k, want := range a.released {
		have, ok, err := l.Find(k)
		if err != nil || !ok {
			t.Fatalf("an acknowledged release is gone: %v %v", ok, err)
		}
		if values, err := have.Values(); err != nil || !bytes.Equal(values, want) {
			t.Fatalf("an acknowledged release is another: %v", err)
		}
	}
	s, err := l.State()
	if err != nil {
		t.Fatal(err)
	}
	if !sum.Within(s.Spent) || (s.Adopted && !s.Spent.Within(s.Budget)) {
		t.Fatalf("spent is %s; acknowledged were %s of %s", s.Spent, sum, s.Budget)
	}
	return s
}

// TestEveryStepFails fails each operation on files of the scripted history in both ways, and each write at each byte,
// followed by each kind of crash.
func TestEveryStepFails(t *testing.T) {
	whole := newMemFS(t)
	if _, err := play(whole); err != nil {
		t.Fatal(err)
	}
	runs := 0
	for k := 1; k <= whole.ops; k++ {
		faults := []fault{{done: false, short: -1}, {done: true, short: -1}}
		for n := range whole.writes[k] {
			faults = append(faults, fault{short: n})
		}
		for _, f := range faults {
			for kind := range losses {
				if f.short%16 > 0 && kind != killed {
					continue // every byte for a killed process, every 16th for a power cut
				}
				m := newMemFS(t)
				m.failAt, m.fault = k, f
				a, err := play(m)
				if m.failed == "" {
					t.Fatalf("operation %d never happened", k)
				}
				if err != nil && !errors.Is(err, errInjected) {
					t.Fatalf("%s (%+v): %v", m.failed, f, err)
				}
				m.crash(kind)
				recovered(t, m, a)
				if t.Failed() {
					t.Fatalf("at operation %d, %s, %+v, crash %d", k, m.failed, f, kind)
				}
				runs++
			}
		}
	}
	t.Logf("%d operations, %d runs", whole.ops, runs)
}

// TestRecoveryFails crashes after a fault, and then fails each operation of the recovery in turn: a repair that is itself
// cut off is repaired.
func TestRecoveryFails(t *testing.T) {
	whole := newMemFS(t)
	if _, err := play(whole); err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= whole.ops; k += 3 {
		for kind := range losses {
			m := newMemFS(t)
			m.failAt, m.fault = k, fault{short: 40}
			a, _ := play(m)
			m.crash(kind)
			for again := 1; ; again++ {
				m.ops, m.failAt, m.failed = 0, again, "" // the fault's short write cuts the repair, too
				if l, err := open(m, faultDir, clock); err == nil {
					_, _ = l.Reserve(reservation(key(8), "0.01"))
					_ = l.Close()
				}
				if m.failed == "" {
					break
				}
				m.crash(killed)
			}
			recovered(t, m, a)
		}
	}
}
