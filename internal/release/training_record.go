package release

import (
	"encoding/json"
	"fmt"

	"dither/internal/ledger"
)

// Begun is a training's reservation in the ledger: the hash of its entry, the payer, the digests of the recorded steps,
// and whether the training has ended.
type Begun struct {
	entry ledger.Hash
	payer string
	steps []string
	ended bool
}

// Steps returns the number of steps recorded in the ledger.
func (b Begun) Steps() int { return len(b.steps) }

// Earlier finds the newest reservation with the replay key of this training that has not failed. With fresh it finds
// none.
func (t *Training) Earlier(fresh bool) (newest Begun, found bool, err error) {
	if fresh {
		return Begun{}, false, nil
	}
	known, l := &t.kernel.trainings, t.kernel.ledger
	for {
		id, found, err := known.newest(l, t.look.key)
		if err != nil || !found {
			return Begun{}, false, err
		}
		b, err := known.begun(l, id)
		if err != nil {
			return Begun{}, false, err
		}
		if b != nil { // otherwise it failed just now, and the next one is examined
			t.id = id
			return *b, true, nil
		}
	}
}

// record writes a step that is durable in the journal into the ledger. The last step becomes the training's
// release.
func (t *Training) record(step int64, d digest) error {
	values, err := json.Marshal(recordedStep{d.String()})
	if err != nil {
		return err
	}
	if step == t.terms.steps {
		err = t.kernel.ledger.Release(t.id, values)
	} else {
		err = t.kernel.ledger.Step(
			ledger.Step{Reservation: t.id, Question: fmt.Sprintf("step %d of %d", step, t.terms.steps), Values: values},
		)
	}
	if err == nil {
		t.sealed = step
	}
	return err
}
