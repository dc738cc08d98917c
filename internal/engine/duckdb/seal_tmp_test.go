package duckdb

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// What killed sealings left is swept, and nothing that one in progress holds, however many begin and end at once.
func TestSweep(t *testing.T) {
	tmp := t.TempDir()
	for _, name := range []string{"seal-1", "seal-2", "rows-1"} {
		if err := os.MkdirAll(filepath.Join(tmp, name, "spilled"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := NewSealer(tmp)
	held, done, err := s.folder()
	if err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(tmp, "*")); err != nil || len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				path, done, err := s.folder()
				if err != nil {
					t.Error(err)
					return
				}
				Sweep(tmp)
				if err := os.WriteFile(filepath.Join(path, "spilled"), nil, 0o600); err != nil {
					t.Error(err)
				}
				done()
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(held); err != nil {
		t.Error("a folder in use was swept", err)
	}
	done()
	if left, err := filepath.Glob(filepath.Join(tmp, "seal-*")); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
