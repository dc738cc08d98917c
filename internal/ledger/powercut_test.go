package ledger

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
)

// clone is a copy of a file system, with its locks free.
func (m *memFS) clone() *memFS {
	out := newMemFS(m.t)
	inodes := map[*inode]*inode{}
	copied := func(of map[string]*inode) map[string]*inode {
		names := map[string]*inode{}
		for name, node := range of {
			if inodes[node] == nil {
				inodes[node] = &inode{
					data: slices.Clone(node.data), synced: slices.Clone(node.synced),
					space: node.space,
				}
			}
			names[name] = inodes[node]
		}
		return names
	}
	out.names, out.durable, out.capacity = copied(m.names), copied(m.durable), m.capacity
	return out
}

// together writes entries in one batch, as waiting callers' are.
func together(l *Ledger, bodies ...Body) (indexes []uint64, err error) {
	var batch []*member
	for _, b := range bodies {
		batch = append(batch, &member{body: b})
	}
	err = l.locked(func() error { l.write(batch); return nil })
	for _, m := range batch {
		indexes, err = append(indexes, m.index), errors.Join(err, m.err)
	}
	return indexes, err
}

// prepared is a ledger in memory with terms of a budget of 3, all of which a question may cost, and one question that
// is being answered.
func prepared(t *testing.T) *memFS {
	t.Helper()
	m := newMemFS(t)
	must(t, create(m, faultDir, testID, testTime))
	l, err := open(m, faultDir, clock)
	must(t, err)
	must(t, l.Adopt(terms("3", "3"), 1, l.Head()))
	must(t, l.Sealed("visits", 1, digest))
	mustReserve(t, l, key(1), "0.01")
	must(t, l.Close())
	m.names[faultDir+"/"+logName].space = 0 // as in a copy
	return m
}

// TestPowerCutAtEveryByte ends the machine at each byte that is written for a reservation, a release and a batch of
// both, with each loss of what was not
// synced (two of six at each byte; all with DITHER_LONG=1). What was acknowledged stays; of the rest whole entries
// count, and fragments cost nothing, though a question may cost the whole budget here.
func TestPowerCutAtEveryByte(t *testing.T) {
	base := prepared(t)
	for name, bodies := range map[string][]Body{
		"reservation": {reservation(key(2), "0.01")},
		"release":     {Release{3, values(1)}},
		"batch":       {reservation(key(2), "0.01"), Release{3, values(1)}, reservation(key(3), "0.01")},
	} {
		t.Run(name, func(t *testing.T) {
			whole := base.clone()
			l, err := open(whole, faultDir, clock)
			must(t, err)
			opened := whole.ops
			_, err = together(l, bodies...)
			must(t, err)
			runs, torn := 0, 0
			for k, size := range whole.writes {
				if k <= opened {
					continue
				}
				for n := 0; n <= size; n++ {
					for kind := range losses {
						if os.Getenv("DITHER_LONG") != "1" && (n+int(kind))%3 > 0 {
							continue
						}
						m := base.clone()
						m.failAt, m.fault, m.dies = k, fault{short: n}, true
						l, err := open(m, faultDir, clock)
						must(t, err)
						if _, err := together(l, bodies...); !errors.Is(err, errInjected) {
							t.Fatal(err)
						}
						m.crash(kind)
						m.failAt = 0
						torn += afterPowerCut(t, m, fmt.Sprintf("operation %d, byte %d, loss %d", k, n, kind))
						runs++
					}
				}
			}
			if torn == 0 {
				t.Error("no cut left a fragment")
			}
			t.Logf("%d runs, %d fragments", runs, torn)
		})
	}
}

// afterPowerCut checks what prepared and a batch of at most 0.02 left, and that the ledger goes on. It reports whether
// there was a fragment.
func afterPowerCut(t *testing.T, m *memFS, when string) (fragments int) {
	t.Helper()
	r, err := verify(m, faultDir, nil)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if r.Fragment > 0 {
		fragments++
	}
	s := r.State
	if !pure("0.01").Within(s.Spent) || !s.Spent.Within(pure("0.03")) || s.Torn > 0 || r.Charged {
		t.Fatalf("%s: spent %s, %d torn", when, s.Spent, s.Torn)
	}
	l, err := open(m, faultDir, clock)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if _, err := l.Reserve(reservation(key(9), "0.01")); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if r, err = verify(m, faultDir, nil); err != nil || r.Fragment > 0 ||
		!equal(r.State.Spent, s.Spent.Plus(pure("0.01"))) {
		t.Fatalf("%s, and one more: %v, %+v", when, err, r)
	}
	return fragments
}

// TestBatchFails fails each operation of a batch: none of it is there, or all of it is, or nobody is told and the
// handle is gone.
func TestBatchFails(t *testing.T) {
	base := prepared(t)
	bodies := []Body{
		reservation(key(2), "1"), reservation(key(3), "5"),
		Release{3, values(1)},
		Release{3, values(2)},
		reservation(key(4), "2"), reservation(key(5), "0.5"),
	}
	play := func(m *memFS) (spent string, failed bool, errs []error) {
		l, err := open(m, faultDir, clock)
		if err != nil {
			return "", true, []error{err}
		}
		var batch []*member
		for _, b := range bodies {
			batch = append(batch, &member{body: b})
		}
		err = l.locked(func() error { l.write(batch); return nil })
		for _, m := range batch {
			errs = append(errs, m.err)
		}
		if err != nil || l.failed != nil {
			return "", true, append(errs, err)
		}
		m.failAt = 0
		return mustState(t, l).Spent.String(), false, errs
	}
	whole := base.clone()
	spent, failed, errs := play(whole)
	if failed || spent != "ε = 1.51" {
		t.Fatal(spent, failed, errs)
	}
	for i, want := range []bool{true, false, true, false, false, true} { // 2 is more than what 1 leaves
		if (errs[i] == nil) != want {
			t.Errorf("member %d: %v", i, errs[i])
		}
	}
	refused := 0
	for k := 1; k <= whole.ops; k++ {
		for _, f := range []fault{{false, -1}, {true, -1}, {false, 700}} {
			for next := range 4 {
				m := base.clone()
				m.failAt, m.fault, m.failNext = k, f, next
				spent, failed, errs := play(m)
				if !failed && spent != "ε = 1.51" && spent != "ε = 0.01" {
					t.Fatalf("at %s: %s %v", m.failed, spent, errs)
				}
				if !failed && spent == "ε = 0.01" {
					refused++
					for i, err := range errs { // those too that were refused beside what is not there
						if !errors.Is(err, ErrNotWritten) {
							t.Fatalf("at %s: member %d: %v", m.failed, i, err)
						}
					}
				}
				m.failAt, m.failNext = 0, 0
				m.crash(loss(k % int(losses)))
				r, err := verify(m, faultDir, nil)
				if err != nil || r.State.Torn > 0 {
					t.Fatalf("at %s: %v", m.failed, err)
				}
				if have := r.State.Spent.String(); !failed && have != spent {
					t.Fatalf("at %s: %s became %s", m.failed, spent, have)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was ever refused")
	}
}
