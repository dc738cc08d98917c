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
	tempName = "ledger.head.tmp" // one name is enough, because it is written only under the lock
)

// fileSystem lists every file operation that the ledger uses. Tests replace it to fail each operation in two ways:
// not done, or done but reported as failed.
type fileSystem interface {
	Open(name string, flag int, perm fs.FileMode) (file, error)
	Exists(name string) (bool, error)
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(dir string) error
	// Same reports whether the path name still leads to the open file f. It does not if the file was removed or replaced.
	Same(name string, f file) (bool, error)
}

// file is an open file. Lock waits until no other open file on the same name holds the lock, in this process or
// another, and then takes it.
type file interface {
	io.ReaderAt
	io.Writer
	io.WriterAt // not used on the log, which is append-only
	io.Closer
	Truncate(size int64) error
	// Allocate reserves disk space so that the file can grow up to the offset end. It does not change the file's size.
	// It returns errNoAllocate if the file system cannot reserve space.
	Allocate(from, end int64) error
	Size() (int64, error) // returns ErrNotFile if this is not a regular file
	Sync() error          // makes the bytes and the size durable
	Lock(exclusive bool) error
	// TryLock is Lock without waiting. If another open file holds the lock, the result taken is false.
	TryLock() (taken bool, err error)
	Unlock() error
}

// system is the operating system's file system.
type system struct{}

type systemFile struct{ *os.File }

func (system) Open(name string, flag int, perm fs.FileMode) (file, error) {
	// O_NONBLOCK keeps the open from blocking on a pipe, which Size refuses later. It has no effect on regular
	// files.
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

// SyncDir makes the names of the files in dir durable.
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
