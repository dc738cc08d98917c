//go:build linux || darwin

package ledger

import (
	"errors"
	"os"
	"syscall"
)

// flock waits for the lock on f and takes it. The kernel releases the lock when the file is closed, also when the
// process is killed. Two open files exclude each other even if one process opened both.
func flock(f *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	return flockRetry(f, how)
}

// tryFlock takes the exclusive lock without waiting. If another open file holds it, the result taken is false.
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
