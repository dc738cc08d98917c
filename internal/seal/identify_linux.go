package seal

import (
	"os"
	"syscall"
)

// identify returns a file's identity, and false if the system does not provide one.
func identify(f *os.File) (identity, bool) {
	info, err := f.Stat()
	if err != nil {
		return identity{}, false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, false
	}
	return identity{
		uint64(s.Dev), //nolint:unconvert // Dev has fewer bits on some platforms
		s.Ino,
		s.Size,
		s.Mtim.Nano(),
		s.Ctim.Nano(),
	}, true
}
