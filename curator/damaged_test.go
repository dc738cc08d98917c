package curator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/seal"
)

// damage changes a byte of a sealed file in place, and gives what undoes it.
func damage(t *testing.T, c *Owner, table string) (undo func()) {
	t.Helper()
	v, err := seal.Current(c.home, c.policy.Table(table))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(v.File)
	if err != nil {
		t.Fatal(err)
	}
	put := func(xor byte) {
		f, err := os.OpenFile(v.File, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt([]byte{text[len(text)/2] ^ xor}, int64(len(text)/2))
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	put(1)
	return func() { put(0) }
}

// A damaged sealed file is found before anything is charged, by each primitive and by one that had read it before; what was answered is given again; and once
// the file is as it was, so is everything.
func TestDamageIsNotCharged(t *testing.T) {
	c := openHome(t, fitHome(t, trainBudget, "add-remove", 60))
	again := Question{SQL: "SELECT COUNT(*) FROM people WHERE y = 1"}
	if _, err := c.Answer(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	asks := map[string]func() error{
		"answer": func() error {
			_, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people"})
			return err
		},
		"above": func() error { _, err := c.Above(t.Context(), Threshold{Table: "people", Threshold: "10"}); return err },
		"train": func() error { _, err := c.Train(t.Context(), logisticTraining()); return err },
		"minimize": func() error {
			_, err := c.Minimize(t.Context(), Minimisation{Request: Request{SQL: "SELECT x1, 1, y FROM people"}, Loss: LogisticLoss, Radius: "3", Regularise: "100", Rows: 60})
			return err
		},
	}
	before, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	undo := damage(t, c, "people")
	for name, ask := range asks {
		var e *Error
		if err := ask(); !errors.As(err, &e) || e.Code != CodeStale || e.Charged || e.Retry || !strings.Contains(e.Message, "bytes that were sealed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, err := c.Answer(t.Context(), again); err != nil || !r.Replayed {
		t.Errorf("a replay: %v", err)
	}
	if after, err := c.Budget(); err != nil || after.Spent != before.Spent || after.Failures != before.Failures {
		t.Errorf("%+v, and then %+v, %v", before, after, err)
	}
	undo()
	for name, ask := range asks {
		if err := ask(); err != nil {
			t.Errorf("%s, once it is whole: %v", name, err)
		}
	}
}

// What a killed sealing left in tmp is swept when the home is opened.
func TestOpenSweepsTmp(t *testing.T) {
	home := newHome(t)
	left := filepath.Join(home, "tmp", "seal-123")
	if err := os.MkdirAll(filepath.Join(left, "spilled"), 0o700); err != nil {
		t.Fatal(err)
	}
	openHome(t, home)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Error("it is left", err)
	}
}

// Removing old versions takes no answer away: what the ledger has of them is given as before, and the newest answers on.
func TestRemoveVersions(t *testing.T) {
	home := fitHome(t, trainBudget, "add-remove", 60)
	c := openHome(t, home)
	first, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people"})
	if err != nil {
		t.Fatal(err)
	}
	edit(t, home, "people.csv", "1,,1,20\n", "1,,1,20\n0,0,1,3\n")
	if _, err := c.Seal(t.Context(), "people", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	told := func() string {
		a, err := c.Asked(first.ID, Question{})
		if err != nil {
			t.Fatal(err)
		}
		answer, _, err := c.named(first.ID)
		if err != nil {
			t.Fatal(err)
		}
		values, err := answer.Values()
		if err != nil {
			t.Fatal(err)
		}
		return a.Question + string(values)
	}
	before := told()
	if _, err := c.RemoveVersions(t.Context(), "people", 2); codeOf(err) != CodeUsage {
		t.Errorf("the newest: %v", err)
	}
	if removed, err := c.RemoveVersions(t.Context(), "people"); err != nil || len(removed) != 1 || removed[0] != 1 {
		t.Errorf("%v, %v", removed, err)
	}
	if after := told(); after != before {
		t.Errorf("%s, and then %s", before, after)
	}
	r, err := openHome(t, home).Answer(t.Context(), Question{SQL: "SELECT COUNT(*) FROM people"})
	if err != nil || r.Replayed {
		t.Errorf("%+v, %v", r, err)
	}
}
