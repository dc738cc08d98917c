package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// linger is how long the connection of a rehearsal is kept for the question that was rehearsed.
const linger = 5 * time.Second

// most is the largest number of waiting connections. Questions that are refused after their rehearsal leave their
// connections behind.
const most = 8

// idle keeps the connections of rehearsals. So the question itself, which is paid by then, has a connection that
// works.
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

// put keeps a connection, on which no transaction is open, for a later question, for the time linger. The text `at`
// identifies its server.
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

// take removes and returns a waiting connection to the server that the text `at` identifies, or nil if there is none.
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

// end closes all waiting connections. Later calls of put close theirs at once.
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

// begin begins a transaction on a waiting connection, or on a new one if none works.
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
