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

// Step returns the values of the next step at the public parameters θ, which may depend on earlier steps. A
// recorded step is returned again, but only for the same θ. A refusal, or a cancelled ctx, leaves the training as
// it was. A failure ends it. A step that is cancelled while its rows are read counts like a cancelled question.
func (t *Training) Step(
	ctx context.Context,
	theta []float64,
) (number int64, values []*big.Int, replayed bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	arrival := t.kernel.clock.Now() // after the step before it has ended
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
				How: OtherStep, Message: fmt.Sprintf("step %d was recorded with other parameters", t.told+1),
				Hint: "continue a training with the same initial parameters and the same steps",
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
	// a copy of θ, because a cancelled step may go on reading it after Step has returned
	if values, err = t.draw(ctx, leaves, slices.Clone(theta)); err != nil {
		return 0, nil, false, err
	}
	crashPoint("drawn")
	d, err := t.journal.append(at, values)
	if err != nil {
		_ = t.givenUp() // the rows were read, so this counts as a cancelled step
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

// unrecorded ends the training in this process, because a step was drawn but not recorded. It returns the error.
func (t *Training) unrecorded(err error) error {
	_ = t.give() // an error of give loses nothing: the rows' file has no name, and the journal is durable
	if errors.Is(err, ledger.ErrNotReserved) {
		err = ended(FailedElsewhere)
	}
	return afterwards(err)
}

// takes refuses a step beyond the training's last, and parameters that do not fit the model.
func (t *Training) takes(theta []float64) error {
	refused := func(how Ending, message, hint string) error {
		return &EndedError{How: how, Message: message, Hint: hint}
	}
	switch {
	case t.ended:
		return refused(Over, "the training was closed, or failed", "ask for it again")
	case t.told == t.terms.steps:
		return refused(Over, "the training has taken all its steps", "")
	case len(theta) != t.Parameters():
		return refused(Misused, fmt.Sprintf("the model has %d parameters, but %d were given", t.Parameters(), len(theta)), "")
	}
	for _, x := range theta {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return refused(Misused, "a parameter is not a number: the training diverged", "take smaller steps")
		}
	}
	return nil
}

// Told returns the number of steps that this process has returned.
func (t *Training) Told() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.told
}

// Recorded returns the number of steps in the ledger. Step returns these again.
func (t *Training) Recorded() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sealed
}

// Close releases the training's lock and memory. The training can be requested again, and then continues.
func (t *Training) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.give()
}

// draw reads the rows, computes the gradient of a step, and adds noise.
func (t *Training) draw(ctx context.Context, at *instant, theta []float64) ([]*big.Int, error) {
	k := t.kernel
	if k.ledger.ReadOnly() { // the step could be neither recorded nor counted as cancelled
		return nil, afterwards(ledger.ErrReadOnly)
	}
	state, err := k.ledger.State()
	if err != nil {
		return nil, afterwards(err)
	}
	for _, name := range []string{t.look.analyst, t.payer} { // the ledger refuses steps while the payer is suspended
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
				Hint:    "begin a new training",
			}
		}
	}
	// the sealed files are checked first: if one is damaged, nothing is lost, and the step can be taken once the
	// file is restored
	if t.rows == nil {
		release, err := k.hold(ctx, t.look.tables)
		if err != nil {
			return nil, afterwards(err)
		}
		defer release()
	}
	if err := k.ledger.MakeRoom(t.id); err != nil { // reserves disk space, so that a cancelled step can be counted
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
	t.rows = d.rows // nil if the step was not waited for: the step may still be using its rows
	switch {
	case err == nil:
		return d.noisy.Values, nil
	// The caller cancelled, or set a deadline that has expired. The caller may do so at any time, and sees how long
	// that takes. Nothing was returned, and the step can be repeated.
	case at == nil && ctx.Err() != nil, errors.Is(err, errGivenUp):
		return nil, t.givenUp()
	}
	_ = t.give()
	return nil, k.lost(ctx, at, t.id, err)
}

// drawn holds the noisy numbers of a step, and the rows that they were computed from. Later steps use the same rows.
type drawn struct {
	rows  *mechanism.Rows
	noisy mechanism.Measurement
}

func (d drawn) discard() {
	if d.rows != nil {
		_ = d.rows.Close() // the file has no name, so closing it deletes it
	}
}

// givenUp counts a step that was cancelled while its rows were read. The entry and its time depend on the caller
// only, not on what the engine has done.
func (t *Training) givenUp() error {
	switch err := t.kernel.ledger.GiveUpStep(t.id, t.look.analyst); {
	// another process has recorded the training's failure, so a step here would not be counted
	case errors.Is(err, ledger.ErrNotReserved):
		_ = t.give()
		return afterwards(ended(FailedElsewhere))
	case err != nil:
		t.kernel.tellOwner(err) // the cancelled step is not counted
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

// crashPoint is called at each point where a test may end the process.
var crashPoint = func(string) {}
