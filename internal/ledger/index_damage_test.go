package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// answered40 is a ledger in memory with forty answers, some reservations without one, an index and checkpoints.
func answered40(t *testing.T) *memFS {
	t.Helper()
	often(t, 16)
	m := newMemFS(t)
	must(t, create(m, faultDir, testID, testTime))
	l, err := open(m, faultDir, clock)
	must(t, err)
	must(t, l.Adopt(terms("100", "1"), 1, l.Head()))
	must(t, l.Sealed("visits", 1, digest))
	for i := range 40 {
		r := reservation(key(i/2), "0.001")
		r.Subject = &Subject{Question: mark(i % 3), Measures: []string{mark(10 + i%2)}}
		index, err := l.Reserve(r)
		must(t, err)
		if i%5 > 0 {
			must(t, l.Release(index, values(i)))
		}
	}
	must(t, l.Close())
	return m
}

func (m *memFS) data(name string) []byte { return m.names[filepath.Join(faultDir, name)].data }

// toldBy opens and asks everything.
func toldBy(t *testing.T, m *memFS) (string, *Ledger) {
	t.Helper()
	l, err := open(m, faultDir, clock)
	must(t, err)
	return told(t, l), l
}

// TestIndexDamage changes each byte of the index and of the checkpoint file, and cuts them anywhere: nothing is said
// otherwise, however it is found.
func TestIndexDamage(t *testing.T) {
	m := answered40(t)
	want, _ := toldBy(t, m.copied(indexName, checkpointName))
	if _, l := toldBy(t, m.copied()); l.log.begun == (Checkpoint{}) {
		t.Fatal("no checkpoint")
	}
	try := func(what string, m *memFS) {
		t.Helper()
		if have, _ := toldBy(t, m); have != want {
			t.Fatalf("%s: it says something else", what)
		}
	}
	for _, name := range []string{indexName, checkpointName} {
		size := len(m.data(name))
		for at := 0; at < size; at += 1 + size/100 {
			flipped := m.copied()
			flipped.data(name)[at] ^= 1 << (at % 8)
			try(fmt.Sprintf("%s, byte %d", name, at), flipped)
			if at%7 == 0 {
				cut := m.copied()
				node := cut.names[filepath.Join(faultDir, name)]
				node.data = node.data[:at]
				try(fmt.Sprintf("%s, cut to %d", name, at), cut)
			}
		}
	}
}

// An index is damaged while a handle uses it: it reads the log.
func TestIndexDamagedInUse(t *testing.T) {
	m := answered40(t)
	want, _ := toldBy(t, m.copied(indexName, checkpointName))
	for _, use := range []func(*Ledger) error{
		func(l *Ledger) error { _, ok, err := l.Find(key(0)); return errors.Join(err, found(ok)) },
		func(l *Ledger) error { _, ok, err := l.AnswerOf(4); return errors.Join(err, found(ok)) },
		func(l *Ledger) error { _, err := l.Answers(func(*About) bool { return true }); return err },
		func(l *Ledger) error { return l.Entries(func(Entry) error { return nil }) },
		func(l *Ledger) error {
			_, ok, err := l.ReserveNew(reservation(key(0), "0.1"), 0)
			return errors.Join(err, found(ok))
		},
		func(l *Ledger) error { return l.Fail(3) }, // which needs nothing of it
	} {
		m := m.copied()
		l, err := open(m, faultDir, clock)
		must(t, err)
		file := m.data(indexName)
		for i := range file {
			file[i] ^= 0x55
		}
		must(t, use(l))
		if have := told(t, l); !strings.HasPrefix(have, `{"id"`) || len(have) < len(want)/2 {
			t.Fatal(have)
		}
	}
	l, err := open(m, faultDir, clock)
	must(t, err)
	clear(m.data(indexName))
	if have := told(t, l); have != want {
		t.Fatalf("it says\n%s\nwant\n%s", have, want)
	}
}

func found(ok bool) error {
	if !ok {
		return errors.New("not found")
	}
	return nil
}

// takeIndex replaces a ledger's index by another's.
func takeIndex(m, from *memFS) {
	for _, name := range []string{indexName, checkpointName} {
		m.names[filepath.Join(faultDir, name)] = from.copied().names[filepath.Join(faultDir, name)]
	}
}

