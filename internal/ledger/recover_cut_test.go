package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"dither/privacy"
)

// everyCut ends the machine at each operation of act that changes something, done or not, and within what it writes,
// with each loss of what was not synced, and calls after. With DITHER_LONG=1 it is at each byte with each loss, else at
// each 48th with two losses of six.
func everyCut(t *testing.T, base *memFS, act func(*memFS) error, after func(m *memFS, when string)) {
	t.Helper()
	whole := base.clone()
	must(t, act(whole))
	ops, stride, runs := whole.ops, 48, 0
	if os.Getenv("DITHER_LONG") == "1" {
		stride = 1
	}
	after(whole.clone(), "no cut")
	for k := 1; k <= ops; k++ {
		if !whole.changes[k] {
			continue
		}
		faults := []fault{{false, -1}, {true, -1}}
		for n := 1; n < whole.writes[k]; n += stride {
			faults = append(faults, fault{short: n})
		}
		for i, f := range faults {
			for kind := range losses {
				if os.Getenv("DITHER_LONG") != "1" && (k+i+int(kind))%3 > 0 {
					continue
				}
				m := base.clone()
				m.failAt, m.fault, m.dies = k, f, true
				if err := act(m); !errors.Is(err, errInjected) {
					t.Fatal(err)
				}
				m.crash(kind)
				m.failAt = 0
				after(m, fmt.Sprintf("%s, %+v, loss %d", m.failed, f, kind))
				runs++
			}
		}
	}
	if runs < 100 {
		t.Errorf("only %d runs", runs)
	}
}

// recoverAgain goes on until nothing is lost, as the owner does, with the same figures.
func recoverAgain(t *testing.T, m *memFS, against *Head, spent *privacy.Loss, when string) (times int) {
	t.Helper()
	for ; times < 3; times++ {
		lost, err := missing(m, faultDir)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if lost == "" {
			return times
		}
		if err := create(m, faultDir, testID, testTime); !errors.Is(err, ErrExists) {
			t.Fatalf("%s: a ledger could be begun with nothing charged: %v", when, err)
		}
		if l, err := open(m, faultDir, clock); err == nil {
			t.Fatalf("%s: it opens, and spent is %s", when, mustState(t, l).Spent)
		}
		if lost == LostHead {
			_, err = recoverHead(m, faultDir, against, spent, clock)
		} else {
			_, err = recoverLog(m, faultDir, testID, terms("3", "3"), spent, clock)
		}
		if err != nil {
			t.Fatalf("%s: recovering again: %v", when, err)
		}
	}
	t.Fatalf("%s: it stays lost", when)
	return times
}

// cutBase is a ledger that has spent 0.01 and given one answer, without one of its files. Any question may cost 0.5.
func cutBase(t *testing.T, lost string) (*memFS, Head) {
	t.Helper()
	m := newMemFS(t)
	must(t, create(m, faultDir, testID, testTime))
	l, err := open(m, faultDir, clock)
	must(t, err)
	must(t, l.Adopt(terms("3", "0.5"), 1, l.Head()))
	must(t, l.Sealed("visits", 1, digest))
	must(t, l.Release(mustReserve(t, l, key(1), "0.01"), values(1)))
	kept := l.Head()
	must(t, l.Close())
	must(t, m.Remove(filepath.Join(faultDir, lost)))
	must(t, m.SyncDir(faultDir))
	return m, kept
}

// TestRecoverHeadPowerCut cuts the recovery of a lost head at every byte. Nobody opens the ledger meanwhile. Recovering
// again with the same figures ends it: then at least as much is spent as without the cut, and at most one more
// fragment, that of the recovery's own entry.
func TestRecoverHeadPowerCut(t *testing.T) {
	some := func(text string) *privacy.Loss { l := pure(text); return &l }
	for _, c := range []struct {
		name           string
		kept, fragment bool
		sum            *privacy.Loss
		least, most    string // a fragment costs 0.5
	}{
		{"nothing kept", false, false, nil, "3", "3"},
		{"a head", true, false, nil, "0.01", "0.51"},
		{"a sum", false, false, some("1.5"), "1.5", "1.5"},
		{"a head, and a fragment", true, true, nil, "0.51", "1.01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, kept := cutBase(t, headName)
			log := base.names[faultDir+"/"+logName]
			if c.fragment {
				log.data = append(log.data, `{"v":1,"n":5`...)
				log.synced = append(log.synced, `{"v":1,"n":5`...)
			}
			against := &kept
			if !c.kept {
				against = nil
			}
			cut, charged := 0, 0
			everyCut(t, base, func(m *memFS) error {
				_, err := recoverHead(m, faultDir, against, c.sum, clock)
				return err
			}, func(m *memFS, when string) {
				cut += recoverAgain(t, m, against, c.sum, when)
				l, err := open(m, faultDir, clock)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				s := mustState(t, l)
				if !pure(c.least).Within(s.Spent) || !s.Spent.Within(pure(c.most)) {
					t.Fatalf("%s: spent is %s, want %s to %s", when, s.Spent, c.least, c.most)
				}
				if !s.Spent.Within(pure(c.least)) {
					charged++
				}
				if _, ok, err := l.Find(key(1)); !ok || err != nil {
					t.Fatalf("%s: the answer is gone: %v", when, err)
				}
				if r, err := verify(m, faultDir, against); err != nil || r.Fragment > 0 || r.Behind > 0 {
					t.Fatalf("%s: %+v, %v", when, r, err)
				}
			})
			if cut == 0 || (charged == 0) != (c.least == c.most) {
				t.Errorf("%d were cut, and %d charged more", cut, charged)
			}
		})
	}
}

// TestRecoverLogPowerCut cuts the recovery of a lost log at every byte, and between the names of the log and of its
// head. Nobody opens the ledger meanwhile, and nobody begins another one there. Recovering again ends it.
func TestRecoverLogPowerCut(t *testing.T) {
	sum := pure("1.5")
	for name, spent := range map[string]*privacy.Loss{"nothing kept": nil, "a sum": &sum} {
		for _, headless := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, without the head: %t", name, headless), func(t *testing.T) {
				base, _ := cutBase(t, logName)
				if headless { // a folder that is left is as good as its files
					base.names[faultDir+"/"+headName].data, base.names[faultDir+"/"+headName].synced = nil, nil
				}
				want, lost := pure("3"), map[string]int{}
				if spent != nil {
					want = *spent
				}
				everyCut(t, base, func(m *memFS) error {
					_, err := recoverLog(m, faultDir, testID, terms("3", "0.5"), spent, clock)
					return err
				}, func(m *memFS, when string) {
					first, err := missing(m, faultDir)
					must(t, err)
					lost[first]++
					recoverAgain(t, m, nil, spent, when)
					if r, err := verify(m, faultDir, nil); err != nil || !equal(r.State.Spent, want) || r.Fragment > 0 {
						t.Fatalf("%s: spent is %s, want %s: %v", when, r.State.Spent, want, err)
					}
				})
				if lost[""] == 0 || lost[LostHead] == 0 || lost[LostLog] == 0 {
					t.Errorf("what the cuts left lost: %v", lost)
				}
			})
		}
	}
}
