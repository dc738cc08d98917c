package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// VerifyInBackground starts a goroutine that verifies the whole chain again and again, as Verify does, until ctx is
// done. It waits for pause between two verifications. Long-running processes need it, because Open reads only the
// entries since the newest checkpoint. VerifyInBackground returns at once. Verification does not hold the lock,
// because acknowledged entries do not change.
//
// If the chain is wrong, every later method of l returns the error, so nothing more is admitted or released.
// VerifyInBackground then calls failed once with the error, and stops. If the log cannot be read for another
// reason, it tries again. After three such errors in a row it treats the chain as wrong.
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

// isWrong reports whether err means that the log's contents are wrong. Otherwise the log could not be read.
func isWrong(err error) bool {
	var corrupt *CorruptError
	var back *RolledBackError
	return errors.As(err, &corrupt) || errors.As(err, &back) || errors.Is(err, ErrNewer) || errors.Is(err, ErrMissing)
}

// stop makes every later method return err. It closes the file, which releases the lock.
func (l *Ledger) stop(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
		_ = l.file.Close() // no write is in progress, because writers hold mu
	}
}

// verifyOnce reads the log from its beginning to the newest entry that l has read. It returns an error if the chain
// is wrong or lacks this entry.
func (l *Ledger) verifyOnce(ctx context.Context) error {
	l.mu.Lock()
	tip, begun, end, failed := l.log.last, l.log.hasLast, l.log.tipEnd, l.failed
	l.mu.Unlock()
	switch {
	case failed != nil:
		return ErrClosed // VerifyInBackground has nothing to stop
	case !begun: // the index was damaged and reading the whole log failed: the next call of a method returns the error
		return nil
	}
	f, err := openLog(l.fsys, l.dir, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // error ignored: the file was only read
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

// stoppable is a reader that returns ctx's error once ctx is done.
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
