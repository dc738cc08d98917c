//go:build unix && !linux

package pgtest

import "syscall"

// mortal does nothing here: Main ends the server.
func mortal() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