// An index of another ledger, and one that is newer than the log after the log was put back, are none.
func TestIndexOfAnother(t *testing.T) {
	m := answered40(t)
	want, _ := toldBy(t, m.copied(indexName, checkpointName))

	other := newMemFS(t)
	must(t, create(other, faultDir, strings.Repeat("f", 32), testTime))
	l, err := open(other, faultDir, clock)
	must(t, err)
	must(t, l.Adopt(terms("100", "1"), 1, l.Head()))
	must(t, l.Sealed("visits", 1, digest))
	for i := range 60 {
		must(t, l.Release(mustReserve(t, l, key(i), "0.002"), values(i+100)))
	}
	mixed := m.copied()
	takeIndex(mixed, other)
	if have, _ := toldBy(t, mixed); have != want {
		t.Error("the index of another ledger is believed")
	}

	newer := m.copied()
	l, err = open(newer, faultDir, clock)
	must(t, err)
	for i := range 40 {
		must(t, l.Release(mustReserve(t, l, key(i), "0.002"), values(i+100)))
	}
	back := m.copied()
	takeIndex(back, newer)
	if have, _ := toldBy(t, back); have != want {
		t.Error("an index that is newer than the log is believed")
	}
	l, err = open(back, faultDir, clock)
	must(t, err)
	for i := range 40 { // it goes on otherwise than it did
		must(t, l.Release(mustReserve(t, l, key(i+500), "0.003"), values(i)))
	}
	want, _ = toldBy(t, back.copied(indexName, checkpointName))
	if have, l := toldBy(t, back); have != want || l.log.begun == (Checkpoint{}) {
		t.Error("the log that went on is not what it says")
	}
}

// TestForgedCheckpoint: a checkpoint that says something else of the state or the index, in a whole chain, is
// corruption for whoever reads all, and is not written.
func TestForgedCheckpoint(t *testing.T) {
	often(t, 4)
	bodies := []Body{
		Genesis{testID},
		Adoption{terms("1", "0.5"), 1},
		Seal{"visits", 1, digest},
		reservation(key(1), "0.1"),
		Release{3, values(1)},
	}
	m := newMemFS(t)
	must(t, create(m, faultDir, testID, testTime))
	l, err := open(m, faultDir, clock)
	must(t, err)
	must(t, l.Adopt(terms("1", "0.5"), 1, l.Head()))
	must(t, l.Sealed("visits", 1, digest))
	mustReserve(t, l, key(1), "0.1")
	right := l.log.begunOrNewest()
	must(t, openBoth(t, chained(t, slices.Concat(bodies[:4], []Body{right, bodies[4]})...)))
	must(t, openBoth(t, chained(t, slices.Concat(bodies, []Body{right})...)))
	for name, c := range map[string]Checkpoint{
		"state":          {right.Entries, Hash{1}, right.Index},
		"index":          {right.Entries, right.State, Hash{1}},
		"no place":       {right.Entries - 1, right.State, right.Index},
		"of what is not": {right.Entries + 4, right.State, right.Index},
	} {
		var corrupt *CorruptError
		if err := openBoth(t, chained(t, slices.Concat(bodies, []Body{c})...)); !errors.As(err, &corrupt) ||
			corrupt.Line != 6 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := l.append(&member{body: c}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s is written: %v", name, err)
		}
	}
	if err := openBoth(t, chained(t, slices.Concat(bodies, []Body{right, right})...)); err == nil {
		t.Error("one checkpoint twice")
	}
}

func (h *history) begunOrNewest() Checkpoint {
	if h.newestCheckpoint != nil {
		return h.newestCheckpoint.body
	}
	return h.begun
}

