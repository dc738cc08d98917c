package seal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/policy"
)

// A pattern is all files that it matches: another file, or another content, makes another version; a link to one of
// them is refused.
func TestPattern(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	table := &policy.Table{
		Name:   "t",
		Source: policy.Source{Format: policy.Parquet, Path: "v-*.parquet", File: filepath.Join(folder, "v-*.parquet")},
	}
	open := func() (string, []string, *source, error) {
		s, err := openSource(table)
		if err != nil {
			return "", nil, nil, err
		}
		t.Cleanup(func() { _ = s.Close() })
		whole, contents, err := s.digest(t.Context())
		return whole, contents, s, err
	}
	if _, _, _, err := open(); !errors.As(err, new(*SourceError)) || !strings.Contains(err.Error(), "matches no file") {
		t.Errorf("nothing there: %v", err)
	}
	deep := &policy.Table{
		Name: "t",
		Source: policy.Source{
			Format: policy.Parquet, Path: "**/v-*.parquet",
			File: filepath.Join(folder, "**", "v-*.parquet"),
		},
	}
	if _, err := openSource(deep); err == nil || !strings.Contains(err.Error(), "a * for each level") {
		t.Errorf("folders of any depth: %v", err)
	}
	write("v-1.parquet", "one")
	single, contents, _, err := open()
	if err != nil || len(contents) != 1 || contents[0] != single {
		t.Fatalf("%v, %v, %v", single, contents, err)
	}
	write("v-2.parquet", "two")
	write("other.parquet", "three")
	whole, contents, s, err := open()
	if err != nil || len(contents) != 2 || whole == single || len(s.paths) != 2 || s.size != 6 {
		t.Fatalf("%v, %v, %+v, %v", whole, contents, s, err)
	}
	if err := os.Rename(filepath.Join(folder, "v-1.parquet"), filepath.Join(folder, "v-9.parquet")); err != nil {
		t.Fatal(err)
	}
	if renamed, _, _, err := open(); err != nil || renamed != whole {
		t.Errorf("another name is another content: %v", err)
	}
	write("v-2.parquet", "too")
	if changed, _, _, err := open(); err != nil || changed == whole {
		t.Errorf("another content is the same: %v", err)
	}
	if err := os.Symlink("v-2.parquet", filepath.Join(folder, "v-3.parquet")); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := open(); err == nil || !strings.Contains(err.Error(), "twice, through a link") {
		t.Errorf("a link: %v", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(folder, "v-3.parquet")),
		os.Mkdir(filepath.Join(folder, "v-3.parquet"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := open(); err == nil || !strings.Contains(err.Error(), "v-3.parquet is a folder") {
		t.Errorf("a folder: %v", err)
	}
}

// A file of a pattern that another home sealed by itself is claimed.
func TestPatternClaims(t *testing.T) {
	state := t.TempDir()
	home := func() string {
		h := t.TempDir()
		if err := os.WriteFile(filepath.Join(h, ledgerFile), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return h
	}
	getenv := func(name string) string {
		if name == "XDG_STATE_HOME" {
			return state
		}
		return ""
	}
	hold := func(home, ledger string, paths, contents []string) error {
		c := newClaims(home, &policy.Table{Name: "t"}, Options{LedgerID: ledger, Getenv: getenv}, &Report{})
		return c.hold(t.Context(), paths, contents, 1, func() error { return nil })
	}
	first, second := home(), home()
	if err := hold(first, "1", []string{"/a", "/b"}, []string{"ca", "cb"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"/b", "cx"}, {"/x", "ca"}} {
		if err := hold(second, "2", []string{"/y", c[0]}, []string{"cy", c[1]}); !errors.As(err, new(*ClaimedError)) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if err := hold(second, "2", []string{"/c"}, []string{"cc"}); err != nil {
		t.Error(err)
	}
}
