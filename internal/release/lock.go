//go:build linux || darwin

package release

import (
	"errors"
	"os"
	"syscall"
)

// hold locks a file against all others, or is errBusy. The kernel drops the lock with the file, so also when the
// process is killed.
func hold(f *os.File) error {
	err := lock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}

// await is hold once nobody else has it.
func await(f *os.File) error { return lock(f, syscall.LOCK_EX) }

func lock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}
