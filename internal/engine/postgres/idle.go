package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// linger is how long a connection waits for the question for which it was rehearsed.
const linger = 5 * time.Second

// most is how many connections wait at once, because questions refused after their rehearsal leave theirs behind.
const most = 8

// idle keeps the connections of rehearsals, so that the question itself, which is paid for by then, needs no new one.
type idle struct {
	busy  sync.Mutex
	free  []*waiting
	ended bool
}

type waiting struct {
	*session
	at    string
	timer *time.Timer
}

// put keeps a connection, outside any transaction, for a while.
func (i *idle) put(at string, s *session) {
	i.busy.Lock()
	defer i.busy.Unlock()
	if i.ended {
		s.end()
		return
	}
	w := &waiting{session: s, at: at}
	w.timer = time.AfterFunc(linger, func() {
		if i.remove(w) {
			s.end()
		}
	})
	i.free = append(i.free, w)
	if len(i.free) > most {
		i.free[0].timer.Stop()
		i.free[0].end()
		i.free = slices.Delete(i.free, 0, 1)
	}
}

func (i *idle) remove(w *waiting) bool {
	i.busy.Lock()
	defer i.busy.Unlock()
	n := slices.Index(i.free, w)
	if n >= 0 {
		i.free = slices.Delete(i.free, n, n+1)
	}
	return n >= 0
}

// take returns a connection to that server, or nil.
func (i *idle) take(at string) *session {
	i.busy.Lock()
	defer i.busy.Unlock()
	for n, w := range slices.Backward(i.free) {
		if w.at == at {
			w.timer.Stop()
			i.free = slices.Delete(i.free, n, n+1)
			return w.session
		}
	}
	return nil
}

// end closes all connections.
func (i *idle) end() {
	i.busy.Lock()
	defer i.busy.Unlock()
	i.ended = true
	for _, w := range i.free {
		w.timer.Stop()
		w.end()
	}
	i.free = nil
}

// begin begins a transaction on a waiting connection, or on a new one.
func (e *Engine) begin(ctx context.Context) (*session, error) {
	at := whereabouts(e.source)
	if s := e.idle.take(at); s != nil {
		if s.begin(ctx) == nil {
			return s, nil
		}
		s.end()
	}
	return e.beginAnew(ctx)
}

func (e *Engine) beginAnew(ctx context.Context) (*session, error) {
	config, err := configure(e.source)
	if err != nil {
		return nil, err
	}
	return beginAt(ctx, config)
}

func beginAt(ctx context.Context, config *pgconn.Config) (*session, error) {
	s, err := connect(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}