// TestOldDamage: an old entry is changed, behind the newest checkpoint. Opening does not read it; whoever uses it
// notices; verifying names its line, and in the background stops all answers.
func TestOldDamage(t *testing.T) {
	m := answered40(t)
	log := m.data(logName)
	at := bytes.Index(log, []byte(`{"n":[3]}`)) // a release
	line := uint64(bytes.Count(log[:at], []byte("\n")) + 1)
	log[at+6] = '4'

	l, err := open(m, faultDir, clock)
	must(t, err)
	if l.log.begun == (Checkpoint{}) {
		t.Fatal("no checkpoint")
	}
	a, ok, err := l.Find(key(1))
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	var corrupt *CorruptError
	if _, err := a.Values(); !errors.As(err, &corrupt) || corrupt.Line != line {
		t.Errorf("using it: %v, want line %d", err, line)
	}
	if _, ok, err := l.Find(key(5)); !ok || err != nil {
		t.Errorf("using another: %v", err)
	}
	if _, err := verify(m, faultDir, nil); !errors.As(err, &corrupt) || corrupt.Line != line {
		t.Errorf("verifying: %v, want line %d", err, line)
	}
	failed := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.concurrent = true
	l.VerifyInBackground(ctx, time.Hour, func(err error) { failed <- err })
	if err := <-failed; !errors.As(err, &corrupt) || corrupt.Line != line {
		t.Errorf("in the background: %v", err)
	}
	for what, err := range map[string]error{
		"state":   second(l.State()),
		"reserve": second(l.Reserve(reservation(key(99), "0.1"))),
		"release": l.Release(3, values(1)),
		"values":  second(a.Values()),
	} {
		if !errors.As(err, &corrupt) {
			t.Errorf("%s after it: %v", what, err)
		}
	}
	must(t, l.Close())
}

func second[T any](_ T, err error) error { return err }

// VerifyInBackground of a ledger that is whole changes nothing, and ends with its context.
func TestVerifyInBackground(t *testing.T) {
	often(t, 4)
	dir, l := begin(t, "1", "0.5")
	ctx, cancel := context.WithCancel(t.Context())
	l.VerifyInBackground(ctx, time.Microsecond, func(err error) { t.Error(err) })
	for i := range 30 {
		must(t, l.Release(mustReserve(t, l, key(i), "0.01"), values(i)))
	}
	must(t, l.verifyOnce(ctx))
	cancel()
	if err := l.verifyOnce(ctx); err == nil {
		t.Error("it does not end")
	}
	mustState(t, l)
	must(t, openBoth(t, dir))
}

// TestEveryStepFailsWithCheckpoints is TestEveryStepFails where nearly every append writes a checkpoint and the index:
// a sample of its faults, since there are many more.
func TestEveryStepFailsWithCheckpoints(t *testing.T) {
	often(t, 3)
	everyStepFails(t, 17)
}

func TestModelWithCheckpoints(t *testing.T) {
	often(t, 5)
	TestModel(t)
}

// TestOpeningReadsTheTail: opening reads the log from the newest checkpoint's place on, however long it is, and decodes
// no entry before it.
func TestOpeningReadsTheTail(t *testing.T) {
	often(t, 64)
	m := newMemFS(t)
	must(t, create(m, faultDir, testID, testTime))
	l, err := open(m, faultDir, clock)
	must(t, err)
	must(t, l.Adopt(terms("100", "1"), 1, l.Head()))
	must(t, l.Sealed("visits", 1, digest))
	read := func() (int, *Ledger) {
		m.read = map[string]int{}
		l, err := open(m, faultDir, clock)
		must(t, err)
		mustState(t, l)
		return m.read[logName], l
	}
	for i := range 1000 {
		must(t, l.Release(mustReserve(t, l, key(i), "0.001"), values(i)))
	}
	all := len(m.data(logName))
	bytes, again := read()
	if most := 64 * 2 * all / 2000; bytes > 2*most || entriesInMemory(again) > 2*64 {
		t.Errorf("%d of %d bytes are read, and %d entries are in memory", bytes, all, entriesInMemory(again))
	}
	if _, ok, err := again.Find(key(3)); !ok || err != nil {
		t.Error(ok, err)
	}
	delete(m.names, filepath.Join(faultDir, indexName))
	if bytes, _ := read(); bytes < all {
		t.Errorf("without its index %d bytes are read", bytes)
	}
	if bytes, _ := read(); bytes > 4*64*all/2000 {
		t.Errorf("the index is not rebuilt: %d bytes are read", bytes)
	}
}

