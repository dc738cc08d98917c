package ledger

import (
	"bytes"
	"testing"
)

// TestHeadBehind: a crash between the log and the head leaves an older head, which is put right.
func TestHeadBehind(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	old := l.Head()
	mustReserve(t, l, key(1), "0.1")
	must(t, l.Close())
	writeFile(t, dir, headName, []byte(old.String()+"\n"))
	r, err := Verify(dir, nil)
	if err != nil || r.Behind != 1 {
		t.Errorf("%+v %v", r, err)
	}
	wantEpsilon(t, "spent", mustState(t, mustOpen(t, dir)).Spent, "0.1")
	if r, err := Verify(dir, nil); err != nil || r.Behind != 0 {
		t.Errorf("after opening: %+v %v", r, err)
	}
}

func TestFragments(t *testing.T) {
	torn := func(name, tail, spent string, entries uint64) {
		t.Run(name, func(t *testing.T) {
			dir, l := begin(t, "1", "0.3")
			mustReserve(t, l, key(1), "0.1")
			must(t, l.Close())
			writeFile(t, dir, logName, append(readLog(t, dir), tail...))
			before := readLog(t, dir)
			l = mustOpen(t, dir)
			wantEpsilon(t, "spent when reading", mustState(t, l).Spent, spent)
			if !bytes.Equal(before, readLog(t, dir)) {
				t.Error("reading wrote")
			}
			mustReserve(t, l, key(2), "0.05")
			s := mustState(t, l)
			wantEpsilon(t, "spent", s.Spent.Minus(pure("0.05")), spent)
			r, err := Verify(dir, nil)
			if err != nil || r.Entries != entries || r.Fragment != 0 {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
	torn("half a line", `{"v":1,"n":4,"pr`, "0.4", 6)
	torn("one byte", `{`, "0.4", 6)
	torn("a line of zeros", string(make([]byte, 5000)), "0.4", 6)
	torn("ended", `{"v":1,"n"`+"\n", "0.4", 6)
	torn("two attempts", `{"v":1,"n"`+"\n"+`{"v":1,"n":4,"prev`, "0.4", 6)
	torn("nothing", "", "0.1", 5)
}

// TestFragmentTakesWhatRemains: a fragment is never charged beyond the budget.
func TestFragmentTakesWhatRemains(t *testing.T) {
	dir, l := begin(t, "1", "0.7")
	mustReserve(t, l, key(1), "0.7")
	must(t, l.Close())
	for range 2 {
		writeFile(t, dir, logName, append(readLog(t, dir), `{"v":1`...))
		l = mustOpen(t, dir)
		wantEpsilon(t, "spent", mustState(t, l).Spent, "1")
		must(t, l.Sealed("people", int(l.Head().Index), digest)) // a version that increases
		wantEpsilon(t, "spent after the repair", mustState(t, l).Spent, "1")
		must(t, l.Close())
	}
	if r, err := Verify(dir, nil); err != nil || r.State.Torn != 2 {
		t.Errorf("%+v %v", r, err)
	}
}

// TestUnendedLine: a line that lacks only its newline is an entry.
func TestUnendedLine(t *testing.T) {
	dir, l := begin(t, "1", "0.5")
	old := l.Head()
	mustReserve(t, l, key(1), "0.1")
	must(t, l.Close())
	writeFile(t, dir, logName, bytes.TrimSuffix(readLog(t, dir), []byte("\n")))
	writeFile(t, dir, headName, []byte(old.String()))
	l = mustOpen(t, dir)
	s := mustState(t, l)
	wantEpsilon(t, "spent", s.Spent, "0.1")
	must(t, l.Release(3, values(1)))
	if r, err := Verify(dir, nil); err != nil || r.Entries != 5 || r.State.Torn != 0 {
		t.Errorf("%+v %v", r, err)
	}
}
