package console

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Context is that of whatever asks an engine. It ends when the person interrupts the program, or whoever runs it ends it: then the statement is cancelled, on
// its server too, and the ledger has a word on what was charged. A second signal kills at once, as do all of them
// before anything was asked of an engine.
func (s *Console) Context() context.Context {
	if s.ctx != nil {
		return s.ctx
	}
	ctx, cancel := context.WithCancel(context.Background())
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	if heeded := heeded(); len(heeded) > 0 {
		signal.Notify(signals, heeded...)
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
		case <-time.After(Patience):
			s.Note("giving up …; another signal ends it at once\n")
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

// heeded are the signals that end what goes on: those that whoever started the program did not have ignored, as nohup has.
func heeded() (out []os.Signal) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			out = append(out, sig)
		}
	}
	return out
}

// Interruptible ends at one of them, and forgets them when it is stopped.
func Interruptible() (ctx context.Context, stop context.CancelFunc) {
	if heeded := heeded(); len(heeded) > 0 { // none would be all
		return signal.NotifyContext(context.Background(), heeded...)
	}
	return context.WithCancel(context.Background())
}
