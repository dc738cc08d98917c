package audit

import (
	"errors"
	"syscall"
)

// awaitEnd returns when a child has ended, and leaves it to be waited for: until then its number cannot be another's.
func awaitEnd(child int) {
	const byNumber = 1 // P_PID
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, byNumber, uintptr(child), 0,
			syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}
