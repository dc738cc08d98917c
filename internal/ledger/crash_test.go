package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
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

// TestFragments: a fragment was never acknowledged where the head file is sure of its entry, and is free; else it costs
// the maximum price.
func TestFragments(t *testing.T) {
	torn := func(name, tail string, entries uint64, head func(testing.TB, string), spent string) {
		t.Run(name, func(t *testing.T) {
			dir, l := begin(t, "1", "0.3")
			mustReserve(t, l, key(1), "0.1")
			must(t, l.Close())
			if head != nil {
				head(t, dir)
			}
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
	for name, tail := range map[string]string{
		"half a line": `{"v":1,"n":4,"pr`, "one byte": `{`, "a line of zeros": string(make([]byte, 5000)),
		"ended":        `{"v":1,"n"` + "\n",
		"two attempts": `{"v":1,"n"` + "\n" + `{"v":1,"n":4,"prev`,
	} {
		torn(name, tail, 6, nil, "0.1")
		torn(name+", text head", tail, 6, textHead, "0.4")
		torn(name+", one slot", tail, 6, oneSlot, "0.4")
	}
	torn("nothing", "", 5, nil, "0.1")
}

// TestFragmentStaysCharged: a fragment that counted as spent still does after the head file has moved on to a whole
// entry before it, where a fragment that
// nobody had read yet would be free.
func TestFragmentStaysCharged(t *testing.T) {
	for name, of := range map[string]func(testing.TB, string){"text": textHead, "slots": oneSlot} {
		dir, l := begin(t, "1", "0.3")
		old := readLog(t, dir)
		heads, err := os.ReadFile(filepath.Join(dir, headName))
		must(t, err)
		mustReserve(t, l, key(1), "0.1")
		must(t, l.Close())
		whole := readLog(t, dir)
		writeFile(t, dir, logName, old)
		writeFile(t, dir, headName, heads)
		of(t, dir)
		writeFile(t, dir, logName, append(whole, `{"v":1,"n`...))
		for range 3 { // the first one makes the head name the reservation
			l = mustOpen(t, dir)
			s := mustState(t, l)
			if wantEpsilon(t, name+" spent", s.Spent, "0.4"); s.Torn != 1 {
				t.Errorf("%s: %d torn", name, s.Torn)
			}
			must(t, l.Close())
		}
		l = mustOpen(t, dir)
		mustReserve(t, l, key(2), "0.05")
		writeFile(t, dir, logName, append(readLog(t, dir), `{"v`...)) // another one, which is free
		wantEpsilon(t, name+" spent after the repair", mustState(t, l).Spent, "0.45")
		if r, err := Verify(dir, nil); err != nil || r.State.Torn != 1 || r.Fragment != 3 || r.Charged {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
}

// TestTornBatch: blocks of a write of several entries reach the disk in any order, so a fragment may hold whole lines.
// They are of that write where the head
// file is sure, and corruption otherwise.
func TestTornBatch(t *testing.T) {
	for _, c := range []struct {
		name    string
		lose    func(lines [][]byte) [][]byte // of three reservations behind the head's entry
		head    func(testing.TB, string)
		spent   string // "" is corruption
		corrupt uint64 // line
	}{
		{"none", func(l [][]byte) [][]byte { return l }, nil, "0.3", 0},
		{"the first", func(l [][]byte) [][]byte { clear(l[0][8:]); return l }, nil, "0", 0},
		{"the second", func(l [][]byte) [][]byte { clear(l[1][9:100]); return l }, nil, "0.1", 0},
		{"the second's newline", func(l [][]byte) [][]byte { clear(l[1][len(l[1])-9:]); return l }, nil, "0.1", 0},
		{"the last", func(l [][]byte) [][]byte { clear(l[2]); return l }, nil, "0.2", 0},
		{"text head", func(l [][]byte) [][]byte { clear(l[1][9:100]); return l }, textHead, "", 5},
		{"one slot", func(l [][]byte) [][]byte { clear(l[1][9:100]); return l }, oneSlot, "", 5},
		{"too many", func(l [][]byte) [][]byte {
			clear(l[0][9:100])
			for range maxWhole {
				l = append(l, l[2])
			}
			return l
		}, nil, "", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, l := begin(t, "1", "0.3")
			before := readLog(t, dir)
			heads, err := os.ReadFile(filepath.Join(dir, headName))
			must(t, err)
			for i := range 3 {
				mustReserve(t, l, key(i), "0.1")
			}
			must(t, l.Close())
			lines := bytes.SplitAfter(bytes.TrimSuffix(readLog(t, dir)[len(before):], []byte("\n")), []byte("\n"))
			lines[2] = append(lines[2], '\n')
			writeFile(t, dir, headName, heads)
			if c.head != nil {
				c.head(t, dir)
			}
			writeFile(t, dir, logName, append(before, bytes.Join(c.lose(lines), nil)...))
			if c.spent == "" {
				var corrupt *CorruptError
				if err := openBoth(t, dir); !errors.As(err, &corrupt) || corrupt.Line != c.corrupt {
					t.Errorf("%v, want line %d", err, c.corrupt)
				}
				return
			}
			l = mustOpen(t, dir)
			wantEpsilon(t, "spent", mustState(t, l).Spent, c.spent)
			mustReserve(t, l, key(5), "0.05")
			again := mustState(t, mustOpen(t, dir))
			wantEpsilon(t, "spent after the repair", again.Spent.Minus(pure("0.05")), c.spent)
			if again.Torn != 0 || again.Lost.Torn != 0 {
				t.Errorf("%d torn", again.Torn)
			}
		})
	}
}

// TestFragmentTakesWhatRemains: a fragment is never charged beyond the budget.
func TestFragmentTakesWhatRemains(t *testing.T) {
	dir, l := begin(t, "1", "0.7")
	mustReserve(t, l, key(1), "0.7")
	must(t, l.Close())
	for range 2 {
		textHead(t, dir)
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
