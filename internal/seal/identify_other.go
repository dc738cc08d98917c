//go:build !linux

package seal

import "os"

// identify returns nothing here: each process reads a file once more.
func identify(*os.File) (identity, bool) { return identity{}, false }
