package release

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"dither/internal/engine/duckdb"
)

// One look that is asked for several times at once, by goroutines or by processes, is paid once: who comes first holds
// a file that is named after the replay key, and the others wait for it and then find the release. The lock is the
// kernel's, and ends with its holder, however that ends: whoever waited then finds a release, which is given again; or
// none, and takes the look anew, at a price of its own, as if it had come later. Nothing is taken from the holder but
// what it recorded, and nothing rests on the lock but what is paid: without it two would pay, and each would have its
// own draw.
//
// Who asks afresh neither waits nor is waited for.

// underway waits until nobody else takes the look of a key, and holds it until done is called. It waits as long as an
// answer may take, and no longer than ctx: then nothing was charged. Whether it had to wait is told.
func (k *Kernel) underway(ctx context.Context, key string) (done func(), waited bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, k.Timeout(), errUnderway)
	defer cancel()
	dir := filepath.Join(k.home, "underway")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, &EndedError{How: Unwritable, Cause: err}
	}
	path := filepath.Join(dir, key)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		f, err := holdPath(path)
		switch {
		case err == nil:
			return func() {
				_ = os.Remove(path) // while it is held; what is left there is found by who asks next
				_ = f.Close()
			}, waited, nil
		case !errors.Is(err, ErrBusy):
			return nil, false, &EndedError{How: Unwritable, Cause: err}
		}
		waited = true
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errUnderway) {
				return nil, false, ended(Busy)
			}
			return nil, false, ctx.Err()
		}
	}
}

// Sweep takes away what processes left that were killed at a look. Nothing rests on it.
func (k *Kernel) Sweep() {
	dir := filepath.Join(k.home, "underway")
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		path := filepath.Join(dir, e.Name())
		if f, err := holdPath(path); err == nil {
			_ = os.Remove(path)
			_ = f.Close()
		}
	}
	duckdb.Sweep(filepath.Join(k.home, "tmp"))
}

// errUnderway is why a wait ends that nobody cancelled.
var errUnderway = errors.New("the same question is being answered")

// holdPath opens a file, or makes it, and holds it; errBusy where another does. What it holds is what stands at the
// path: a holder that is done takes its file away, and who had opened that before holds nothing that anybody else could
// find.
func holdPath(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := hold(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		held, err := f.Stat()
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		if there, err := os.Stat(path); err == nil && os.SameFile(held, there) {
			return f, nil
		}
		_ = f.Close()
	}
}
