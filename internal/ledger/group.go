package ledger

import (
	"errors"
	"runtime"
	"sync"
)

// member is an entry that a caller waits to have written.
type member struct {
	body Body
	may  func() error // further check, called under the lock; nil accepts
	most int64        // for a reservation: the bytes of values that may follow it

	index uint64
	err   error
	turn  chan bool // receives true if the caller must write the next batch, false if its entry is done
}

// grouped reports whether one write may contain m and other entries. A change of terms, or a charge that is not a
// reservation, is written alone.
func (m *member) grouped() bool {
	switch m.body.(type) {
	case Reservation, Release, Step, Failure, StepGivenUp:
		return true
	}
	return false
}

// maxBatch is the largest number of entries in one write.
const maxBatch = 64

// queue holds the entries of callers that wait while another caller writes. The first caller in the queue writes
// the next batch, with the entries of several callers.
type queue struct {
	mu      sync.Mutex
	waiting []*member
	led     bool // whether some caller writes or is about to; if false, nobody waits
}

// append writes an entry, perhaps in one batch with those of other callers. When append returns without an error,
// the entry is durable.
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

// join adds m to the queue, and reports whether m's caller must write the next batch.
func (q *queue) join(m *member) bool {
	m.turn = make(chan bool, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, m)
	leads := !q.led
	q.led = true
	return leads
}

// take removes the next batch from the queue and returns it. Its first member is that of the caller who writes it. The
// parameter most limits the number of members.
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

// done wakes the callers that waited for the batch, and the caller that writes the next one.
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

// lead writes the next batch, whose first member is the caller's.
func (l *Ledger) lead() {
	var batch []*member
	err := l.locked(func() error {
		most := maxBatch
		if l.alone {
			most = 1
		} else {
			runtime.Gosched() // lets callers whose entries were just written join this batch
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
	if batch == nil { // locked failed before any entry was tried
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

// unfound returns the members of a batch that were not written because the index is damaged. It clears their
// errors.
func unfound(batch []*member) (out []*member) {
	for _, m := range batch {
		if errors.Is(m.err, errIndex) {
			m.err = nil
			out = append(out, m)
		}
	}
	return out
}
