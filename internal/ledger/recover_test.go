package ledger

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dither/privacy"
)

// A lost or unreadable head is written again, as a recorded act: with a head kept elsewhere nothing is charged, with a
// sum what the log lacks of it, and without either all that remains. What was answered is given as before; and a log
// that lacks the kept head, or is damaged, is refused.
func TestRecoverHead(t *testing.T) {
	some := func(text string) *privacy.Loss { l := pure(text); return &l }
	for name, c := range map[string]struct {
		against, fragment bool
		sum               *privacy.Loss
		spent             string
	}{
		"nothing kept":           {spent: "3"},
		"a head":                 {against: true, spent: "0.4"},
		"a sum":                  {sum: some("1.5"), spent: "1.5"},
		"both":                   {against: true, sum: some("1.5"), spent: "1.5"},
		"a sum that is below":    {sum: some("0.1"), spent: "0.4"},
		"a head, and a fragment": {against: true, fragment: true, spent: "0.9"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, l := begin(t, "3", "0.5")
			must(t, l.Release(mustReserve(t, l, key(1), "0.4"), values(1)))
			kept := l.Head()
			must(t, l.Close())
			if c.fragment {
				f, err := os.OpenFile(filepath.Join(dir, logName), os.O_WRONLY|os.O_APPEND, 0)
				must(t, err)
				_, err = f.WriteString(`{"v":1,"n":5`)
				must(t, errors.Join(err, f.Close()))
			}
			if _, err := RecoverHead(dir, nil, nil, clock); !errors.Is(err, ErrNotLost) {
				t.Errorf("nothing is lost: %v", err)
			}
			lose := func(text string) {
				t.Helper()
				must(t, os.Remove(filepath.Join(dir, headName)))
				if text != "" {
					must(t, os.WriteFile(filepath.Join(dir, headName), []byte(text), 0o600))
				}
				if lost, err := Missing(dir); err != nil || lost != LostHead {
					t.Error(lost, err)
				}
			}
			lose(map[bool]string{true: "garbage"}[c.against])
			var against *Head
			if c.against {
				against = &kept
			}
			other := Head{Index: kept.Index, Hash: Hash{1}}
			if _, err := RecoverHead(dir, &other, nil, clock); !errors.As(err, new(*RolledBackError)) {
				t.Errorf("another head: %v", err)
			}
			if _, err := RecoverHead(dir, &Head{Index: 99}, nil, clock); !errors.As(err, new(*RolledBackError)) {
				t.Errorf("a later head: %v", err)
			}
			for range 2 { // it may be lost again, or the first time be cut short before the head file
				s, err := RecoverHead(dir, against, c.sum, clock)
				if err != nil || !equal(s.Spent, pure(c.spent)) {
					t.Fatalf("%+v, %v", s.Spent, err)
				}
				l = mustOpen(t, dir)
				if s := mustState(t, l); !equal(s.Spent, pure(c.spent)) {
					t.Errorf("%+v", s.Spent)
				}
				if a, ok, err := l.Find(key(1)); err != nil || !ok || a.Reserved != 3 {
					t.Errorf("%+v, %t, %v", a, ok, err)
				}
				must(t, l.Close())
				lose("")
			}
		})
	}
	dir, l := begin(t, "3", "0.5")
	must(t, l.Release(mustReserve(t, l, key(1), "0.4"), values(1)))
	must(t, errors.Join(l.Close(), os.Remove(filepath.Join(dir, headName))))
	path := filepath.Join(dir, logName)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte(strings.Replace(string(text), `"epsilon":"0.4"`, `"epsilon":"0.3"`, 1)), 0o600))
	if _, err := RecoverHead(dir, nil, nil, clock); !errors.As(err, new(*CorruptError)) {
		t.Errorf("an edited log: %v", err)
	}
}

