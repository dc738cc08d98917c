package curator

import (
	"sync"
	"time"
)

// fakeClock is a clock that goes on when it is told.
type fakeClock struct {
	mu      sync.Mutex
	now     time.Time
	waiting map[*fakeWait]bool
	changed *sync.Cond
}

type fakeWait struct {
	at      time.Time
	reached chan time.Time
}

func newFakeClock() *fakeClock {
	f := &fakeClock{now: time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC), waiting: map[*fakeWait]bool{}}
	f.changed = sync.NewCond(&f.mu)
	return f
}

func (f *fakeClock) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fakeClock) Reaching(at time.Time) (<-chan time.Time, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := &fakeWait{at: at, reached: make(chan time.Time, 1)}
	f.waiting[w] = true
	f.ring()
	f.changed.Broadcast()
	return w.reached, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.waiting, w)
		f.changed.Broadcast()
	}
}

// ring tells those whose time has come. The caller holds the lock.
func (f *fakeClock) ring() {
	for w := range f.waiting {
		if !w.at.After(f.now) {
			w.reached <- f.now
			delete(f.waiting, w)
		}
	}
}

// next waits until somebody waits, and gives what for.
func (f *fakeClock) next() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.waiting) == 0 {
		f.changed.Wait()
	}
	var first time.Time
	for w := range f.waiting {
		if first.IsZero() || w.at.Before(first) {
			first = w.at
		}
	}
	return first
}

// set moves the clock on.
func (f *fakeClock) set(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = at
	f.ring()
}
