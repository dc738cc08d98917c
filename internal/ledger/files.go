package ledger

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Names of the files in the ledger's directory.
const (
	logName  = "ledger.log"
	headName = "ledger.head"
	tempName = "ledger.head.tmp" // written only under the lock, so one name is enough
)

// fileSystem has every operation on files that the ledger makes, so that tests can fail each in both ways: not done,
// and done but reported as failed.
type fileSystem interface {
	Open(name string, flag int, perm fs.FileMode) (file, error)
	Exists(name string) (bool, error)
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(dir string) error
	// Same reports whether name is the file that f is open on.
	Same(name string, f file) (bool, error)
}

// file is an open file. Lock waits for, and then excludes, every other open file on the same name, in this process and
// in others.
type file interface {
	io.ReaderAt
	io.Writer
	io.WriterAt // never on the log, which is append-only
	io.Closer
	Truncate(size int64) error
	// Allocate makes sure that the file can grow to end without more space on its disk. It leaves the size as it is. It
	// returns errNoAllocate if it cannot make sure.
	Allocate(from, end int64) error
	Size() (int64, error) // ErrNotFile for what is not a regular file
	Sync() error          // of the bytes and the size
	Lock(exclusive bool) error
	// TryLock is Lock without waiting: taken is false if another file holds the lock.
	TryLock() (taken bool, err error)
	Unlock() error
}

// system is the real file system.
type system struct{}

type systemFile struct{ *os.File }

func (system) Open(name string, flag int, perm fs.FileMode) (file, error) {
	// A pipe must not block the open; Size refuses it. On regular files the flag has no effect.
	f, err := os.OpenFile(name, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	return systemFile{f}, nil
}

func (system) Exists(name string) (bool, error) {
	_, err := os.Lstat(name)
	if os.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}

func (system) Rename(from, to string) error { return os.Rename(from, to) }

func (system) Remove(name string) error { return os.Remove(name) }

// SyncDir makes the names in dir durable.
func (system) SyncDir(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	err = d.Sync()
	if closing := d.Close(); err == nil {
		err = closing
	}
	return err
}

func (system) Same(name string, f file) (bool, error) {
	there, err := os.Stat(name)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	opened, ok := f.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false, nil
	}
	here, err := opened.Stat()
	return err == nil && os.SameFile(there, here), err
}

func (f systemFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s: %w", info.Name(), ErrNotFile)
	}
	return info.Size(), nil
}

func (f systemFile) Lock(exclusive bool) error { return flock(f.File, exclusive) }

func (f systemFile) TryLock() (bool, error) { return tryFlock(f.File) }

func (f systemFile) Unlock() error { return funlock(f.File) }
