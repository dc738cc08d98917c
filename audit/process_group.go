package audit

import (
	"sync"
	"syscall"
)

// group is a process group: a process and those of its children that did not leave the group. The group's number is
// the leader's process number. The system does not reuse it before the leader has been waited for.
type group struct {
	leader int
	mu     sync.Mutex
	gone   bool
}

// kill kills all processes of the group. After a call of reaped it does nothing.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		_ = syscall.Kill(-g.leader, syscall.SIGKILL) // an error only means that all processes have ended
	}
}

// reaped turns kill off. It must be called before the leader is waited for, because the system may then reuse the
// group's number.
func (g *group) reaped() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
}
