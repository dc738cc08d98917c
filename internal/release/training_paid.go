package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"dither/internal/ledger"
)

// paidTraining is a reservation that Train made, and the steps that the ledger has of it, as far as it was read.
type paidTraining struct {
	Begun
	paid   ledger.Reservation
	read   uint64 // entries before this one were read
	closed bool   // it gets no more entries
}

// PaidTrainings keeps what was read of trainings, so that no call reads the ledger again, and none reads what has
// nothing to do with a training.
type PaidTrainings struct {
	mu sync.Mutex
	at map[uint64]*paidTraining // by reservation; nil of what is no training
}

// of is the training of a reservation; nil where that is none.
func (p *PaidTrainings) of(l *ledger.Ledger, id uint64) (*paidTraining, error) {
	if t, known := p.at[id]; known {
		return t, nil
	}
	e, has, err := l.EntryHaving(id, SubsampledGaussian)
	if err != nil {
		return nil, err
	}
	if p.at == nil {
		p.at = map[uint64]*paidTraining{}
	}
	var t *paidTraining
	if r, ok := e.Body.(ledger.Reservation); has && ok && isTraining(r) {
		t = &paidTraining{Begun: Begun{entry: e.Hash, payer: r.Analyst}, paid: r, read: id + 1}
	}
	p.at[id] = t
	return t, nil
}

var errAllRead = errors.New("all is read")

// follow reads the steps of trainings that the ledger has by now: what one of them lacks is read once for all.
func (p *PaidTrainings) follow(l *ledger.Ledger, ids ...uint64) error {
	open, next := map[uint64]*paidTraining{}, uint64(math.MaxUint64)
	for _, id := range ids {
		t, err := p.of(l, id)
		if err != nil {
			return err
		}
		if t != nil && !t.closed {
			open[id], next = t, min(next, t.read)
		}
	}
	if len(open) == 0 {
		return nil
	}
	err := l.EntriesFrom(next, func(e ledger.Entry) error {
		if err := take(open, e); err != nil {
			return err
		}
		if next = e.Index + 1; len(open) == 0 {
			return errAllRead
		}
		return nil
	})
	for _, t := range open {
		t.read = max(t.read, next)
	}
	if errors.Is(err, errAllRead) {
		err = nil
	}
	return err
}

// take notes an entry of one of these trainings. One that gets no more entries is no longer open.
func take(open map[uint64]*paidTraining, e ledger.Entry) (err error) {
	switch b := e.Body.(type) {
	case ledger.Step:
		if t := open[b.Reservation]; t != nil && e.Index >= t.read {
			err = appendDigest(&t.steps, b.Values)
		}
	case ledger.Release:
		if t := open[b.Reservation]; t != nil {
			if err = appendDigest(&t.steps, b.Values); err == nil {
				t.ended, t.closed = true, true
				delete(open, b.Reservation)
			}
		}
	case ledger.Failure:
		if t := open[b.Reservation]; t != nil {
			t.closed = true
			delete(open, b.Reservation)
		}
	}
	return err
}

// begun is what the ledger has of a reservation of a training; nil where that failed, or was given up.
func (p *PaidTrainings) begun(l *ledger.Ledger, id uint64) (*Begun, error) {
	there, err := l.Waits(id)
	if err == nil && !there {
		_, there, err = l.AnswerOf(id)
	}
	if err != nil || !there {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err = p.follow(l, id)
	t := p.at[id]
	if err == nil && t == nil {
		err = fmt.Errorf("entry %d of the ledger has the key of a training, and is none", id)
	}
	if err != nil {
		return nil, err
	}
	out := t.Begun
	return &out, nil
}

// newest is the newest reservation under a key that is open, or has its release.
func (p *PaidTrainings) newest(l *ledger.Ledger, key string) (id uint64, found bool, err error) {
	all, err := p.Unfinished(l, func(r ledger.Reservation) bool { return r.Key == key })
	if err != nil {
		return 0, false, err
	}
	for _, u := range all {
		if !u.givenUp {
			id, found = u.id, true
		}
	}
	answer, released, err := l.Find(key)
	if released && (!found || answer.Reserved > id) {
		id, found = answer.Reserved, true
	}
	return id, found, err
}

// Unfinished finds the trainings that are not finished and did not fail, oldest first, of which want takes what was
// paid.
func (p *PaidTrainings) Unfinished(
	l *ledger.Ledger,
	want func(ledger.Reservation) bool,
) (out []UnfinishedTraining, err error) {
	all, err := l.Unreleased()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range all {
		t, err := p.of(l, u.Reservation)
		if err != nil {
			return nil, err
		}
		if t != nil && want(t.paid) {
			out = append(out, UnfinishedTraining{id: u.Reservation, paid: t.paid, givenUp: u.Abandoned})
		}
	}
	return out, nil
}

// Counted notes how many steps are recorded of each.
func (p *PaidTrainings) Counted(l *ledger.Ledger, all []UnfinishedTraining) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make([]uint64, len(all))
	for i, u := range all {
		ids[i] = u.id
	}
	if err := p.follow(l, ids...); err != nil {
		return err
	}
	for i, u := range all {
		all[i].steps = len(p.at[u.id].steps)
	}
	return nil
}

// recordedStep is what the ledger has of a step.
type recordedStep struct {
	SHA256 string `json:"sha256"`
}

func appendDigest(known *[]string, values json.RawMessage) error {
	var r recordedStep
	if err := json.Unmarshal(values, &r); err != nil || len(r.SHA256) != 2*len(digest{}) {
		return fmt.Errorf("a recorded step of a training is unreadable")
	}
	*known = append(*known, r.SHA256)
	return nil
}