// A lost log is begun anew with the whole budget charged, or the sum that its owner kept; whatever fails in between,
// nobody finds a ledger that lacks the charge.
func TestRecoverLog(t *testing.T) {
	sum := pure("1.5")
	for _, spent := range []*privacy.Loss{nil, &sum} {
		done := false
		for failing := 0; failing < 40 && !done; failing++ {
			m := newMemFS(t)
			must(t, create(m, faultDir, testID, testTime))
			l, err := open(m, faultDir, clock)
			must(t, err)
			must(t, l.Adopt(terms("3", "0.5"), 1, l.Head()))
			must(t, l.Close())
			must(t, m.Remove(filepath.Join(faultDir, logName)))
			must(t, m.SyncDir(faultDir))
			if lost, err := missing(m, faultDir); err != nil || lost != LostLog {
				t.Fatal(lost, err)
			}
			calls := 0
			_, err = recoverLog(failAt{m, &calls, failing}, faultDir, testID, terms("3", "0.5"), spent, clock)
			want := pure("3")
			if spent != nil {
				want = *spent
			}
			l, opening := open(m, faultDir, clock)
			if opening == nil {
				if s := mustState(t, l); !equal(s.Spent, want) {
					t.Fatalf("failing at %d: %+v is spent", failing, s.Spent)
				}
				done = err == nil && failing > calls
				continue
			}
			if err == nil {
				t.Fatalf("failing at %d: %v", failing, opening)
			}
			if err := create(m, faultDir, testID, testTime); !errors.Is(err, ErrExists) {
				t.Fatalf("failing at %d, a ledger could be begun with nothing charged: %v", failing, err)
			}
		}
		if !done {
			t.Error("it never succeeded")
		}
	}
}

// What a recovery charges may have been spent in the period that runs, so nothing of its grant is given again. It may
// have been spent on versions with more rows of a person, so rows become no persons any more, unless a head tells that
// nothing is lost.
func TestRecoveryAndPeriods(t *testing.T) {
	granted := terms("3", "0.5")
	granted.Grant = &Grant{"month", pure("1")}
	persons := granted
	persons.Units = map[string]string{"visits": "pid"}
	sum := pure("1.5")
	for name, c := range map[string]struct {
		lost    string
		trusted bool
		sum     *privacy.Loss
		left    string
	}{
		"a head, nothing kept": {lost: LostHead, left: "0"},
		"a head, a sum":        {lost: LostHead, sum: &sum, left: "0"},
		"a head that was kept": {lost: LostHead, trusted: true, left: "0.6"},
		"a log, a sum":         {lost: LostLog, sum: &sum, left: "0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, Create(dir, testID, testTime))
			l := mustOpen(t, dir)
			must(t, l.Adopt(granted, 1, l.Head()))
			must(t, l.Sealed("visits", 1, digest))
			mustReserve(t, l, key(1), "0.4")
			kept := l.Head()
			must(t, l.Close())
			var against *Head
			if c.trusted {
				against = &kept
			}
			var err error
			if c.lost == LostHead {
				must(t, os.Remove(filepath.Join(dir, headName)))
				_, err = RecoverHead(dir, against, c.sum, clock)
			} else {
				must(t, os.Remove(filepath.Join(dir, logName)))
				_, err = RecoverLog(dir, testID, granted, c.sum, clock)
			}
			must(t, err)
			l = mustOpen(t, dir)
			if s := mustState(t, l); !equal(s.Period.Remaining, pure(c.left)) {
				t.Errorf("%v of the grant is left, and not %s: %v is spent", s.Period.Remaining, c.left, s.Spent)
			}
			if err := l.MayAdopt(persons, 7); c.trusted != (err == nil) || !c.trusted &&
				!errors.Is(err, ErrIncompatible) {
				t.Errorf("rows that become persons: %v", err)
			}
		})
	}
}

// failAt fails one operation on names.
type failAt struct {
	*memFS
	calls *int
	at    int
}

func (f failAt) fails() error {
	if *f.calls++; *f.calls == f.at {
		return errors.New("it fails")
	}
	return nil
}

func (f failAt) Open(name string, flag int, perm fs.FileMode) (file, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.memFS.Open(name, flag, perm)
}

func (f failAt) Rename(from, to string) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.memFS.Rename(from, to)
}

func (f failAt) SyncDir(dir string) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.memFS.SyncDir(dir)
}

// frozenFS is a file system that is mounted read-only.
type frozenFS struct{ system }

func (f frozenFS) Open(name string, flag int, perm fs.FileMode) (file, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE) != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EROFS}
	}
	return f.system.Open(name, flag, perm)
}

