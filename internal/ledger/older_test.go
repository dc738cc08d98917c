package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// older writes a ledger as a program of an older version left it.
func older(t *testing.T, name string) (dir string, log []byte) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	lines := bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n"))
	newest, err := decodeLine(lines[len(lines)-1])
	must(t, err)
	dir = t.TempDir()
	writeFile(t, dir, logName, log)
	writeFile(t, dir, headName, []byte(Head{newest.Index, newest.Hash}.String()+"\n"))
	return dir, log
}

// TestOlderLedgers: ledgers of each older version are read without being touched. The first entry that is written puts
// slots in place of the head's line,
// which older programs refuse to read, and changes nothing of what was there.
func TestOlderLedgers(t *testing.T) {
	for _, name := range []string{"v1.log", "v2.log", "v3.log"} {
		dir, log := older(t, name)
		head, err := os.ReadFile(filepath.Join(dir, headName))
		must(t, err)
		l := mustOpen(t, dir)
		before := mustState(t, l)
		if before.Answers == 0 {
			t.Errorf("%s: no answers", name)
		}
		for e := range before.Answers {
			if len(l.log.answers) <= e {
				t.Fatal(name)
			}
			a := l.answer(l.log.answers[e])
			if v, err := a.Values(); err != nil || len(v) == 0 {
				t.Errorf("%s: %s %v", name, v, err)
			}
		}
		if again, err := os.ReadFile(filepath.Join(dir, headName)); err != nil || !bytes.Equal(again, head) ||
			!bytes.Equal(readLog(t, dir), log) {
			t.Errorf("%s: reading wrote", name)
		}
		must(t, l.Sealed("visits", 7, digest))
		if !bytes.HasPrefix(readLog(t, dir), log) {
			t.Errorf("%s: the log is another", name)
		}
		h, err := readHeads(system{}, dir)
		must(t, err)
		if info, err := os.Stat(filepath.Join(dir, headName)); err != nil || info.Size() <= maxTextHead || h.old ||
			!h.sure() || h.head() != l.Head() {
			t.Errorf("%s: %+v %v", name, h, err)
		}
		if after := mustState(t, mustOpen(t, dir)); !equal(after.Spent, before.Spent) ||
			after.Answers != before.Answers {
			t.Errorf("%s: %+v", name, after)
		}
		must(t, l.Close())
	}
}

// TestConversionFails fails each operation of the first entry after an older program, with and without a fragment of
// its, and then loses what was not synced.
// Nothing that was spent is ever less, and a fragment of an older program costs what it did.
func TestConversionFails(t *testing.T) {
	for tail, spent := range map[string]string{"": "0.01", `{"v":1,"n"`: "1.01"} {
		base := lowered(t, tail)
		play := func(m *memFS) (acked string) {
			l, err := open(m, faultDir, clock)
			if err != nil {
				return spent
			}
			if _, err := l.Reserve(reservation(key(2), "0.5")); err == nil {
				return spent + "+"
			}
			return spent
		}
		whole := base.clone()
		if play(whole) != spent+"+" {
			t.Fatal("it does not work")
		}
		for k := 1; k <= whole.ops; k++ {
			for _, f := range []fault{{false, -1}, {true, -1}, {false, 100}} {
				for _, dies := range []bool{false, true} {
					for kind := loss(k % 2); kind < losses; kind += 2 {
						m := base.clone()
						m.failAt, m.fault, m.dies = k, f, dies
						acked := play(m)
						m.crash(kind)
						m.failAt = 0
						for range 2 {
							r, err := verify(m, faultDir, nil)
							if err != nil {
								t.Fatalf("at %s: %v", m.failed, err)
							}
							least := pure(spent)
							if acked != spent {
								least = least.Plus(pure("0.5"))
							}
							if !least.Within(r.State.Spent) || !r.State.Spent.Within(pure(spent).Plus(pure("0.5"))) {
								t.Fatalf("at %s: spent %s, want %s", m.failed, r.State.Spent, least)
							}
							l, err := open(m, faultDir, clock)
							must(t, err)
							must(t, l.Sealed("visits", int(r.State.Head.Index)+10, digest))
							must(t, l.Close())
						}
					}
				}
			}
		}
	}
}

// lowered is a ledger as an older program leaves it that was killed in the middle of a write, under terms with a
// maximum price of 1.
func lowered(t *testing.T, tail string) *memFS {
	t.Helper()
	m := newMemFS(t)
	must(t, create(m, faultDir, testID, testTime))
	l, err := open(m, faultDir, clock)
	must(t, err)
	must(t, l.Adopt(terms("3", "1"), 1, l.Head()))
	must(t, l.Sealed("visits", 1, digest))
	mustReserve(t, l, key(1), "0.01")
	must(t, l.Close())
	head, log := m.names[faultDir+"/"+headName], m.names[faultDir+"/"+logName]
	heads, err := parseHeads(head.data)
	must(t, err)
	head.data = []byte(heads.head().String() + "\n")
	log.data = append(log.data, tail...)
	head.synced, log.synced, log.space = head.data, log.data, 0
	return m
}
