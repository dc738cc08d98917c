package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/release"
	"dither/noise"
)

// Kinds of a [TrainedModel].
const (
	LinearModel   = "linear"   // linear regression, with half the squared residual as loss
	LogisticModel = "logistic" // logistic regression, for a response from 0 to 1
	PoissonModel  = "poisson"  // Poisson regression, for a count
	SoftmaxModel  = "softmax"  // for a class from 0 to Classes − 1
	NetworkModel  = "network"  // one hidden layer, with the softmax loss; with one class, a regression
)

// TrainedModel is the model to train. Package internal/gradient documents the order of its parameters. Matrices are
// stored by row.
type TrainedModel struct {
	Kind       string
	Classes    int    // the number of classes, for SoftmaxModel and NetworkModel
	Hidden     int    // the number of hidden units, for NetworkModel
	Activation string // the activation of the hidden units: "tanh" (or ""), or "relu"
}

// Training asks for noisy gradients of a model over the rows of a question: SELECT x1, x2, …, y FROM t WHERE ….
// Rows with a NULL in the SELECT list do not count. All parameters are public and fixed in advance. Numbers are
// decimals in text, and Rate may be a fraction.
//
// The price pays for all steps together: it is an ε that provably holds at Delta, by the privacy loss distribution
// of the steps. The budget, which must have a δ, is charged ρ = ε²/2 and Delta. Set Epsilon or Multiplier, not
// both; Rho must be empty. Without Multiplier, the kernel finds the least multiplier at which all steps together
// cost Epsilon.
type Training struct {
	Request
	Delta string // the δ of the price, a decimal; "" is the policy's default
	Model TrainedModel
	// the bound of the predictors' L2 norm: a longer vector is scaled down to it. "" takes the norm that the ranges
	// of the predictors imply
	Bound      string
	Clip       string // the bound on the L2 norm of what one unit adds to a step
	Rate       string // the probability with which a unit is sampled for a step, such as 256/60000
	Multiplier string // the noise multiplier: the noise's σ is Multiplier × Clip
	Steps      int64
	// Rows is the approximate number of units: a released number, or 0 for the number that the policy declares. A
	// step's mean is its sum divided by Rate × Rows, never by the number of sampled units.
	Rows int64
}

// maxSteps is the largest number of steps of a training. The ledger has an entry for each step.
const maxSteps = 1_000_000

// Trainer runs the steps of a training, one after the other. Several goroutines may use it. The whole price is paid
// before the first step. Each step is stored durably before it is returned. An interrupted training continues when
// the same training is requested again: recorded steps are returned again, with the same noise.
type Trainer struct {
	ID               string
	Parameters       int
	Steps            int64
	Multiplier       string // the noise multiplier, exact
	Expected         float64
	Limits           *Limits // what bounds the release
	Price, Remaining Loss

	curator  *Session
	training *release.Training
}

// Gradient is a released step: the sum of clipped gradients over a sample of the units, with noise on each
// coordinate.
type Gradient struct {
	Step     int64      // the number of the step, from 1
	Values   []*big.Int // in units of Unit
	Unit     *big.Rat
	Noise    noise.Distribution // the noise of each value, in units of Unit
	Mean     []float64          // Values in their own unit, divided by the expected number of units in a sample
	Replayed bool               // the step had been recorded before
}

// Train begins or continues a training by noisy gradients (learning.NoisyGradient has the proof). It is for models
// that [Session.Minimize] cannot fit. It reserves the whole price before the first step. It never releases the
// value of the training loss.
//
// A training that was paid before continues, unless Fresh is set. If a change by the owner ended the earlier
// training, the error has CodeUnfinished. Setting Fresh then pays for a new one.
func (c *Session) Train(ctx context.Context, q Training) (*Trainer, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	t, err := c.begin(ctx, q)
	return t, afresh(q.Fresh, err)
}

func (c *Session) begin(ctx context.Context, q Training) (*Trainer, error) {
	t, err := c.training(ctx, q)
	if err != nil {
		return nil, c.public(err)
	}
	if err := t.training.Begin(ctx); err != nil {
		return nil, c.public(err)
	}
	t.ID = fmt.Sprintf("r%d", t.training.ID())
	t.Remaining, err = c.remains(&release.Released{ID: t.training.ID()})
	return t, err
}

// failedElsewhere returns the error for a training that has failed in another process or was given up by its owner.
func failedElsewhere() *Error {
	return &Error{
		Code:    CodeFailed,
		Message: "the training failed in another process, or the owner abandoned it",
		Hint:    "ask for it again to begin a new training, at the full price",
	}
}
