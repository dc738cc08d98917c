package curator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kept keeps a choice, and returns the recorded one.
func kept(c *Session, of, data string) string {
	c.keep(Choice{of, []byte(data)})
	return string(c.Choice(of))
}

// The first choice that is recorded stays, a damaged one is ignored and replaced, and a home that cannot be written keeps
// nothing.
func TestChoicesAreKept(t *testing.T) {
	c := &Session{house: &house{home: t.TempDir()}}
	if got := c.Choice("a"); got != nil {
		t.Errorf("an empty home has %q", got)
	}
	if got := kept(c, "a", "one\ntwo"); got != "one\ntwo" {
		t.Errorf("kept %q", got)
	}
	if got := kept(c, "a", "other"); got != "one\ntwo" {
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
	if got := kept(c, "a", "three"); got != "three" {
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
	if got := kept(none, "a", "four"); got != "" {
		t.Errorf("a home that cannot be written keeps %q", got)
	}
}

// The choices that were measured last stay, those before are dropped, and files that were left behind are removed.
func TestChoicesAreBounded(t *testing.T) {
	before := mostChoices
	defer func() { mostChoices = before }()
	mostChoices = 3 * leastChoice
	c := &Session{house: &house{home: t.TempDir()}}
	measured := func(of string, minute int) {
		kept(c, of, of)
		at := time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)
		if err := os.Chtimes(c.choiceFile(of), at, at); err != nil {
			t.Fatal(err)
		}
	}
	measured("a", 1)
	measured("b", 2)
	measured("c", 3)
	measured("a", 4) // again
	left := filepath.Join(filepath.Dir(c.choiceFile("a")), ".choice-1")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	kept(c, "d", "d")
	for of, want := range map[string]string{"a": "a", "b": "", "c": "c", "d": "d"} {
		if got := string(c.Choice(of)); got != want {
			t.Errorf("the choice for %s is %q, want %q", of, got, want)
		}
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("an old unfinished choice is left: %v", err)
	}
	large := strings.Repeat("x", 2*leastChoice-200)
	if kept(c, "e", large); string(c.Choice("e")) != large || c.Choice("d") == nil || c.Choice("c") != nil || c.Choice("a") != nil {
		t.Error("a large choice does not count by its size")
	}
	if kept(c, "f", strings.Repeat("x", maxChoice+1)) != "" {
		t.Error("a choice that is too large is kept")
	}
}
