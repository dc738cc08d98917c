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

// Step gives the next step, at the parameters θ, which are public: they follow from the steps before. A step that was recorded before is given
// again, for the same θ alone. Refusals leave the training as it was, and so does a ctx that ends; after a failure it has ended.
// But a step that is given up while its rows are read counts like a question that is given up: after ten the analyst
// is suspended.
func (t *Trainer) Step(ctx context.Context, theta []float64) (*Gradient, error) {
	number, values, replayed, err := t.training.Step(ctx, theta)
	if err != nil {
		e := t.curator.public(err)
		if errors.Is(err, ledger.ErrNotWritten) { // the step is drawn, and is recorded when the training is asked for again
			e.Hint = stepGivenUp().Hint
		}
		return nil, afresh(t.training.Look().Fresh(), e)
	}
	return t.gradient(number, values, replayed), nil
}

// stepGivenUp: a training was paid when it began, and is lost by none of its steps.
func stepGivenUp() *Error {
	return &Error{
		Code: CodeCancelled, Charged: true, Retry: true,
		Message: "the training was given up; its price stays spent",
		Hint:    "asked for again, but not afresh, it goes on where it was, at no further cost",
	}
}

// gradient tells a step.
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

// Close gives back what the training holds. It can be asked for again, and goes on where it was.
func (t *Trainer) Close() error { return t.training.Close() }
