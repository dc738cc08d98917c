package ledger

import (
	"errors"
	"runtime"
	"sync"
)

// member is one entry that a caller waits for.
type member struct {
	body Body
	may  func() error // asked under the lock; nil refuses nothing
	most int64        // of a reservation: bytes of values that follow it

	index uint64
	err   error
	turn  chan bool // true: the caller writes the next batch; false: the entry is done
}

// grouped reports whether other entries may be written with m. A change of terms, or of charges beside answers, gets a
// write of its own.
func (m *member) grouped() bool {
	switch m.body.(type) {
	case Reservation, Release, Step, Failure, StepGivenUp:
		return true
	}
	return false
}

// maxBatch is how many entries one write has at most.
const maxBatch = 64

// queue holds the callers that wait while another writes. The first of them leads the next batch.
type queue struct {
	mu      sync.Mutex
	waiting []*member
	led     bool // a caller writes or is about to; otherwise nobody waits
}

// append writes an entry, together with those of other waiting callers. On return it is durable.
func (l *Ledger) append(m *member) (uint64, error) {
	if err := m.body.validate(); err != nil {
		return 0, err
	}
	if l.frozen {
		return 0, ErrReadOnly
	}
	if l.queue.join(m) || <-m.turn {
		l.lead()
	}
	if m.err != nil {
		return 0, m.err
	}
	l.keepShort()
	return m.index, nil
}

// join reports whether m leads.
func (q *queue) join(m *member) bool {
	m.turn = make(chan bool, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, m)
	leads := !q.led
	q.led = true
	return leads
}

// take returns the next batch. Its first member is the leader.
func (q *queue) take(most int) []*member {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 1
	for q.waiting[0].grouped() && n < min(most, len(q.waiting)) && q.waiting[n].grouped() {
		n++
	}
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	return batch
}

// done ends the batch: it calls the next leader, and the callers that waited for the batch.
func (q *queue) done(batch []*member) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.led = len(q.waiting) > 0; q.led {
		q.waiting[0].turn <- true
	}
	for _, m := range batch[1:] {
		m.turn <- false
	}
}

// lead writes the batch whose first member is the caller.
func (l *Ledger) lead() {
	var batch []*member
	err := l.locked(func() error {
		most := maxBatch
		if l.alone {
			most = 1
		} else {
			runtime.Gosched() // so that callers that the last batch has just answered can join this one
		}
		batch = l.queue.take(most)
		l.write(batch)
		if lost := unfound(batch); len(lost) > 0 { // the index is damaged: try these again without it
			l.unindex()
			if err := l.refresh(); err != nil {
				refuse(lost, err)
			} else {
				l.write(lost)
			}
		}
		l.noteDue()
		return nil
	})
	if batch == nil { // nothing was tried
		batch = l.queue.take(maxBatch)
		refuse(batch, err)
	}
	l.queue.done(batch)
}

func refuse(batch []*member, err error) {
	for _, m := range batch {
		m.err = err
	}
}

// unfound returns the members of a batch that were not written because the index is damaged, and clears their errors.
func unfound(batch []*member) (out []*member) {
	for _, m := range batch {
		if errors.Is(m.err, errIndex) {
			m.err = nil
			out = append(out, m)
		}
	}
	return out
}
