package curator

import (
	"context"
	"fmt"
	"math/big"

	"dither/internal/release"
	"dither/noise"
)

// Models that a TrainedModel may be.
const (
	LinearModel   = "linear"   // (θ·x − y)²/2
	LogisticModel = "logistic" // of a response from 0 to 1
	PoissonModel  = "poisson"  // of a count
	SoftmaxModel  = "softmax"  // of a class from 0 to Classes − 1
	NetworkModel  = "network"  // one hidden layer, and Softmax's loss; with one class a regression
)

// TrainedModel is the model to train. Package internal/gradient documents the order of its parameters; matrices are stored by row.
type TrainedModel struct {
	Kind       string
	Classes    int    // of SoftmaxModel and NetworkModel
	Hidden     int    // units of NetworkModel
	Activation string // of them: "tanh" (or ""), or "relu"
}

// Training asks for noisy gradients of a model over the rows of a question: SELECT x1, x2, …, y FROM t WHERE …. Rows in which an item is NULL
// do not count. All parameters are public and fixed beforehand; decimals are texts, and a rate may be a fraction of two.
//
// The price pays for all steps together. It is the ε at Delta that the loss distribution of the steps is certified to have. A budget with a δ
// is charged ρ = ε²/2, and that δ beside it. With a Multiplier, Epsilon and Rho are left out; without one the least is found at which all
// steps cost Epsilon.
type Training struct {
	Request
	Delta string // of the price, a decimal; "" is the policy's default
	Model TrainedModel
	// of the predictors' L2 norm: a longer vector is scaled down to it; "" is what the items' own ranges give
	Bound      string
	Clip       string // of the L2 norm of what one unit adds to a step
	Rate       string // at which units are sampled for a step, such as 256/60000
	Multiplier string // of the noise: its σ is Multiplier × Clip
	Steps      int64
	// Rows is about how many units there are: declared by the policy (0), or released before. A step's mean is its sum divided by
	// Rate × Rows, and never by how many were sampled.
	Rows int64
}

// maxSteps bounds a training: each step is an entry of the ledger.
const maxSteps = 1_000_000

// Trainer gives the steps of a training, one after the other. It may be used by several goroutines. All steps are paid when it
// begins. Each is durable before it is told; a training that ended early, whatever ended it, goes on when it is asked for again: what was recorded
// is given again, and never drawn again.
type Trainer struct {
	ID               string
	Parameters       int    // of the model
	Steps            int64  // of the training
	Multiplier       string // of the noise, exact
	Expected         float64
	Price, Remaining Loss

	curator  *Session
	training *release.Training
}

// Gradient is a released step: the sum of the gradients of a sample of the units, each clipped, with noise on each coordinate.
type Gradient struct {
	Step     int64      // from 1
	Values   []*big.Int // in Units
	Unit     *big.Rat
	Noise    noise.Distribution // of each value, in Units
	Mean     []float64          // the values divided by the expected number of units in a sample
	Replayed bool               // it was recorded before
}

// Train is the kernel's primitive for models without a minimum to perturb: noisy gradients (learning.NoisyGradient, where the proof
// stands). Its whole price is reserved here, before the first step. No loss of the rows is ever told.
//
// A training that was paid before goes on, unless it is asked for afresh. Where the owner lost it by a change since, the error is CodeUnfinished: to pay again
// is to ask afresh.
func (c *Session) Train(ctx context.Context, q Training) (*Trainer, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
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

// failedElsewhere reports a training that failed in another process just now.
func failedElsewhere() *Error {
	return &Error{
		Code:    CodeFailed,
		Message: "the training failed elsewhere, or its owner gave it up",
		Hint:    "asking for it again begins another one, at its full price",
	}
}
