package curator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

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
func (t *Trainer) Step(ctx context.Context, theta []float64) (*Gradient, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
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
			return nil, public(err)
		}
		return t.gradient(values, true), nil
	}
	values, err := t.draw(ctx, theta)
	if err != nil {
		return nil, err
	}
	crashPoint("drawn")
	d, err := t.journal.append(at, values)
	if err == nil {
		crashPoint("journalled")
		err = t.record(t.told+1, d)
	}
	if err != nil {
		_ = t.give() // what it held has no name, or is durable
		if errors.Is(err, ledger.ErrNotReserved) {
			return nil, charged(failedElsewhere())
		}
		e := charged(err)
		if errors.Is(err, ledger.ErrNotWritten) { // the step is drawn, and is recorded when the training is asked for again
			e.Hint = stepGivenUp().Hint
		}
		return nil, e
	}
	crashPoint("recorded")
	return t.gradient(values, false), nil
}

// draw looks at the rows.
func (t *Trainer) draw(ctx context.Context, theta []float64) ([]*big.Int, error) {
	c := t.curator
	state, err := c.ledger.State()
	if err != nil {
		return nil, charged(err)
	}
	if state.Failures >= ledger.MaxFailures {
		return nil, charged(ledger.ErrSuspended)
	}
	if ctx.Err() != nil {
		return nil, afresh(t.fresh, stepGivenUp())
	}
	for _, v := range t.look.tables {
		now, err := c.current(v.Table)
		if err != nil {
			return nil, charged(err)
		}
		if now.Number != v.Number && t.rows == nil {
			return nil, &Error{Code: CodeStale, Message: "the table was sealed again since the training began", Hint: "begin another one"}
		}
	}
	if t.rows == nil { // nothing is lost where the file is damaged by now: the step can be taken when it was restored
		release, err := c.hold(ctx, t.look.tables)
		if err != nil {
			return nil, charged(err)
		}
		defer release()
	}
	var noisy mechanism.Measurement
	_, err = c.watched(ctx, c.from(t.look), func(within context.Context, from engine.Sealed) (_ [][]*big.Int, err error) {
		if t.rows == nil {
			if t.rows, err = c.stream(within, t.data, from); err != nil {
				return nil, err
			}
		}
		if noisy, err = t.step.Step(within, t.rows, theta); err != nil {
			return nil, err
		}
		if got, ok := noisy.Noise.(noise.RoundedGaussian); !ok || got.Sigma2().Cmp(t.noise.Sigma2()) != 0 {
			return nil, errUnplanned
		}
		return nil, nil
	})
	switch {
	case err == nil:
		return noisy.Values, nil
	case ctx.Err() != nil: // the caller's, be it a time that ran out: to give a step up, and to see how long it takes, is theirs at any moment. Nothing was told, and it can be taken again
		return nil, afresh(t.fresh, stepGivenUp())
	}
	_ = t.give()
	return nil, c.lost(ctx, t.id, err)
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
