package audit

import (
	"sync"
	"syscall"
)

// group is the processes that a process started and that did not leave it. Its number is the leader's, and is nobody
// else's until the leader is waited for.
type group struct {
	leader int
	mu     sync.Mutex
	gone   bool
}

// kill ends them all.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		_ = syscall.Kill(-g.leader, syscall.SIGKILL) // they may have ended
	}
}

// reaped must be called before the leader is waited for: from then on nobody is killed.
func (g *group) reaped() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
}
