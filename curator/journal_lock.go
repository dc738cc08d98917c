//go:build linux || darwin

package curator

import (
	"errors"
	"os"
	"syscall"
)

// hold locks a file against all others, or is errBusy. The kernel drops the lock with the file, so also when the process is killed.
func hold(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errBusy
		}
		return os.NewSyscallError("flock", err)
	}
}
