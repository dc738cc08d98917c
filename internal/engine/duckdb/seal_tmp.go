package duckdb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// sealPrefix is the prefix of the names of folders that sealings spill into.
const sealPrefix = "seal-"

// folder makes a folder of mode 0700 to spill into, and locks it. The function done removes the folder and releases
// the lock. [Sweep] does not remove locked folders.
func (s *Sealer) folder() (path string, done func(), err error) {
	if err := os.MkdirAll(s.tmp, 0o700); err != nil {
		return "", nil, err
	}
	Sweep(s.tmp)
	for {
		path, err := os.MkdirTemp(s.tmp, sealPrefix) // mode 0700
		if err != nil {
			return "", nil, err
		}
		held, err := holdFolder(path)
		if errors.Is(err, errHeld) {
			continue // another process swept the folder before it was locked
		}
		if err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(path))
		}
		return path, func() {
			_ = os.RemoveAll(path) // still locked
			_ = held.Close()
		}, nil
	}
}

// Sweep removes the folders in tmp that killed sealings left. It keeps folders that a running sealing has locked,
// in this process or another.
func Sweep(tmp string) {
	left, _ := os.ReadDir(tmp)
	for _, e := range left {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), sealPrefix) {
			continue
		}
		path := filepath.Join(tmp, e.Name())
		if held, err := holdFolder(path); err == nil {
			_ = os.RemoveAll(path)
			_ = held.Close()
		}
	}
}

// errHeld means that another process has locked the folder, or has removed it.
var errHeld = errors.New("the folder is in use")

// holdFolder locks a folder until the returned file is closed. The operating system releases the lock when the
// process ends.
func holdFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errHeld
	}
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errHeld
	}
	if err == nil {
		here, statting := f.Stat()
		if there, gone := os.Stat(path); statting != nil || gone != nil || !os.SameFile(here, there) {
			err = errHeld
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
