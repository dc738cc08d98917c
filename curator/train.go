package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"

	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/noise"
	"dither/privacy"
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
	step    mechanism.NoisyGradient
	noise   noise.RoundedGaussian
	grid    int

	mu      sync.Mutex
	id      uint64
	journal *journal
	told    int64 // steps that were given in this process
	sealed  int64 // steps that the ledger has
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

// Train is the kernel's primitive for models without a minimum to perturb: noisy gradients (mechanism.NoisyGradient, where the proof
// stands). Its whole price is reserved here, before the first step. No loss of the rows is ever told.
func (c *Curator) Train(ctx context.Context, q Training) (*Trainer, error) {
	t, err := c.training(q)
	if err != nil {
		return nil, public(err)
	}
	_, found, err := t.earlier(q.Fresh)
	if err != nil {
		return nil, public(err)
	}
	if !found {
		if err := c.rehearse(ctx, t.look.bounded, c.from(t.look)); err != nil {
			return nil, err
		}
		if err := t.reserve(q.Fresh); err != nil {
			return nil, c.notReserved(err)
		}
	}
	crashPoint("reserved")
	if err := t.hold(); err != nil {
		e := public(err)
		e.Charged = true
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
	t.id, err = t.curator.reserve(t.look)
	return err
}

// hold takes the journal, and then reads what the ledger has of it. A step that is durable in the one alone is recorded in the other.
func (t *Trainer) hold() (err error) {
	all, err := t.begun()
	if err != nil {
		return err
	}
	b := all[t.id]
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
	if all, err = t.begun(); err != nil { // nobody adds to it from here on
		return err
	}
	if b = all[t.id]; b == nil {
		return failedElsewhere()
	}
	if err := t.journal.match(b.steps, b.ended); err != nil {
		return err
	}
	if t.sealed = int64(len(b.steps)); int64(len(t.journal.records)) > t.sealed {
		return t.record(t.sealed+1, t.journal.records[t.sealed].digest)
	}
	return nil
}

// failedElsewhere reports a training that failed in another process just now.
func failedElsewhere() *Error {
	return &Error{Code: CodeFailed, Message: "the training failed elsewhere", Hint: "ask again: that begins another one"}
}

// TrainingExplanation says before a training is paid what it would cost, and its noise.
type TrainingExplanation struct {
	Parameters int                // of the model
	Multiplier string             // of the noise, exact
	Noise      noise.Distribution // of each value of a step, in Units
	Unit       *big.Rat
	Expected   float64 // units in a sample
	Price      Loss
	Recorded   int64 // steps that were recorded of this very training: all is paid already where it was begun
	Begun      bool
}

// ExplainTrain tells what Train would give, free.
func (c *Curator) ExplainTrain(_ context.Context, q Training) (*TrainingExplanation, error) {
	t, err := c.training(q)
	if err != nil {
		return nil, public(err)
	}
	b, begun, err := t.earlier(q.Fresh)
	if err != nil {
		return nil, public(err)
	}
	return &TrainingExplanation{
		Parameters: t.Parameters, Multiplier: t.Multiplier, Noise: t.noise, Unit: t.unit(), Expected: t.Expected, Price: t.Price, Recorded: int64(len(b.steps)), Begun: begun,
	}, nil
}

func (t *Trainer) unit() *big.Rat { return (&plan.Measure{Grid: t.grid}).Unit() }

// training decides all that is public.
func (c *Curator) training(q Training) (*Trainer, error) {
	usage := func(format string, args ...any) error {
		return &Error{Code: CodeUsage, Message: fmt.Sprintf(format, args...)}
	}
	if q.Steps < 1 || q.Steps > maxSteps {
		return nil, usage("a training has 1 to %d steps", maxSteps)
	}
	t := &Trainer{curator: c, Steps: q.Steps}
	var err error
	if t.step.Clip, err = positive("the clip", q.Clip); err != nil {
		return nil, err
	}
	if t.step.Rate, err = exact.ParseRat(q.Rate); err != nil || t.step.Rate.Sign() <= 0 || t.step.Rate.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, usage("the rate of sampling is above 0, and at most 1, as 0.01 or 256/60000, and not %q", q.Rate)
	}
	if c.policy.Budget.Loss.Accountant() == privacy.Pure {
		return nil, &Error{
			Code: CodePolicy, Message: "the budget is an ε alone, and what noisy gradients promise is an ε at a δ: no such budget pays for it",
			Hint: "the owner can give the budget a delta; Minimize fits logistic and Poisson models under an ε alone",
		}
	}
	if c.policy.Population.Neighbours != privacy.AddRemove {
		return nil, &Error{
			Code: CodePolicy, Message: "what a Poisson sample saves is proved for neighbours by adding or removing one, and this policy's are by changing one",
			Hint: "Minimize fits logistic and Poisson models there",
		}
	}
	asked := q.Question
	asked.Epsilon, asked.Rho = "", ""
	if t.data, err = c.regress(asked, q.Bound); err != nil { // what is wrong with it is told before prices are computed
		return nil, err
	}
	if t.data.Unit == nil && t.data.Caps.Rows > 1 {
		return nil, &Error{Code: CodePolicy, Message: "a relation that makes several rows of one unit does not tell which are one unit's", Hint: "ask about one table, or about persons"}
	}
	m := q.Model
	t.step.Model = mechanism.NewModel(m.Kind, t.data.predictors(), m.Classes, m.Hidden, m.Activation)
	if err := t.step.Model.Check(); err != nil {
		return nil, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	units := q.Rows
	if units == 0 && t.data.Source == nil {
		units = c.policy.Table(t.data.Table).ExpectedRows
	}
	if units < 1 {
		return nil, usage("about how many units there are must be said: a step is divided by Rate × Rows")
	}
	price, err := t.priced(q)
	if err != nil {
		return nil, err
	}
	if t.data, err = c.regressAt(asked, q.Bound, price); err != nil {
		return nil, err
	}
	if t.noise, err = t.step.Noise(); err != nil {
		return nil, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	grid, clip, err := t.step.Grid()
	if err != nil {
		return nil, err
	}
	t.grid, t.Parameters, t.Price = grid, t.step.Model.Parameters(), c.loss(price)
	t.Expected, _ = new(big.Rat).Mul(t.step.Rate, new(big.Rat).SetInt64(units)).Float64()
	square := new(big.Int).Mul(big.NewInt(clip), big.NewInt(clip))
	of := fmt.Sprintf("%s, rate %s, %d steps", SubsampledGaussian, exact.FormatRat(t.step.Rate), t.Steps)
	t.look, err = c.decided(t.data, q.Question, price, fmt.Sprintf("%s\nmodel %+v\nclip %s on 2^%d\nmultiplier %s\ncosts %s", of, t.step.Model, exact.FormatRat(t.step.Clip), grid, t.Multiplier, price),
		[]ledger.Mechanism{{Name: of, Sensitivity: square.String(), Scale: exact.FormatRat(t.noise.Sigma2()), Cells: t.Parameters}}, [2]int{})
	if err != nil {
		return nil, err
	}
	t.look.question = SubsampledGaussian + ", " + m.Kind + ": " + q.SQL
	return t, nil
}

// priced fixes the noise, and what all steps cost together.
func (t *Trainer) priced(q Training) (privacy.Loss, error) {
	none := privacy.Loss{}
	delta, err := parseDelta(q.Delta)
	if err != nil {
		return none, err
	}
	if delta.IsZero() {
		delta = t.curator.policy.Price.Delta
	}
	if _, most := t.curator.policy.Price.Maximum.ZCDP(); delta.IsZero() || most.IsZero() {
		return none, &Error{
			Code: CodePolicy, Message: "a training is charged a δ beside its ρ, for which this budget keeps none",
			Hint: "the owner can declare budget.selection_delta, of which a question takes price.delta or its own Delta",
		}
	}
	switch {
	case q.Rho != "":
		return none, &Error{Code: CodeUsage, Message: "the price of a training is told in ε at a δ", Hint: "give Epsilon, or Multiplier"}
	case q.Multiplier != "" && q.Epsilon != "":
		return none, &Error{Code: CodeUsage, Message: "of the noise and the price one is given, and the other follows", Hint: "leave Epsilon out, or Multiplier"}
	case q.Multiplier != "":
		if t.step.Multiplier, err = positive("the multiplier", q.Multiplier); err != nil {
			return none, err
		}
	default:
		if t.step.Multiplier, err = t.calibrated(q, delta); err != nil {
			return none, err
		}
	}
	t.Multiplier = exact.FormatRat(t.step.Multiplier)
	job, err := t.step.Job(t.Steps)
	if err != nil {
		return none, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	figure, _, err := job.LeastEpsilon(delta)
	if err != nil {
		return none, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	if !figure.Told() || math.IsInf(figure.Value, 0) || figure.Value <= 0 || figure.Value > privacy.MaxEpsilon {
		return none, &Error{Code: CodePolicy, Message: "no accountant tells a finite ε of so little noise", Hint: "give a larger Multiplier"}
	}
	e, err := privacy.EpsilonOf(exact.CeilDigits(new(big.Rat).SetFloat64(figure.Value), 8))
	if err != nil {
		return none, err
	}
	return privacy.ZCDPLoss(e.Rho(), delta), nil
}

// calibrated is the least multiplier at which all steps cost Epsilon at δ, or the policy's default price.
func (t *Trainer) calibrated(q Training, delta privacy.Delta) (*big.Rat, error) {
	price, err := t.curator.parsePrice(q.Question)
	if err != nil {
		return nil, err
	}
	if price.IsZero() {
		price = t.curator.policy.Price.Default
	}
	z, err := t.step.Calibrated(t.Steps, price.Price(), delta)
	if err != nil {
		return nil, &Error{Code: CodeUsage, Message: err.Error(), cause: err}
	}
	return z, nil
}

// begun is what the ledger has of a reservation of a training: the hash of its entry, the digests of its steps, and whether they are all.
type begun struct {
	entry ledger.Hash
	steps []string
	ended bool
}

// earlier finds the newest reservation of this very training that has not failed.
func (t *Trainer) earlier(fresh bool) (newest begun, found bool, err error) {
	if fresh {
		return begun{}, false, nil
	}
	all, err := t.begun()
	for id, b := range all {
		if id >= t.id {
			t.id, newest, found = id, *b, true
		}
	}
	return newest, found, err
}

// begun finds all of them.
func (t *Trainer) begun() (map[uint64]*begun, error) {
	open := map[uint64]*begun{}
	err := t.curator.ledger.Entries(func(e ledger.Entry) error {
		switch b := e.Body.(type) {
		case ledger.Reservation:
			if b.Key == t.look.key {
				open[e.Index] = &begun{entry: e.Hash}
			}
		case ledger.Step:
			if s := open[b.Reservation]; s != nil {
				return appendDigest(&s.steps, b.Values)
			}
		case ledger.Release:
			if s := open[b.Reservation]; s != nil {
				s.ended = true
				return appendDigest(&s.steps, b.Values)
			}
		case ledger.Failure:
			delete(open, b.Reservation)
		}
		return nil
	})
	return open, err
}

// recordedStep is what the ledger has of a step.
type recordedStep struct {
	SHA256 string `json:"sha256"`
}

func appendDigest(known *[]string, values json.RawMessage) error {
	var r recordedStep
	if err := json.Unmarshal(values, &r); err != nil || len(r.SHA256) != 2*len(digest{}) {
		return fmt.Errorf("a recorded step of a training is unreadable")
	}
	*known = append(*known, r.SHA256)
	return nil
}

// record makes the ledger have a step that is durable: the last one is the training's release.
func (t *Trainer) record(step int64, d digest) error {
	values, err := json.Marshal(recordedStep{d.String()})
	if err != nil {
		return err
	}
	if step == t.Steps {
		err = t.curator.ledger.Release(t.id, values)
	} else {
		err = t.curator.ledger.Step(ledger.Step{Reservation: t.id, Question: fmt.Sprintf("step %d of %d", step, t.Steps), Values: values})
	}
	if err == nil {
		t.sealed = step
	}
	return err
}

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
		e := public(err)
		e.Charged = true
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
		return nil, public(err)
	}
	if state.Failures >= ledger.MaxFailures {
		return nil, public(ledger.ErrSuspended)
	}
	if ctx.Err() != nil {
		return nil, public(ctx.Err())
	}
	for _, v := range t.look.tables {
		now, err := c.current(v.Table)
		if err != nil {
			return nil, public(err)
		}
		if now.Number != v.Number && t.rows == nil {
			return nil, &Error{Code: CodeStale, Message: "the table was sealed again since the training began", Hint: "begin another one"}
		}
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
	case ctx.Err() != nil: // the caller's, which no row has a part in: nothing was told, and the step can be taken again
		return nil, &Error{Code: CodeCancelled, Message: "the step was given up before it was told", Hint: "take it again", Retry: true, Charged: true}
	}
	_ = t.give()
	return nil, c.lost(t.id, err)
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
