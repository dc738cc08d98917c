//go:build !linux

package seal

import "os"

// identify returns no identity on this system, so each process reads every file once.
func identify(*os.File) (identity, bool) { return identity{}, false }
