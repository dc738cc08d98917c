package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"dither/privacy"
)

// acked is what a script was told had happened.
type acked struct {
	reserved map[uint64]string // index → price
	released map[string][]byte // key → values
	head     *Head             // after the newest acknowledgement
	created  bool
	tried    privacy.Loss // the prices of reservations that were neither acknowledged nor refused
	refused  int          // steps that were not written, and asked for again
}

// sum is what is spent for certain.
func (a *acked) sum() privacy.Loss {
	total := privacy.Loss{}
	for _, price := range a.reserved {
		total = total.Plus(pure(price))
	}
	return total
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
		if err != nil && !errors.Is(err, ErrNotWritten) {
			a.tried = a.tried.Plus(pure(price))
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

// play runs the script in a new file system until an error that is more than a refusal; a nil error is the whole of it.
// What was not written is asked for
// again: a refusal changes nothing, and leaves the handle as it was.
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
		err := s(l, a)
		for again := 0; again < 3 && errors.Is(err, ErrNotWritten); again++ {
			a.refused++
			if !errors.Is(err, errInjected) {
				m.t.Fatalf("the cause is lost: %v", err)
			}
			if m.quiet() && !m.dies && l.failed == nil { // unlocking may have failed besides
				checkUntouched(m, l, a)
			}
			err = s(l, a)
		}
		if err != nil {
			checkPoisoned(m.t, l, err)
			return a, err
		}
	}
	return a, l.Close()
}

// checkUntouched holds a ledger that has refused to what was acknowledged before, to the last digit, in memory and on
// disk.
func checkUntouched(m *memFS, l *Ledger, a *acked) {
	m.t.Helper()
	ops := m.ops
	defer func() { m.ops = ops }()
	if s := mustState(m.t, l); !equal(s.Spent, a.sum()) || s.Torn != 0 {
		m.t.Fatalf("spent is %s, %d torn, where %s was acknowledged", s.Spent, s.Torn, a.sum())
	}
	r, err := verify(m, faultDir, a.head)
	if err != nil || !equal(r.State.Spent, a.sum()) || r.Behind != 0 || r.Fragment != 0 {
		m.t.Fatalf("%v: %+v, where %s was acknowledged", err, r, a.sum())
	}
	if log := m.names[faultDir+"/"+logName]; !bytes.Equal(log.data, log.synced) {
		m.t.Fatal("a refusal left something that is not durable")
	}
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
	m.failAt, m.failNext = 0, 0
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
		if !a.created && errors.Is(err, ErrMissing) {
			return // its name was not durable, and nothing was asked of it
		}
		t.Fatalf("open after a power cut: %v", err)
	}
	again := checkPromises(t, l, a)
	if again.Head.Index < s.Head.Index || !s.Spent.Within(again.Spent) {
		t.Fatalf("entry %d was read, and after a power cut the head is %d; spent went from %s to %s", s.Head.Index,
			again.Head.Index, s.Spent, again.Spent)
	}
	// an entry that was taken back may be here again, if its taking back was not durable and nobody was told of it
	s = again
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
	reserved, sum := map[uint64]bool{}, a.sum()
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
	for index := range a.reserved {
		if !reserved[index] {
			t.Fatalf("the acknowledged reservation %d is gone", index)
		}
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
	sum = sum.Plus(a.tried) // at most these are spent beside: a fragment is free
	if !s.Spent.Within(sum) || s.Torn > 0 {
		t.Fatalf("spent is %s and %d torn; acknowledged, or tried, were %s", s.Spent, s.Torn, sum)
	}
	return s
}

// then is what happens after an operation has failed.
type then struct {
	next int  // so many operations later another one fails, and is not done; 0 is none
	dies bool // the process ends there
}

// TestEveryStepFails fails each operation on files of the scripted history in both ways, and writes in the middle;
// alone, with the end of the process, or, an eighth of them, with one of the next few operations; followed by each kind
// of crash. With DITHER_LONG=1 it is at each byte, by turns with each kind of crash, and with more of the next operations.
func TestEveryStepFails(t *testing.T) { everyStepFails(t, 1) }

