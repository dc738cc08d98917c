package release

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/ledger"
	"dither/mechanism"
	"dither/noise"
)

// Step gives the values of the next step at the parameters θ, which are public: they follow from the steps before. A
// step that was recorded before is given again, for the same θ alone. Refusals leave the training as it was, and so
// does a ctx that ends; after a failure it has ended. A step that is given up while its rows are read counts like a
// question that is given up.
func (t *Training) Step(
	ctx context.Context,
	theta []float64,
) (number int64, values []*big.Int, replayed bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	arrival := t.kernel.clock.Now() // once the step before it is done
	if err := t.takes(theta); err != nil {
		return 0, nil, false, err
	}
	at := parametersDigest(theta)
	if t.told == t.sealed {
		if err := t.recordDurable(); err != nil {
			return 0, nil, false, t.unrecorded(err)
		}
	}
	if t.told < t.sealed {
		p := t.journal.records[t.told]
		if p.theta != at {
			return 0, nil, false, &EndedError{
				How: Misused, Message: fmt.Sprintf("step %d was recorded at other parameters", t.told+1),
				Hint: "a training that goes on begins with the parameters that it began with, and takes the same steps",
			}
		}
		if values, err = t.journal.read(p); err != nil {
			return 0, nil, false, err
		}
		t.told++
		return t.told, values, true, nil
	}
	leaves, err := t.kernel.instantOf(t.look, arrival)
	if err != nil {
		return 0, nil, false, err
	}
	// θ is cloned: a step that is not waited for still reads it
	if values, err = t.draw(ctx, leaves, slices.Clone(theta)); err != nil {
		return 0, nil, false, err
	}
	crashPoint("drawn")
	d, err := t.journal.append(at, values)
	if err != nil {
		_ = t.givenUp() // its rows were read: it counts
		return 0, nil, false, t.unrecorded(err)
	}
	crashPoint("journalled")
	if err := t.record(t.told+1, d); err != nil {
		return 0, nil, false, t.unrecorded(err)
	}
	crashPoint("recorded")
	t.told++
	return t.told, values, false, nil
}

// unrecorded ends the training here, since a step that is drawn is not recorded.
func (t *Training) unrecorded(err error) error {
	_ = t.give() // what it held has no name, or is durable
	if errors.Is(err, ledger.ErrNotReserved) {
		err = ended(FailedElsewhere)
	}
	return afterwards(err)
}

// takes refuses a step that the training does not have, and parameters that its model has not.
func (t *Training) takes(theta []float64) error {
	refused := func(how Ending, message, hint string) error {
		return &EndedError{How: how, Message: message, Hint: hint}
	}
	switch {
	case t.ended:
		return refused(Over, "the training was given back, or failed", "ask for it again")
	case t.told == t.terms.steps:
		return refused(Over, "the training has had all its steps", "")
	case len(theta) != t.Parameters():
		return refused(Misused, fmt.Sprintf("the model has %d parameters, and %d were given", t.Parameters(), len(theta)), "")
	}
	for _, x := range theta {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return refused(Misused, "a parameter is no number: the training went astray", "take smaller steps")
		}
	}
	return nil
}

// Told is the number of steps that this process has returned.
func (t *Training) Told() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.told
}

// Recorded is the number of steps that the ledger has. Step returns these again.
func (t *Training) Recorded() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sealed
}

// Close gives back what the training holds. It can be asked for again, and goes on where it was.
func (t *Training) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.give()
}

// draw looks at the rows.
func (t *Training) draw(ctx context.Context, at *instant, theta []float64) ([]*big.Int, error) {
	k := t.kernel
	if k.ledger.ReadOnly() { // what is read for it could be neither recorded nor counted
		return nil, afterwards(ledger.ErrReadOnly)
	}
	state, err := k.ledger.State()
	if err != nil {
		return nil, afterwards(err)
	}
	for _, name := range []string{t.look.analyst, t.payer} { // the ledger refuses a step of the latter's
		if err := state.Suspended(name); err != nil {
			return nil, afterwards(err)
		}
	}
	if ctx.Err() != nil {
		return nil, afterwards(ended(StepGivenUp))
	}
	for _, v := range t.look.tables {
		now, err := k.Current(v.Table)
		if err != nil {
			return nil, afterwards(err)
		}
		if now.Number != v.Number && t.rows == nil {
			return nil, &EndedError{
				How:     Resealed,
				Message: "the table was sealed again since the training began",
				Hint:    "begin another one",
			}
		}
	}
	if t.rows == nil { // nothing is lost where the file is damaged by now: the step can be taken when it was restored
		release, err := k.hold(ctx, t.look.tables)
		if err != nil {
			return nil, afterwards(err)
		}
		defer release()
	}
	if err := k.ledger.MakeRoom(t.id); err != nil { // else a step that is given up would not be counted
		return nil, afterwards(err)
	}
	if err := k.begins(at); err != nil {
		return nil, afterwards(err)
	}
	known, rows := t.rows, k.reader(t.look)
	d, err := watched(ctx, k, at, func(within context.Context) (d drawn, err error) {
		if d.rows = known; d.rows == nil {
			if d.rows, err = rows.vectors(within, t.data); err != nil {
				return drawn{}, err
			}
		}
		if d.noisy, err = t.terms.step.Step(within, d.rows, theta); err != nil {
			return d, err
		}
		if got, ok := d.noisy.Noise.(noise.RoundedGaussian); !ok || got.Sigma2().Cmp(t.noise.Sigma2()) != 0 {
			return d, ErrUnplanned
		}
		return d, nil
	})
	t.rows = d.rows // none where the step was not waited for: what it still reads is its own
	switch {
	case err == nil:
		return d.noisy.Values, nil
	// by the caller, be it a time that ran out: to give a step up, and to see how long it takes, is theirs at any
	// moment. Nothing was told, and it can be taken again
	case at == nil && ctx.Err() != nil, errors.Is(err, errGivenUp):
		return nil, t.givenUp()
	}
	_ = t.give()
	return nil, k.lost(ctx, at, t.id, err)
}

// drawn is a step, and the rows that it was drawn from, which later ones need too.
type drawn struct {
	rows  *mechanism.Rows
	noisy mechanism.Measurement
}

func (d drawn) discard() {
	if d.rows != nil {
		_ = d.rows.Close() // it has no name: nothing is left of it
	}
}

// givenUp counts a step that was given up while its rows were read. What is recorded, and when, follows from its
// caller alone, whatever the engine had come to.
func (t *Training) givenUp() error {
	switch err := t.kernel.ledger.GiveUpStep(t.id, t.look.analyst); {
	case errors.Is(err, ledger.ErrNotReserved): // lost elsewhere meanwhile: going on here would count nothing
		_ = t.give()
		return afterwards(ended(FailedElsewhere))
	case err != nil:
		t.kernel.tellOwner(err) // it is not counted
	}
	return afterwards(ended(StepGivenUp))
}

func (t *Training) give() (err error) {
	if t.ended {
		return nil
	}
	t.ended = true
	if t.rows != nil {
		err = t.rows.Close()
	}
	return errors.Join(err, t.journal.close())
}

// crashPoint is where tests end the process.
var crashPoint = func(string) {}
