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
// They wait, or return the error of their context. The function f gets the content of the file, and may replace the file
// with ReplaceDurably. A missing file is empty. If f returns an error, an empty file is removed.
func Exclusive(ctx context.Context, name string, f func(content []byte) error) error {
	for {
		again, err := exclusive(ctx, name, f)
		if !again {
			return err
		}
	}
}

// exclusive is one attempt. It is made again if another caller replaced or removed the file before the lock was taken.
func exclusive(ctx context.Context, name string, f func([]byte) error) (again bool, err error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
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
	if named, err := os.Stat(name); err != nil || !os.SameFile(locked, named) {
		return true, nil
	}
	content, err := io.ReadAll(file)
	if err == nil {
		err = f(content)
	}
	if err != nil && len(content) == 0 && stillEmpty(name) {
		err = errors.Join(err, os.Remove(name))
	}
	return false, err
}

func stillEmpty(name string) bool {
	about, err := os.Stat(name)
	return err == nil && about.Size() == 0
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
