package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// VerifyInBackground verifies the whole chain repeatedly, as Verify does, until ctx is done. It is for long-running
// processes, because Open reads only the entries since the newest checkpoint. It returns at once. It does not hold the
// lock, because acknowledged entries do not change.
//
// If the chain is wrong, every later method of l returns that error, so that nothing more is admitted or released, and
// failed is called with it, once. If the log cannot be read for another reason, VerifyInBackground tries again; the
// third such error in a row counts as wrong.
func (l *Ledger) VerifyInBackground(ctx context.Context, pause time.Duration, failed func(error)) {
	go func() {
		unread := 0
		for ctx.Err() == nil {
			err := l.verifyOnce(ctx)
			if ctx.Err() != nil || errors.Is(err, ErrClosed) {
				return
			}
			if unread++; err == nil {
				unread = 0
			}
			if isWrong(err) || unread >= 3 {
				l.stop(err)
				failed(err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}()
}

// isWrong reports whether an error concerns the log's contents, and not a failure to read it.
func isWrong(err error) bool {
	var corrupt *CorruptError
	var back *RolledBackError
	return errors.As(err, &corrupt) || errors.As(err, &back) || errors.Is(err, ErrNewer) || errors.Is(err, ErrMissing)
}

// stop makes every later method return err. Closing the file releases the lock.
func (l *Ledger) stop(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
		_ = l.file.Close() // nothing is being written, since writers hold mu
	}
}

// verifyOnce reads the log from its beginning up to the newest entry that l has seen, and checks that this entry is
// there.
func (l *Ledger) verifyOnce(ctx context.Context) error {
	l.mu.Lock()
	tip, begun, end, failed := l.log.last, l.log.hasLast, l.log.tipEnd, l.failed
	l.mu.Unlock()
	switch {
	case failed != nil:
		return ErrClosed // there is nothing to stop
	case !begun: // the index was damaged and a full reading failed: the next call returns the error
		return nil
	}
	f, err := openLog(l.fsys, l.dir, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	again := newLog(f, l.every)
	again.passBy(tip)
	again.until = &tip.Index
	if err := again.extend(stoppable{ctx, f}, end); err != nil {
		return err
	}
	if again.last != tip {
		return fmt.Errorf("verifying: %w", &RolledBackError{Want: tip, Have: again.last})
	}
	return nil
}

// stoppable is a reader that stops once ctx is done.
type stoppable struct {
	ctx context.Context
	io.ReaderAt
}

func (s stoppable) ReadAt(p []byte, offset int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.ReaderAt.ReadAt(p, offset)
}