// FuzzCheckpointFile: whatever stands in the checkpoint file and the index, the ledger says the same.
func FuzzCheckpointFile(f *testing.F) {
	f.Add([]byte("{}"), []byte(""), uint16(0))
	f.Add([]byte(`{"offset":0,"length":100,"segments":null}`), []byte("{}"), uint16(9))
	f.Fuzz(func(t *testing.T, first, state []byte, at uint16) {
		m := answered40(t)
		want, err := json.Marshal(mustState(t, mustOpenIn(t, m.copied(indexName, checkpointName))))
		must(t, err)
		file := m.data(checkpointName)
		node := m.names[filepath.Join(faultDir, checkpointName)]
		switch at % 3 {
		case 0:
			node.data = slices.Concat(first, []byte("\n"), state)
		case 1:
			line, rest, _ := bytes.Cut(file, []byte("\n"))
			node.data = slices.Concat(line, []byte("\n"), rest[:int(at)%len(rest)], state)
		case 2:
			index := m.data(indexName)
			copy(index[int(at)%len(index):], state)
		}
		have, err := json.Marshal(mustState(t, mustOpenIn(t, m)))
		must(t, err)
		if !bytes.Equal(have, want) {
			t.Fatalf("it says %s, want %s", have, want)
		}
	})
}

func mustOpenIn(tb testing.TB, m *memFS) *Ledger {
	tb.Helper()
	l, err := open(m, faultDir, clock)
	must(tb, err)
	return l
}

// A handle whose index turns out to be damaged, and whose log cannot be read again then, returns errors, and ends
// neither the process nor, by itself, the background's verification.
func TestUnreadAfterIndexDamage(t *testing.T) {
	m := answered40(t)
	l, err := open(m, faultDir, clock)
	must(t, err)
	all, err := l.Answers(func(*About) bool { return true })
	must(t, err)
	clear(m.data(indexName))
	line := m.data(logName)[200:210]
	kept := slices.Clone(line)
	line[0] ^= 1 // of an early entry
	var corrupt *CorruptError
	if _, _, err := l.Find(key(0)); !errors.As(err, &corrupt) {
		t.Fatal(err)
	}
	n := 0
	for a := range all {
		if _, err := a.Values(); !errors.As(err, &corrupt) {
			t.Fatalf("the answer to %d: %v", a.Reserved, err)
		}
		n++
	}
	if err := l.Entries(func(Entry) error { return nil }); !errors.As(err, &corrupt) || n == 0 {
		t.Error(n, err)
	}
	copy(line, kept)
	m.failAt = m.ops + 1 // the lock
	l.unindex()
	if _, err := l.State(); !errors.Is(err, errInjected) {
		t.Fatal(err)
	}
	if err := l.verifyOnce(t.Context()); err != nil {
		t.Errorf("a ledger that is not read yet is wrong: %v", err)
	}
	for a := range all {
		_, err := a.Values()
		must(t, err)
	}
	must(t, l.verifyOnce(t.Context()))
}

// A checkpoint file of any size costs time only.
func TestHugeCheckpointFile(t *testing.T) {
	dir, l := begin(t, "1", "1")
	must(t, l.Close())
	writeFile(t, dir, checkpointName, nil)
	for _, size := range []int64{maxFile + 1, 1 << 42} { // which takes no space
		must(t, os.Truncate(filepath.Join(dir, checkpointName), size))
		must(t, openBoth(t, dir))
	}
}

// Whoever holds the lock on the index and never gives it back, as a process that is stopped, keeps nobody from reading
// the log.
func TestIndexLockIsHeld(t *testing.T) {
	before := indexPatience
	indexPatience = 0
	t.Cleanup(func() { indexPatience = before })
	m := answered40(t)
	want, _ := toldBy(t, m.copied(indexName, checkpointName))
	clear(m.data(indexName))
	stopped, err := m.Open(filepath.Join(faultDir, indexLockName), os.O_RDWR, 0)
	must(t, err)
	must(t, stopped.Lock(true))
	have, l := toldBy(t, m)
	if have != want {
		t.Errorf("it says\n%s\nwant\n%s", have, want)
	}
	must(t, l.Release(mustReserve(t, l, key(1000), "0.001"), values(1)))
}
