package console

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Many callers at once: exactly one of them finds no file, and all others its replacement.
func TestExclusive(t *testing.T) {
	name := filepath.Join(t.TempDir(), "reports")
	var wait sync.WaitGroup
	var mutex sync.Mutex
	drawn, read := 0, map[string]int{}
	for i := range 16 {
		wait.Go(func() {
			err := Exclusive(t.Context(), name, func(content []byte) error {
				mutex.Lock()
				defer mutex.Unlock()
				if content != nil {
					read[string(content)]++
					return nil
				}
				drawn++
				return ReplaceDurably(name, []byte{'0' + byte(i)})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	content, err := os.ReadFile(name)
	if err != nil || drawn != 1 || len(read) != 1 || read[string(content)] != 15 {
		t.Errorf("%v: %d callers found no file, and the others read %v", err, drawn, read)
	}
	if _, err := os.Stat(name + ".lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of the lock is left: %v", err)
	}
}

// An error makes no file, and keeps a file with content. An empty file is not a missing one. A waiting caller stops with
// its context.
func TestExclusiveErrors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "reports")
	stop := errors.New("stop")
	fail := func([]byte) error { return stop }
	if err := Exclusive(t.Context(), name, fail); !errors.Is(err, stop) {
		t.Error(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := Exclusive(t.Context(), filepath.Join(name, "x"), fail); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	err := Exclusive(t.Context(), name, func([]byte) error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Exclusive(ctx, name, fail); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return ReplaceDurably(name, []byte("x"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Exclusive(t.Context(), name, fail); !errors.Is(err, stop) {
		t.Error(err)
	}
	if content, err := os.ReadFile(name); err != nil || string(content) != "x" {
		t.Error(string(content), err)
	}
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	err = Exclusive(t.Context(), name, func(content []byte) error {
		if content == nil || len(content) > 0 {
			t.Errorf("an empty file is %v", content)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
