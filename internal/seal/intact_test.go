package seal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func sealed(t *testing.T, w world, home, file string) Version {
	t.Helper()
	v, _, err := Seal(t.Context(), home, people(file), &fake{}, w.options("1"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// flip changes one byte in place, and leaves the length.
func flip(t *testing.T, file string, keepTime bool) {
	t.Helper()
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // a tick of the file system's clock
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, 3); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b, 3); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if keepTime {
		if err := os.Chtimes(file, before.ModTime(), before.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
}

// A version whose bytes are others is not held, by one who has checked it before, and by another process; one that was
// copied, or touched, is read once more.
func TestHoldFindsDamage(t *testing.T) {
	for _, keepTime := range []bool{false, true} {
		w := newWorld(t)
		home := w.home("home")
		v := sealed(t, w, home, w.write("people.csv", threeRows))
		var mine Checks
		hold := func(c *Checks) error {
			release, err := c.Hold(t.Context(), v)
			if err == nil {
				release()
			}
			return err
		}
		if err := errors.Join(hold(&mine), hold(&Checks{})); err != nil {
			t.Fatal(err)
		}
		flip(t, v.File, keepTime)
		for name, c := range map[string]*Checks{"mine": &mine, "another's": {}} {
			if err := hold(c); !errors.As(err, new(*DamagedError)) {
				t.Errorf("%s, times kept %t: %v", name, keepTime, err)
			}
		}
		flip(t, v.File, keepTime)
		if err := hold(&mine); err != nil {
			t.Errorf("restored: %v", err)
		}
	}
}

// Sealing notes what it wrote, so that no process reads the file again; a note of another file, of another version or a
// damaged one counts for nothing.
func TestNotes(t *testing.T) {
	w := newWorld(t)
	home := w.home("home")
	v := sealed(t, w, home, w.write("people.csv", threeRows))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	noRead := func() error { // with it, reading the file is an error
		release, err := (&Checks{}).Hold(cancelled, v)
		if err == nil {
			release()
		}
		return err
	}
	if err := noRead(); err != nil {
		t.Fatal("sealing did not note its file", err)
	}
	text, err := os.ReadFile(noteFile(v))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", "{}", "null", strings.Replace(string(text), v.SHA256, strings.Repeat("0", 64), 1),
		strings.Replace(string(text), `"format":1`, `"format":2`, 1),
	} {
		if err := os.WriteFile(noteFile(v), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := noRead(); !errors.Is(err, context.Canceled) {
			t.Errorf("the note %q: %v", bad, err)
		}
	}
	if release, err := (&Checks{}).Hold(t.Context(), v); err != nil {
		t.Fatal(err)
	} else {
		release()
	}
	if err := noRead(); err != nil {
		t.Error("what was read was not noted", err)
	}
	if err := os.Remove(v.File); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Checks{}).Hold(t.Context(), v); !errors.As(err, new(*DamagedError)) {
		t.Error(err)
	}
}

// An old version is removed, not one that is read or the newest; its place, and what its source was, stay; and the next
// version is above.
func TestRemove(t *testing.T) {
	w := newWorld(t)
	home := w.home("home")
	file := w.write("people.csv", threeRows)
	first := sealed(t, w, home, file)
	w.write("people.csv", threeRows+"3,Bonn,q\n")
	second := sealed(t, w, home, file)
	for _, n := range []int{0, 2, 3} {
		if err := Remove(t.Context(), home, "people", n); err == nil {
			t.Errorf("version %d was removed", n)
		}
	}
	release, err := (&Checks{}).Hold(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), home, "people", 1); err == nil ||
		!strings.Contains(err.Error(), "a question is reading") {
		t.Errorf("while it is read: %v", err)
	}
	release()
	for range 2 { // a crash may have left the file: removing it again is no error
		if err := Remove(t.Context(), home, "people", 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range left(t, filepath.Join(home, "sealed")) {
		if strings.Contains(name, "v1.") {
			t.Errorf("%s is left", name)
		}
	}
	if numbers, err := Numbers(home, "people"); err != nil || !slices.Equal(numbers, []int{2}) {
		t.Error(numbers, err)
	}
	if err := os.WriteFile(first.File, nil, 0o600); err != nil { // as a crash leaves it
		t.Fatal(err)
	}
	if numbers, err := Numbers(home, "people"); err != nil || !slices.Equal(numbers, []int{1, 2}) {
		t.Error(numbers, err)
	}
	if err := Remove(t.Context(), home, "people", 1); err != nil {
		t.Fatal(err)
	}
	_, err = Recorded(t.Context(), home, "people", 1, first.SHA256)
	wantError(t, err, "version 1 was removed")
	if like, err := Compare(home, "people", first); err != nil || like != Same {
		t.Error(like, err)
	}
	if now, err := Current(home, people(file)); err != nil || now.Number != second.Number {
		t.Error(now, err)
	}
	w.write("people.csv", threeRows+"4,Bern,q\n")
	if third := sealed(t, w, home, file); third.Number != 3 {
		t.Errorf("version %d", third.Number)
	}
	if numbers, err := Numbers(home, "people"); err != nil || !slices.Equal(numbers, []int{2, 3}) {
		t.Error(numbers, err)
	}
}
