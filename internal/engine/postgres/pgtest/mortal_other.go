//go:build unix && !linux

package pgtest

import "syscall"

// mortal returns no special attributes: on this system, only Main and Stop end the server.
func mortal() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
