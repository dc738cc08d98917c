package curator

import (
	"context"
	"errors"
	"math"
	"math/big"

	"dither/internal/ledger"
)

// Done is the number of steps that this process has returned.
func (t *Trainer) Done() int64 { return t.training.Told() }

// Recorded is the number of steps that are recorded. Step returns these again.
func (t *Trainer) Recorded() int64 { return t.training.Recorded() }

// Step runs the next step at the public parameters θ, which may depend on earlier steps. A recorded step is
// returned again, but only for the same θ. A refusal, or a cancelled ctx, leaves the training as it was. A failure
// ends it. A step that is cancelled while its rows are read counts like a cancelled question: after ten of these,
// the analyst is suspended.
func (t *Trainer) Step(ctx context.Context, theta []float64) (*Gradient, error) {
	number, values, replayed, err := t.training.Step(ctx, theta)
	if err != nil {
		e := t.curator.public(err)
		// the noise is drawn already; the step is recorded when the training is requested again
		if errors.Is(err, ledger.ErrNotWritten) {
			e.Hint = stepGivenUp().Hint
		}
		return nil, afresh(t.training.Look().Fresh(), e)
	}
	return t.gradient(number, values, replayed), nil
}

// stepGivenUp returns the error for a cancelled step. The training stays paid and can continue.
func stepGivenUp() *Error {
	return &Error{
		Code: CodeCancelled, Charged: true, Retry: true,
		Message: "the training was cancelled; its price stays spent",
		Hint:    "ask for it again without Fresh: it continues where it stopped, at no further cost",
	}
}

// gradient returns the public form of a step.
func (t *Trainer) gradient(number int64, values []*big.Int, replayed bool) *Gradient {
	g := &Gradient{
		Step:     number,
		Values:   values,
		Unit:     t.unit(),
		Noise:    t.training.Noise(),
		Replayed: replayed,
		Mean:     make([]float64, len(values)),
	}
	for i, v := range values {
		f, _ := new(big.Float).SetInt(v).Float64()
		g.Mean[i] = math.Ldexp(f, t.training.Grid()) / t.Expected
	}
	return g
}

// Close releases the training's lock and memory. The training can be requested again, and then continues.
func (t *Trainer) Close() error { return t.training.Close() }
