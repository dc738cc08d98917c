package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"dither/internal/ledger"
)

// paidTraining is the reservation of a training, with the recorded steps that have been read from the ledger so
// far.
type paidTraining struct {
	Begun
	paid   ledger.Reservation
	read   uint64 // all entries before this one have been read
	closed bool   // the training gets no more entries
}

// PaidTrainings caches what was read of trainings from the ledger. So no entry is read twice, and entries without a
// training are not read.
type PaidTrainings struct {
	mu sync.Mutex
	at map[uint64]*paidTraining // by reservation; nil for a reservation that is no training
}

// of returns the training of a reservation, or nil if the reservation is no training.
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

// follow reads from the ledger the steps of the given trainings that it has not read yet, in one pass for all of them.
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

// take adds an entry to its training. It removes a training from the map open when no more entries can follow.
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

// begun returns the recorded state of a training's reservation, or nil if the training failed or was given up.
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
		err = fmt.Errorf("entry %d of the ledger has the key of a training, but is not a training", id)
	}
	if err != nil {
		return nil, err
	}
	out := t.Begun
	return &out, nil
}

// newest returns the newest reservation with the given replay key that is still open, or has its release.
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

// Unfinished returns the trainings that are neither finished nor failed, the oldest first. It includes only those
// whose reservation satisfies want.
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

// Counted sets the number of recorded steps of each training in the list `all`.
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

// recordedStep is the value of a step's ledger entry: the digest of its journal record.
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
