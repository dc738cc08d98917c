package ledger

import (
	"errors"
	"os"
	"syscall"
)

// fallocKeepSize is Linux's FALLOC_FL_KEEP_SIZE.
const fallocKeepSize = 1

func (f systemFile) Allocate(from, end int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), fallocKeepSize, from, end-from)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EINVAL):
			return errNoAllocate
		}
		return os.NewSyscallError("fallocate", err)
	}
}

// Sync makes the bytes and the size of f durable. It uses fdatasync, because nothing depends on the file's times.
func (f systemFile) Sync() error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
