package seal

import (
	"os"
	"syscall"
)

// identify tells what a file is known by; false where the system does not say.
func identify(f *os.File) (identity, bool) {
	info, err := f.Stat()
	if err != nil {
		return identity{}, false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, false
	}
	return identity{uint64(s.Dev), s.Ino, s.Size, s.Mtim.Nano(), s.Ctim.Nano()}, true //nolint:unconvert // Dev is narrower elsewhere
}
