package pgtest

import "syscall"

// mortal returns attributes of a process that make it end when the tests end, for whatever reason.
func mortal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} }
