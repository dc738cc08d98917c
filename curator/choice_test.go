package curator

import (
	"os"
	"path/filepath"
	"testing"
)

// The first choice that is recorded stays, a damaged one is ignored and replaced, and a home that cannot be written keeps
// nothing.
func TestChoicesAreKept(t *testing.T) {
	c := &Session{house: &house{home: t.TempDir()}}
	if got := c.Choice("a"); got != nil {
		t.Errorf("an empty home has %q", got)
	}
	if got := c.KeepChoice("a", []byte("one\ntwo")); string(got) != "one\ntwo" {
		t.Errorf("kept %q", got)
	}
	if got := c.KeepChoice("a", []byte("other")); string(got) != "one\ntwo" {
		t.Errorf("the second choice is %q", got)
	}
	if got := c.Choice("b"); got != nil {
		t.Errorf("another text has %q", got)
	}
	path := c.choiceFile("a")
	if err := os.WriteFile(path, []byte("dither choice 1 0000\none"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.Choice("a"); got != nil {
		t.Errorf("a damaged file has %q", got)
	}
	if got := c.KeepChoice("a", []byte("three")); string(got) != "three" || string(c.Choice("a")) != "three" {
		t.Errorf("after damage: %q", got)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".choice-*")); err != nil || len(left) > 0 {
		t.Errorf("%q are left behind, %v", left, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	none := &Session{house: &house{home: filepath.Join(path, "none")}}
	if got := none.KeepChoice("a", []byte("four")); string(got) != "four" || none.Choice("a") != nil {
		t.Errorf("a home that cannot be written: %q", got)
	}
}
