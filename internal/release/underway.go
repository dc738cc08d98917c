package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"

	"dither/internal/engine/duckdb"
)

// If several callers ask for the same access at once, in one process or in several, it is paid once. The first
// caller locks a file that is named after the replay key. The others wait for the lock, and then find the recorded
// release. The operating system drops the lock when its holder ends, even by a crash. If the holder recorded no
// release, a waiting caller runs the access at its own price, as if it had come later. A waiting caller uses
// nothing of the holder's but the recorded release. Only the number of payments depends on the lock: without it,
// two callers would each pay for a draw of their own.
//
// A question with Fresh neither waits nor makes others wait.

// underway takes the lock of a replay key, and holds it until done is called. It waits up to the time limit of an
// answer, and no longer than ctx. If the wait fails, nothing was charged. waited reports whether it had to wait.
func (k *Kernel) underway(ctx context.Context, key string) (done func(), waited bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, k.Timeout(), errUnderway)
	defer cancel()
	return k.alone(ctx, key)
}

// Sealing takes the lock of a table's sealings, and holds it until done is called. It waits until ctx ends. A sealing holds
// it from before it looks for streams over the table until the ledger has the version, and the creation of a stream until
// the stream is paid. So a sealing that makes no version of an unchanged source has ended before such a stream begins.
func (k *Kernel) Sealing(ctx context.Context, table string) (done func(), err error) {
	sum := sha256.Sum256([]byte("sealing " + table))
	done, _, err = k.alone(ctx, hex.EncodeToString(sum[:]))
	return done, err
}

// alone takes the lock of a key, and holds it until done is called. It waits until ctx ends.
func (k *Kernel) alone(ctx context.Context, key string) (done func(), waited bool, err error) {
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
				// removed while locked; if a crash leaves the file, the next caller locks and removes it
				_ = os.Remove(path)
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

// Sweep removes the files that killed processes left. It is optional: nothing depends on it.
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

// errUnderway is the cause of a wait that reached the time limit.
var errUnderway = errors.New("the same question is being answered")

// holdPath opens or creates a file, and locks it. It returns ErrBusy if another caller holds the lock. A holder
// removes its file when it is done. So holdPath checks that the locked file is still the one at the path, and
// otherwise tries again.
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
