package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"dither/internal/ledger"
)

// paidTraining is a reservation that Train made, and the steps that the ledger has of it, as far as it was read.
type paidTraining struct {
	begun
	paid ledger.Reservation
	read uint64 // entries before this one were read
}

// paidTrainings keeps what was read of trainings, so that no call reads the ledger again, and none reads what has
// nothing to do with a training.
type paidTrainings struct {
	mu sync.Mutex
	at map[uint64]*paidTraining // by reservation; nil of what is no training
}

// of is the training of a reservation; nil where that is none.
func (p *paidTrainings) of(l *ledger.Ledger, id uint64) (*paidTraining, error) {
	if t, known := p.at[id]; known {
		return t, nil
	}
	e, err := l.Entry(id)
	if err != nil {
		return nil, err
	}
	if p.at == nil {
		p.at = map[uint64]*paidTraining{}
	}
	var t *paidTraining
	if r, ok := e.Body.(ledger.Reservation); ok && isTraining(r) {
		t = &paidTraining{begun{entry: e.Hash, payer: r.Analyst}, r, id + 1}
	}
	p.at[id] = t
	return t, nil
}

var errAllRead = errors.New("all is read")

// steps reads those that the ledger has by now.
func (p *paidTrainings) steps(l *ledger.Ledger, id uint64) (*paidTraining, error) {
	t, err := p.of(l, id)
	if err != nil || t == nil || t.ended {
		return t, err
	}
	err = l.EntriesFrom(t.read, func(e ledger.Entry) error {
		var err error
		switch b := e.Body.(type) {
		case ledger.Step:
			if b.Reservation == id {
				err = appendDigest(&t.steps, b.Values)
			}
		case ledger.Release:
			if b.Reservation == id {
				if err = appendDigest(&t.steps, b.Values); err == nil {
					t.ended, err = true, errAllRead
				}
			}
		case ledger.Failure:
			if b.Reservation == id {
				err = errAllRead
			}
		}
		if err == nil {
			t.read = e.Index + 1
		}
		return err
	})
	if errors.Is(err, errAllRead) {
		err = nil
	}
	return t, err
}

// begun is what the ledger has of a reservation of a training; nil where that failed, or was given up.
func (p *paidTrainings) begun(l *ledger.Ledger, id uint64) (*begun, error) {
	there, err := l.Waits(id)
	if err == nil && !there {
		_, there, err = l.AnswerOf(id)
	}
	if err != nil || !there {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t, err := p.steps(l, id)
	if err == nil && t == nil {
		err = fmt.Errorf("entry %d of the ledger has the key of a training, and is none", id)
	}
	if err != nil {
		return nil, err
	}
	out := t.begun
	return &out, nil
}

// newest is the newest reservation under a key that is open, or has its release.
func (p *paidTrainings) newest(l *ledger.Ledger, key string) (id uint64, found bool, err error) {
	all, err := p.unfinished(l, func(r ledger.Reservation) bool { return r.Key == key })
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

// unfinished finds the trainings that are not finished and did not fail, oldest first, of which want takes what was
// paid.
func (p *paidTrainings) unfinished(l *ledger.Ledger, want func(ledger.Reservation) bool) (out []unfinished, err error) {
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
			out = append(out, unfinished{id: u.Reservation, paid: t.paid, givenUp: u.Abandoned})
		}
	}
	return out, nil
}

// counted notes how many steps are recorded of each.
func (p *paidTrainings) counted(l *ledger.Ledger, all []unfinished) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range all {
		t, err := p.steps(l, all[i].id)
		if err != nil {
			return err
		}
		all[i].steps = len(t.steps)
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
