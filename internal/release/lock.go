//go:build linux || darwin

package release

import (
	"errors"
	"os"
	"syscall"
)

// hold locks a file exclusively, or returns ErrBusy if it is locked. The operating system releases the lock when
// the file is closed, and so also when the process is killed.
func hold(f *os.File) error {
	err := lock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}

// await locks a file exclusively, and waits while it is locked.
func await(f *os.File) error { return lock(f, syscall.LOCK_EX) }

func lock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}
