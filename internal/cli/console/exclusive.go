package console

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Exclusive calls f, and meanwhile excludes other callers of Exclusive for the same file, in this process and in others.
// They wait, or return the error of their context. The function f gets the content of the file, or nil if there is no
// file, and may replace the file with ReplaceDurably. An empty file is not nil: it may be one that lost its content.
func Exclusive(ctx context.Context, name string, f func(content []byte) error) error {
	for {
		again, err := exclusive(ctx, name, f)
		if !again {
			return err
		}
	}
}

// exclusive is one attempt, with a lock on a file of its own. It is made again if another caller removed that file
// before the lock was taken. The file itself could not be locked before it exists, and making it would look like a lost
// content.
func exclusive(ctx context.Context, name string, f func([]byte) error) (again bool, err error) {
	lock := name + ".lock"
	file, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // releases the lock; nothing was written through it
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return false, os.NewSyscallError("flock", err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	locked, err := file.Stat()
	if err != nil {
		return false, err
	}
	if named, err := os.Stat(lock); err != nil || !os.SameFile(locked, named) {
		return true, nil
	}
	defer func() { err = errors.Join(err, os.Remove(lock)) }() // before the lock is released
	content, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		content = nil
	case err != nil:
		return false, err
	case content == nil:
		content = []byte{}
	}
	return false, f(content)
}

// ReplaceDurably is ReplaceFile whose result survives a crash of the machine, once it has returned.
func ReplaceDurably(name string, content []byte) error {
	err := ReplaceFile(name, func(w io.Writer) error {
		_, err := w.Write(content)
		if f, ok := w.(*os.File); ok && err == nil {
			err = f.Sync()
		}
		return err
	})
	if err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
