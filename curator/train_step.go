package curator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/engine"
	"dither/internal/ledger"
	"dither/mechanism"
	"dither/noise"
)

// Done is how many steps were given in this process, and Recorded how many are: these are given again.
func (t *Trainer) Done() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.told
}

// Recorded is said there.
func (t *Trainer) Recorded() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sealed
}

// Step gives the next step, at the parameters θ, which are public: they follow from the steps before. A step that was recorded before is given
// again, for the same θ alone. Refusals leave the training as it was, and so does a ctx that ends; after a failure it has ended.
// But a step that is given up while its rows are read counts like a question that is given up: after ten the analyst
// is suspended.
func (t *Trainer) Step(ctx context.Context, theta []float64) (*Gradient, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	arrival := t.curator.clock.Now() // once the step before it is done
	switch {
	case t.ended:
		return nil, &Error{Code: CodeUsage, Message: "the training was given back, or failed", Hint: "ask for it again"}
	case t.told == t.Steps:
		return nil, &Error{Code: CodeUsage, Message: "the training has had all its steps"}
	case len(theta) != t.Parameters:
		return nil, &Error{Code: CodeUsage, Message: fmt.Sprintf("the model has %d parameters, and %d were given", t.Parameters, len(theta))}
	}
	for _, x := range theta {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, &Error{Code: CodeUsage, Message: "a parameter is no number: the training went astray", Hint: "take smaller steps"}
		}
	}
	at := parametersDigest(theta)
	if t.told == t.sealed {
		if err := t.recordDurable(); err != nil {
			return nil, t.unrecorded(err)
		}
	}
	if t.told < t.sealed {
		p := t.journal.records[t.told]
		if p.theta != at {
			return nil, &Error{
				Code: CodeUsage, Message: fmt.Sprintf("step %d was recorded at other parameters", t.told+1),
				Hint: "a training that goes on begins with the parameters that it began with, and takes the same steps",
			}
		}
		values, err := t.journal.read(p)
		if err != nil {
			return nil, t.curator.public(err)
		}
		return t.gradient(values, true), nil
	}
	leaves, err := t.curator.instantOf(t.look, arrival)
	if err != nil {
		return nil, err
	}
	values, err := t.draw(ctx, leaves, slices.Clone(theta)) // which a step that is not waited for still reads
	if err != nil {
		return nil, err
	}
	crashPoint("drawn")
	d, err := t.journal.append(at, values)
	if err != nil {
		_ = t.givenUp() // its rows were read: it counts
		return nil, t.unrecorded(err)
	}
	crashPoint("journalled")
	if err := t.record(t.told+1, d); err != nil {
		return nil, t.unrecorded(err)
	}
	crashPoint("recorded")
	return t.gradient(values, false), nil
}

// unrecorded ends the training here, since a step that is drawn is not recorded.
func (t *Trainer) unrecorded(err error) *Error {
	_ = t.give() // what it held has no name, or is durable
	if errors.Is(err, ledger.ErrNotReserved) {
		return t.curator.charged(failedElsewhere())
	}
	return t.withoutRecord(err)
}

// withoutRecord words an error of a step that the ledger does not take. When the training is asked for again, it does.
func (t *Trainer) withoutRecord(err error) *Error {
	e := t.curator.charged(err)
	if errors.Is(err, ledger.ErrNotWritten) {
		e.Hint = stepGivenUp().Hint
	}
	return e
}

// draw looks at the rows.
func (t *Trainer) draw(ctx context.Context, at *instant, theta []float64) ([]*big.Int, error) {
	c := t.curator
	if c.ledger.ReadOnly() { // what is read for it could be neither recorded nor counted
		return nil, t.curator.charged(ledger.ErrReadOnly)
	}
	state, err := c.ledger.State()
	if err != nil {
		return nil, t.curator.charged(err)
	}
	for _, name := range []string{t.look.analyst, t.payer} { // the ledger refuses a step of the latter's
		if err := state.Suspended(name); err != nil {
			return nil, t.curator.charged(err)
		}
	}
	if ctx.Err() != nil {
		return nil, afresh(t.fresh, stepGivenUp())
	}
	for _, v := range t.look.tables {
		now, err := c.current(v.Table)
		if err != nil {
			return nil, t.curator.charged(err)
		}
		if now.Number != v.Number && t.rows == nil {
			return nil, &Error{Code: CodeStale, Message: "the table was sealed again since the training began", Hint: "begin another one"}
		}
	}
	if t.rows == nil { // nothing is lost where the file is damaged by now: the step can be taken when it was restored
		release, err := c.hold(ctx, t.look.tables)
		if err != nil {
			return nil, t.curator.charged(err)
		}
		defer release()
	}
	if err := c.ledger.MakeRoom(t.id); err != nil { // else a step that is given up would not be counted
		return nil, t.withoutRecord(err)
	}
	if err := c.begins(at); err != nil {
		return nil, t.curator.charged(err)
	}
	known := t.rows
	d, err := watched(ctx, c, at, c.from(t.look), func(within context.Context, from engine.Sealed) (d drawn, err error) {
		if d.rows = known; d.rows == nil {
			if d.rows, err = c.stream(within, t.data, from); err != nil {
				return drawn{}, err
			}
		}
		if d.noisy, err = t.step.Step(within, d.rows, theta); err != nil {
			return d, err
		}
		if got, ok := d.noisy.Noise.(noise.RoundedGaussian); !ok || got.Sigma2().Cmp(t.noise.Sigma2()) != 0 {
			return d, errUnplanned
		}
		return d, nil
	})
	t.rows = d.rows // none where the step was not waited for: what it still reads is its own
	switch {
	case err == nil:
		return d.noisy.Values, nil
	case at == nil && ctx.Err() != nil, errors.Is(err, errGivenUp): // by the caller, be it a time that ran out: to give a step up, and to see how long it takes, is theirs at any moment. Nothing was told, and it can be taken again
		return nil, t.givenUp()
	}
	_ = t.give()
	return nil, c.lost(ctx, at, t.id, err)
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
func (t *Trainer) givenUp() error {
	switch err := t.curator.ledger.GiveUpStep(t.id, t.look.analyst); {
	case errors.Is(err, ledger.ErrNotReserved): // lost elsewhere meanwhile: going on here would count nothing
		_ = t.give()
		return t.curator.charged(failedElsewhere())
	case err != nil:
		t.curator.tellOwner(err) // it is not counted
	}
	return afresh(t.fresh, stepGivenUp())
}

// stepGivenUp: a training was paid when it began, and is lost by none of its steps.
func stepGivenUp() *Error {
	return &Error{
		Code: CodeCancelled, Charged: true, Retry: true,
		Message: "the training was given up; its price stays spent",
		Hint:    "asked for again, but not afresh, it goes on where it was, at no further cost",
	}
}

// gradient tells a step, and counts it.
func (t *Trainer) gradient(values []*big.Int, replayed bool) *Gradient {
	t.told++
	g := &Gradient{Step: t.told, Values: values, Unit: t.unit(), Noise: t.noise, Replayed: replayed, Mean: make([]float64, len(values))}
	for i, v := range values {
		f, _ := new(big.Float).SetInt(v).Float64()
		g.Mean[i] = math.Ldexp(f, t.grid) / t.Expected
	}
	return g
}

// Close gives back what the training holds. It can be asked for again, and goes on where it was.
func (t *Trainer) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.give()
}

func (t *Trainer) give() (err error) {
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
