package pgtest

import "syscall"

// mortal makes a process end when the tests end, however they end.
func mortal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} }
