package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// context is that of whatever asks an engine. It ends when the person interrupts the program, or whoever runs it ends it: then the statement is cancelled, on
// its server too, and the ledger has a word on what was charged. A second signal kills at once, as do all of them
// before anything was asked of an engine.
func (s *session) context() context.Context {
	if s.ctx != nil {
		return s.ctx
	}
	ctx, cancel := context.WithCancel(context.Background())
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // as nohup has it
			signal.Notify(signals, sig)
		}
	}
	go func() {
		select {
		case <-signals:
		case <-done:
			return
		}
		signal.Stop(signals) // so the next one does what it does by default
		cancel()
		select {
		case <-time.After(patience):
			s.note("giving up …; another signal ends it at once\n")
		case <-done:
		}
	}()
	s.ctx = ctx
	s.forget = func() {
		close(done)
		signal.Stop(signals)
		cancel()
	}
	return ctx
}
