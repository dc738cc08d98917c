package curator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// readOnly takes the permission to write in a home away, from this test's goroutine even where root runs it, until the test is over.
func readOnly(t *testing.T, home string) {
	t.Helper()
	for dir := filepath.Dir(home); dir != filepath.Dir(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o055 != 0o055 {
			if err := os.Chmod(dir, info.Mode().Perm()|0o055); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o444)
		if d.IsDir() {
			mode = 0o555
		}
		return os.Chmod(path, mode)
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(home, func(path string, _ fs.DirEntry, _ error) error { return os.Chmod(path, 0o700) })
	})
	runtime.LockOSThread()
	asNobody(t)
	if f, err := os.OpenFile(filepath.Join(home, "ledger.log"), os.O_RDWR, 0); err == nil {
		_ = f.Close()
		t.Fatal("the home can be written all the same")
	}
}

// A home that cannot be written tells what was spent, its tables, and what was answered; a new question is refused before it costs anything, and says why.
func TestReadOnlyHome(t *testing.T) {
	home := fitHome(t, trainBudget, "add-remove", 60)
	c := openHome(t, home)
	asked := Question{SQL: "SELECT COUNT(*) FROM people"}
	if _, err := c.Answer(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	q := logisticTraining()
	tr, err := c.Train(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	_, sums := train(t, tr, 12)
	half := q
	half.SQL += " WHERE x1 > 0"
	begun, err := c.Train(t.Context(), half)
	if err != nil {
		t.Fatal(err)
	}
	_, begins := train(t, begun, 3)
	before, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tr.Close(), begun.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	readOnly(t, home)
	c = openHome(t, home)
	if r, err := c.Answer(t.Context(), asked); err != nil || !r.Replayed {
		t.Errorf("a replay: %v", err)
	}
	if after, err := c.Budget(); err != nil || after.Spent != before.Spent {
		t.Errorf("%+v, %v", after, err)
	}
	if tables, err := c.Tables(); err != nil || len(tables) != 2 {
		t.Error(tables, err)
	}
	if _, err := c.Explain(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people WHERE y = 1"}); err != nil {
		t.Errorf("explain: %v", err)
	}
	if tr, err := c.Train(t.Context(), q); err != nil || tr.Recorded() != 12 {
		t.Errorf("a training: %v", err)
	} else if _, again := train(t, tr, 12); strings.Join(again, "") != strings.Join(sums, "") {
		t.Error("it is another training")
	}
	tr, err = c.Train(t.Context(), half)
	if err != nil || tr.Recorded() != 3 {
		t.Fatalf("an unfinished training: %v", err)
	}
	theta, again := train(t, tr, 3)
	if strings.Join(again, "") != strings.Join(begins, "") {
		t.Error("it is another training")
	}
	*inside(c).Engine = failing{} // no rows are read for a step that could not be recorded
	var e *Error
	_, err = tr.Step(t.Context(), theta)
	if !errors.As(err, &e) || e.Code != CodeHome || !strings.Contains(e.Message, "read-only") {
		t.Errorf("its next step: %v", err)
	}
	fresh := q
	fresh.Fresh = true
	for name, ask := range map[string]func() error{
		"answer": func() error {
			_, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people WHERE y = 1"})
			return err
		},
		"afresh": func() error { _, err := c.Answer(t.Context(), Question{SQL: asked.SQL, Fresh: true}); return err },
		"above":  func() error { _, err := c.Above(t.Context(), Threshold{Table: "people", Threshold: "10"}); return err },
		"train":  func() error { _, err := c.Train(t.Context(), fresh); return err },
	} {
		var e *Error
		if err := ask(); !errors.As(err, &e) || e.Code != CodeHome || e.Charged || !strings.Contains(e.Message, "read-only") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A head that is lost is written again, and a log that is lost is begun anew: with what the owner kept, or with the whole budget spent.
func TestRecoverLedger(t *testing.T) {
	remove := func(t *testing.T, home string, names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.Remove(filepath.Join(home, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	question := Question{SQL: countSQL}
	begun := func(t *testing.T) (home, head string) {
		t.Helper()
		home = newHome(t)
		c := openHome(t, home)
		if _, err := c.Answer(t.Context(), question); err != nil {
			t.Fatal(err)
		}
		head = c.ledger.Head().String()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		return home, head
	}
	home, head := begun(t)
	if _, err := RecoverLedger(home, RecoverOptions{}); codeOf(err) != CodeUsage {
		t.Errorf("nothing is lost: %v", err)
	}
	remove(t, home, "ledger.head")
	if _, err := RecoverLedger(home, RecoverOptions{Against: "1:2"}); codeOf(err) != CodeUsage {
		t.Errorf("no head: %v", err)
	}
	if r, err := RecoverLedger(home, RecoverOptions{Against: head}); err != nil || r.Lost != "head" || r.Spent.Epsilon != "0.1" {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err := openHome(t, home).Answer(t.Context(), question); err != nil || !r.Replayed {
		t.Errorf("%+v, %v", r, err)
	}
	remove(t, home, "ledger.head")
	if r, err := RecoverLedger(home, RecoverOptions{}); err != nil || r.Spent != r.Budget {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err := openHome(t, home).Answer(t.Context(), question); err != nil || !r.Replayed {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := openHome(t, home).Answer(t.Context(), Question{SQL: countSQL, Fresh: true}); codeOf(err) != CodeExhausted {
		t.Errorf("a new one: %v", err)
	}
	for text, want := range map[string]string{"": "1", "0.3": "0.3"} {
		home, head := begun(t)
		remove(t, home, "ledger.log")
		if _, err := Open(home); err == nil {
			t.Error("a home without a ledger was opened")
		}
		if err := Init(home); err == nil {
			t.Error("a ledger was begun where one was lost")
		}
		if _, err := RecoverLedger(home, RecoverOptions{Against: head}); codeOf(err) != CodeUsage {
			t.Errorf("a head alone: %v", err)
		}
		r, err := RecoverLedger(home, RecoverOptions{Spent: text})
		if err != nil || r.Lost != "log" || r.Spent.Epsilon != want {
			t.Fatalf("%+v, %v", r, err)
		}
		c := openHome(t, home)
		if _, err := c.Answer(t.Context(), question); codeOf(err) != CodeStale && codeOf(err) != CodeExhausted {
			t.Errorf("before it is sealed again: %v", err)
		}
		if _, err := c.Seal(t.Context(), "people", SealOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Answer(t.Context(), question); (err == nil) != (text != "") {
			t.Errorf("with %q kept: %v", text, err)
		}
		if got := spent(t, c); text == "" && got != "1" || text != "" && got != "0.4" {
			t.Errorf("spent %s", got)
		}
	}
}
