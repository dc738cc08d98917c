package curator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"sync"

	"dither/internal/ledger"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/noise"
)

// SubsampledGaussian is the mechanism of a Trainer.
const SubsampledGaussian = "subsampled gaussian"

// Models that a TrainedModel may be.
const (
	LinearModel   = "linear"   // (θ·x − y)²/2
	LogisticModel = "logistic" // of a response from 0 to 1
	PoissonModel  = "poisson"  // of a count
	SoftmaxModel  = "softmax"  // of a class from 0 to Classes − 1
	NetworkModel  = "network"  // one hidden layer, and Softmax's loss; with one class a regression
)

// TrainedModel says what is trained: see package gradient of this house for the order of its parameters, which are those of a matrix by row.
type TrainedModel struct {
	Kind       string
	Classes    int    // of SoftmaxModel and NetworkModel
	Hidden     int    // units of NetworkModel
	Activation string // of them: "tanh" (or ""), or "relu"
}

// Training asks for noisy gradients of a model over the rows of a question: SELECT x1, x2, …, y FROM t WHERE …. Rows in which an item is NULL
// do not count. All parameters are public and fixed beforehand; decimals are texts, and a rate may be a fraction of two.
//
// The price is that of all steps together: the ε at Delta that the loss distribution of the steps is certified to have. A budget with a δ
// is charged ρ = ε²/2, and that δ beside it. With a Multiplier, Epsilon and Rho are left out; without one the least is found at which all
// steps cost Epsilon.
type Training struct {
	Question
	Model      TrainedModel
	Bound      string // of the predictors' L2 norm: a longer vector is scaled down to it; "" is what the items' own ranges give
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

	curator *Curator
	look    *look
	data    *regression
	step    learning.NoisyGradient
	noise   noise.RoundedGaussian
	grid    int

	mu      sync.Mutex
	id      uint64
	payer   string // who may be another analyst than the one who goes on with it
	journal *journal
	fresh   bool           // it was begun now, though it may have been before
	needs   map[string]int // the versions that its key names, by table
	told    int64          // steps that were given in this process
	sealed  int64          // steps that the ledger has
	rows    *mechanism.Rows
	ended   bool
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
func (c *Curator) Train(ctx context.Context, q Training) (*Trainer, error) {
	t, err := c.begin(ctx, q)
	return t, afresh(q.Fresh, err)
}

func (c *Curator) begin(ctx context.Context, q Training) (*Trainer, error) {
	t, err := c.training(ctx, q)
	if err != nil {
		return nil, c.public(err)
	}
	_, found, err := t.earlier(q.Fresh)
	if err != nil {
		return nil, c.public(err)
	}
	if !found {
		if err := t.unsurprising(); !q.Fresh && err != nil {
			return nil, c.public(err)
		}
		release, err := c.hold(ctx, t.look.tables)
		if err != nil {
			return nil, c.public(err)
		}
		release()
		if err := c.rehearse(ctx, t.look.analyst, c.from(t.look), t.look.bounded); err != nil {
			return nil, err
		}
		if err := t.reserve(q.Fresh); err != nil {
			return nil, c.notReserved(err)
		}
	}
	crashPoint("reserved")
	if err := t.hold(); err != nil {
		e := c.charged(err)
		if errors.Is(err, errBusy) {
			e.Code, e.Retry = CodeHome, true
		}
		return nil, e
	}
	t.ID, t.ended = fmt.Sprintf("r%d", t.id), false
	t.Remaining, err = c.remains(&seen{id: t.id})
	return t, err
}

// reserve pays for the training, unless another process has done so just now: one pays at a time.
func (t *Trainer) reserve(fresh bool) error {
	turn, err := takeTurn(t.curator.home)
	if err != nil {
		return err
	}
	defer func() { _ = turn.Close() }() // which gives the lock back
	if _, found, err := t.earlier(fresh); found || err != nil {
		return err
	}
	if now := t.curator.dependencies(t.look.tableNames()); !maps.Equal(now, t.needs) { // sealed again since it was planned: nobody would find it under its key
		return &Error{Code: CodeStale, Message: "a table was sealed again just now; nothing was charged", Hint: "ask again"}
	}
	t.look.steps = t.Steps
	t.id, err = t.curator.reserve(t.look)
	return err
}

// hold takes the journal, and then reads what the ledger has of it. A step that is durable in the one alone is recorded in the other.
func (t *Trainer) hold() (err error) {
	known, l := &t.curator.trainings, t.curator.ledger
	b, err := known.begun(l, t.id)
	if err != nil {
		return err
	}
	if b == nil {
		return failedElsewhere()
	}
	if t.journal, err = openJournal(t.curator.home, t.id, b.entry, t.Parameters); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = t.journal.close()
		}
	}()
	if b, err = known.begun(l, t.id); err != nil { // nobody adds to it from here on
		return err
	}
	if b == nil {
		return failedElsewhere()
	}
	if err := t.journal.match(b.steps, b.ended); err != nil {
		return err
	}
	t.payer = b.payer
	t.sealed = int64(len(b.steps))
	if err = t.recordDurable(); notNow(err) {
		return nil // Step gives the earlier steps, and records this one before it draws another
	}
	return err
}

// notNow reports that the ledger takes no step at the moment, for a reason that passes.
func notNow(err error) bool {
	return errors.Is(err, ledger.ErrNotWritten) || errors.Is(err, ledger.ErrReadOnly) || errors.Is(err, ledger.ErrSuspended)
}

// recordDurable records the step that is durable in the journal alone, if there is one.
func (t *Trainer) recordDurable() error {
	if int64(len(t.journal.records)) <= t.sealed {
		return nil
	}
	return t.record(t.sealed+1, t.journal.records[t.sealed].digest)
}

// failedElsewhere reports a training that failed in another process just now.
func failedElsewhere() *Error {
	return &Error{Code: CodeFailed, Message: "the training failed elsewhere, or its owner gave it up", Hint: "asking for it again begins another one, at its full price"}
}
