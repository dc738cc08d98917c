//go:build linux || darwin

package ledger

import (
	"errors"
	"os"
	"syscall"
)

// flock waits for the lock on f's open file. The kernel releases it when the file is closed, and so also when the
// process is killed. Two files that one process opened exclude each other like those of two processes.
func flock(f *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	return flockRetry(f, how)
}

// tryFlock is flock that does not wait.
func tryFlock(f *os.File) (taken bool, err error) {
	err = flockRetry(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func funlock(f *os.File) error { return flockRetry(f, syscall.LOCK_UN) }

func flockRetry(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}