// A ledger that cannot be written tells all it has, and appends nothing; one whose newest entry the head file does not
// name is refused, since that was not acknowledged.
func TestReadOnly(t *testing.T) {
	dir, l := begin(t, "3", "0.5")
	before, err := os.ReadFile(filepath.Join(dir, headName))
	must(t, err)
	must(t, l.Release(mustReserve(t, l, key(1), "0.4"), values(1)))
	head := l.Head()
	must(t, l.Close())
	frozen, err := open(frozenFS{}, dir, clock)
	must(t, err)
	if s := mustState(t, frozen); !frozen.ReadOnly() || frozen.Head() != head || !equal(s.Spent, pure("0.4")) {
		t.Errorf("%+v", s)
	}
	if a, ok, err := frozen.Find(key(1)); err != nil || !ok {
		t.Error(ok, err)
	} else if v, err := a.Values(); err != nil || string(v) != string(values(1)) {
		t.Errorf("%s, %v", v, err)
	}
	entries := 0
	must(t, frozen.Entries(func(Entry) error { entries++; return nil }))
	if entries != 5 {
		t.Errorf("%d entries", entries)
	}
	for name, err := range map[string]error{
		"reserve": func() error { _, err := frozen.Reserve(reservation(key(2), "0.1")); return err }(),
		"resume":  frozen.Resume(),
		"seal":    frozen.Sealed("visits", 2, digest),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, frozen.Close())
	if there, err := os.ReadDir(dir); err != nil || len(there) != 2 {
		t.Errorf("it wrote files: %v, %v", there, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, headName), before, 0o600))
	if _, err := open(frozenFS{}, dir, clock); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
}

// logFrozenFS is a file system on which only the log cannot be written.
type logFrozenFS struct{ system }

func (f logFrozenFS) Open(name string, flag int, perm fs.FileMode) (file, error) {
	if filepath.Base(name) == logName && flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.system.Open(name, flag, perm)
}

// A ledger that cannot be written begins at its checkpoint, if it has its index. Where the index is lost or damaged it
// reads the whole log and says the same; it writes no index, not even where it could.
func TestReadOnlyIndex(t *testing.T) {
	often(t, 4)
	dir, l := begin(t, "3", "0.5")
	for i := range 10 {
		must(t, l.Release(mustReserve(t, l, key(i), "0.01"), values(i)))
	}
	want := told(t, l)
	must(t, l.Close())
	for _, step := range []struct {
		name  string
		do    func() error
		begun bool
	}{
		{"whole", func() error { return nil }, true},
		{"damaged", func() error { return os.WriteFile(filepath.Join(dir, indexName), make([]byte, 9999), 0o600) }, false},
		{"no index", func() error { return os.Remove(filepath.Join(dir, indexName)) }, false},
		{"no checkpoint", func() error { return os.Remove(filepath.Join(dir, checkpointName)) }, false},
	} {
		must(t, step.do())
		before := files(t, dir)
		for _, fsys := range []fileSystem{frozenFS{}, logFrozenFS{}} {
			frozen, err := open(fsys, dir, clock)
			must(t, err)
			if begun := frozen.log.begun != (Checkpoint{}); begun != step.begun || !frozen.ReadOnly() {
				t.Errorf("%s: began at a checkpoint: %t", step.name, begun)
			}
			if have := told(t, frozen); have != want {
				t.Errorf("%s: it says\n%s\nwant\n%s", step.name, have, want)
			}
			must(t, frozen.Close())
		}
		if after := files(t, dir); after != before {
			t.Errorf("%s: the files were\n%s\nand are\n%s", step.name, before, after)
		}
	}
}

// files are the files in dir, with what is in them.
func files(t *testing.T, dir string) (out string) {
	there, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range there {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		must(t, err)
		out += fmt.Sprintf("%s: %x\n", f.Name(), sha256.Sum256(text))
	}
	return out
}

// The index of a lost log finds nothing in the one that was begun instead of it.
func TestRecoverLogWithIndex(t *testing.T) {
	often(t, 4)
	dir, l := begin(t, "3", "0.5")
	for i := range 10 {
		must(t, l.Release(mustReserve(t, l, key(i), "0.01"), values(i)))
	}
	must(t, l.Close())
	must(t, os.Remove(filepath.Join(dir, logName)))
	spent := pure("0.1")
	_, err := RecoverLog(dir, testID, terms("3", "0.5"), &spent, clock)
	must(t, err)
	l = mustOpen(t, dir)
	if _, ok, err := l.Find(key(1)); ok || err != nil || l.log.begun != (Checkpoint{}) {
		t.Errorf("it found what was lost: %t, %v", ok, err)
	}
	must(t, l.Sealed("visits", 1, digest))
	for i := range 10 {
		must(t, l.Release(mustReserve(t, l, key(i), "0.02"), values(90+i)))
	}
	quick := mustOpen(t, dir)
	if quick.log.begun == (Checkpoint{}) {
		t.Error("it has no checkpoint of its own")
	}
	have := told(t, quick)
	must(t, os.Remove(filepath.Join(dir, indexName)))
	must(t, os.Remove(filepath.Join(dir, checkpointName)))
	if want := told(t, mustOpen(t, dir)); have != want || want != told(t, l) {
		t.Errorf("it says\n%s\nwant\n%s", have, want)
	}
}