// everyStepFails tries one in so many faults.
func everyStepFails(t *testing.T, oneIn int) {
	whole := newMemFS(t)
	if _, err := play(whole); err != nil {
		t.Fatal(err)
	}
	const apart = 32 // bytes, between writes that are cut there and lost in each way
	stride, nexts := apart, []then{{}, {dies: true}, {next: 1}, {next: 2}, {next: 3}}
	long := os.Getenv("DITHER_LONG") == "1"
	if long {
		stride, nexts = 1, append(nexts, then{next: 4}, then{next: 5}, then{next: 6}, then{next: 7})
	}
	var runs, refused atomic.Int64
	t.Run("operation", func(t *testing.T) {
		for k := 1; k <= whole.ops; k++ {
			t.Run(strconv.Itoa(k), func(t *testing.T) {
				t.Parallel()
				faults := []fault{{done: false, short: -1}, {done: true, short: -1}}
				for n := 0; n < whole.writes[k]; n += stride {
					faults = append(faults, fault{short: n})
				}
				turn := k
				for i, f := range faults {
					for _, after := range nexts {
						for kind := range losses {
							if after.next > 0 && (i+k+after.next+int(kind))%8 > 0 || !long && !whole.changes[k] && kind > lostAll {
								continue // an eighth of the doubles, and nothing more is lost where nothing changes
							}
							if f.short%apart > 0 && f.short%int(losses) != int(kind) {
								continue
							}
							if turn++; turn%oneIn > 0 {
								continue
							}
							refused.Add(int64(stepFails(t, k, f, after, kind)))
							runs.Add(1)
						}
					}
				}
			})
		}
	})
	if refused.Load() == 0 {
		t.Error("nothing was ever refused")
	}
	t.Logf("%d operations, %d runs, %d refusals", whole.ops, runs.Load(), refused.Load())
}

// stepFails fails operation k of the scripted history, and says how many calls were refused.
func stepFails(t *testing.T, k int, f fault, after then, kind loss) int {
	m := newMemFS(t)
	m.failAt, m.fault, m.failNext, m.dies = k, f, after.next, after.dies
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
	return a.refused
}

// TestRecoveryFails crashes after a fault, and then fails each operation of the recovery in turn: a repair that is
// itself cut off is repaired.
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
					if index, err := l.Reserve(reservation(key(8), "0.01")); err == nil {
						a.reserved[index] = "0.01"
					} else if !errors.Is(err, ErrNotWritten) {
						a.tried = a.tried.Plus(pure("0.01"))
					}
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

// An answer that is taken back with its batch is none: who asks the same in that batch is told that it failed, too.
func TestAnsweredInABatchThatFails(t *testing.T) {
	base, taken := prepared(t), 0
	for at := 1; ; at++ {
		m := base.clone()
		l, err := open(m, faultDir, clock)
		must(t, err)
		same := reservation(key(500), "0.01")
		paid, err := l.Reserve(same)
		must(t, err)
		m.failAt, m.fault = m.ops+at, fault{short: -1}
		release := &member{body: Release{paid, values(1)}}
		l.queue.join(release) // leads
		answered, asked := false, make(chan error)
		go func() {
			_, found, err := l.ReserveNew(same, 0)
			answered = found
			asked <- err
		}()
		for waiting := 0; waiting < 2; runtime.Gosched() {
			l.queue.mu.Lock()
			waiting = len(l.queue.waiting)
			l.queue.mu.Unlock()
		}
		l.lead()
		if err := <-asked; answered != (err == nil) || answered && release.err != nil {
			t.Errorf("%s: the release: %v; who asks the same: %t, %v", m.failed, release.err, answered, err)
		}
		if release.err != nil {
			taken++
		}
		if m.ops < m.failAt {
			break
		}
	}
	if taken < 6 {
		t.Errorf("the release failed %d times", taken)
	}
}
