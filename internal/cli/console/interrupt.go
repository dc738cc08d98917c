package console

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Context returns the context of all requests to an engine. An interrupt, SIGTERM or SIGHUP cancels it. The running
// statement is then cancelled, also on a server, and the ledger records that its question was given up. A second
// signal ends the program at once, as does any signal before the first call of Context.
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
		signal.Stop(signals) // restore the default effect of a second signal
		cancel()
		select {
		case <-time.After(Patience):
			s.Note("cancelling …; send another signal to stop at once\n")
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

// heeded returns the signals that cancel the context. It leaves out signals that the program's starter has set to
// be ignored, as nohup does.
func heeded() (out []os.Signal) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			out = append(out, sig)
		}
	}
	return out
}

// Interruptible returns a context that an interrupt, SIGTERM or SIGHUP cancels, unless the signal is ignored. stop
// stops listening for these signals.
func Interruptible() (ctx context.Context, stop context.CancelFunc) {
	if heeded := heeded(); len(heeded) > 0 { // without arguments, NotifyContext would listen for every signal
		return signal.NotifyContext(context.Background(), heeded...)
	}
	return context.WithCancel(context.Background())
}
