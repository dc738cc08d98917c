package curator

import (
	"encoding/json"
	"fmt"

	"dither/internal/ledger"
)

// begun is what the ledger has of a reservation of a training: the hash of its entry, the digests of its steps, and whether they are all.
type begun struct {
	entry ledger.Hash
	steps []string
	ended bool
}

// earlier finds the newest reservation of this very training that has not failed.
func (t *Trainer) earlier(fresh bool) (newest begun, found bool, err error) {
	if fresh {
		return begun{}, false, nil
	}
	all, err := t.begun()
	for id, b := range all {
		if id >= t.id {
			t.id, newest, found = id, *b, true
		}
	}
	return newest, found, err
}

// begun finds all of them.
func (t *Trainer) begun() (map[uint64]*begun, error) {
	open := map[uint64]*begun{}
	err := t.curator.ledger.Entries(func(e ledger.Entry) error {
		switch b := e.Body.(type) {
		case ledger.Reservation:
			if b.Key == t.look.key {
				open[e.Index] = &begun{entry: e.Hash}
			}
		case ledger.Step:
			if s := open[b.Reservation]; s != nil {
				return appendDigest(&s.steps, b.Values)
			}
		case ledger.Release:
			if s := open[b.Reservation]; s != nil {
				s.ended = true
				return appendDigest(&s.steps, b.Values)
			}
		case ledger.Failure:
			delete(open, b.Reservation)
		}
		return nil
	})
	return open, err
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

// record makes the ledger have a step that is durable: the last one is the training's release.
func (t *Trainer) record(step int64, d digest) error {
	values, err := json.Marshal(recordedStep{d.String()})
	if err != nil {
		return err
	}
	if step == t.Steps {
		err = t.curator.ledger.Release(t.id, values)
	} else {
		err = t.curator.ledger.Step(ledger.Step{Reservation: t.id, Question: fmt.Sprintf("step %d of %d", step, t.Steps), Values: values})
	}
	if err == nil {
		t.sealed = step
	}
	return err
}
