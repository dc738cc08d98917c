package curator

import (
	"os"
	"syscall"
	"testing"
)

// asNobody makes this thread one of a user who is not root, to the file system.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setfsuid(0) })
}
