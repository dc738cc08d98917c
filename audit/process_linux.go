package audit

import (
	"errors"
	"syscall"
)

// awaitEnd returns when a child process has ended. It does not reap the child, so that the system cannot reuse its
// process number yet.
func awaitEnd(child int) {
	const byNumber = 1 // P_PID in C
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, byNumber, uintptr(child), 0,
			syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}
