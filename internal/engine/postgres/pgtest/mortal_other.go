//go:build unix && !linux

package pgtest

import "syscall"

// mortal leaves it to Main to end the server.
func mortal() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
