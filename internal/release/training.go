package release

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"sync"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/trainprice"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/noise"
	"dither/privacy"
)

// Training runs noisy gradients of a model over the rows of a regression (learning.NoisyGradient has the proof).
// Its whole price is reserved before the first step, and each step is an access under that reservation. Before a
// step is returned, it is durable in the training's journal, and its digest in the ledger. A training that ended
// early continues when it is requested again: recorded steps are returned again, with the same noise. The value of
// the training loss is never released.
type Training struct {
	kernel *Kernel
	look   *Look
	data   *Regression
	terms  *TrainingTerms
	noise  noise.RoundedGaussian
	grid   int
	needs  map[string]int // the versions, by table, that are part of the replay key

	mu      sync.Mutex
	id      uint64
	payer   string // the analyst who paid, who may differ from the one who continues the training
	journal *journal
	told    int64 // the number of steps returned in this process
	sealed  int64 // the number of steps recorded in the ledger
	rows    *mechanism.Rows
	ended   bool
}

// ID returns the number of the training's reservation in the ledger. It is set when the training has begun.
func (t *Training) ID() uint64 { return t.id }

// Terms returns the training's terms: the mechanism of its steps, their number and their price.
func (t *Training) Terms() *TrainingTerms { return t.terms.copied() }

// Grid returns the exponent of the numbers' unit: they are multiples of 2^Grid.
func (t *Training) Grid() int { return t.grid }

// Noise returns the distribution of the noise on each number.
func (t *Training) Noise() noise.RoundedGaussian { return t.noise }

// TrainingTerms are the mechanism of a training's steps, their number, and the price of all steps together.
type TrainingTerms struct {
	step  learning.NoisyGradient
	steps int64
	price privacy.Loss
}

// copied returns a copy that the caller cannot change.
func (t *TrainingTerms) copied() *TrainingTerms {
	out := *t
	return &out
}

// Step returns the mechanism of each step.
func (t *TrainingTerms) Step() learning.NoisyGradient { return copiedStep(t.step) }

// copiedStep returns a deep copy.
func copiedStep(m learning.NoisyGradient) learning.NoisyGradient {
	for _, r := range []**big.Rat{&m.Clip, &m.Rate, &m.Multiplier} {
		if *r != nil {
			*r = new(big.Rat).Set(*r)
		}
	}
	return m
}

// Price returns the loss that all steps together are charged.
func (t *TrainingTerms) Price() privacy.Loss { return t.price }

// PriceTraining returns the price of the given number of steps. The price is the least ε at δ that the accountant
// certifies for all steps together, rounded up. It is expressed as ρ = ε²/2 with that δ.
func PriceTraining(step learning.NoisyGradient, steps int64, delta privacy.Delta) (*TrainingTerms, error) {
	step = copiedStep(step)
	figure, err := trainprice.Epsilon(step, steps, delta)
	if errors.Is(err, trainprice.ErrNone) {
		return nil, &EndedError{
			How:     Unsupported,
			Message: "with so little noise, no accountant can state a finite ε",
			Hint:    "give a larger Multiplier",
		}
	}
	if err != nil {
		return nil, &EndedError{How: Misused, Message: err.Error()}
	}
	e, err := privacy.EpsilonOf(figure)
	if err != nil {
		return nil, err
	}
	return &TrainingTerms{step, steps, privacy.ZCDPLoss(e.Rho(), delta)}, nil
}

// Training returns a training over the rows of a regression that was planned at the terms' price. needs are the
// versions, by table, that are part of the replay key. Begin pays for the training.
func (k *Kernel) Training(
	r *Regression,
	terms *TrainingTerms,
	needs map[string]int,
	by Asker,
) (_ *Training, err error) {
	_, pure := k.policy.Budget.Loss.Pure()
	if pure || r.Neighbours != privacy.AddRemove || r.Unit == nil && r.Caps.Rows > 1 {
		return nil, fmt.Errorf(
			"%w: a training under a pure ε, among neighbours that change, or of rows whose unit is not known",
			ErrUnplanned,
		)
	}
	terms = terms.copied()
	t := &Training{kernel: k, data: r.copied(), terms: terms, needs: maps.Clone(needs)}
	step := terms.step
	if t.noise, err = step.Noise(); err != nil {
		return nil, &EndedError{How: Misused, Message: err.Error()}
	}
	grid, clip, err := step.Grid()
	if err != nil {
		return nil, err
	}
	t.grid = grid
	square := new(big.Int).Mul(big.NewInt(clip), big.NewInt(clip))
	of := fmt.Sprintf("%s, rate %s, %d steps", SubsampledGaussian, exact.FormatRat(step.Rate), terms.steps)
	text := fmt.Sprintf(
		"%s\nmodel %+v\nclip %s on 2^%d\nmultiplier %s\ncosts %s",
		of,
		step.Model,
		exact.FormatRat(step.Clip),
		grid,
		exact.FormatRat(step.Multiplier),
		terms.price,
	)
	t.look, err = k.regressionLook(
		r,
		by,
		terms.price,
		text,
		[]ledger.Mechanism{
			{Name: of, Sensitivity: square.String(), Scale: exact.FormatRat(t.noise.Sigma2()), Cells: step.Model.Parameters()},
		},
		0,
		0,
	)
	if err != nil {
		return nil, err
	}
	t.look.steps = terms.steps
	return t, nil
}

// Look returns a copy of the training's [Look], which is known before anything is spent: statements, price,
// mechanisms and replay key.
func (t *Training) Look() *Look { return t.look.copied() }

// Parameters returns the number of the model's parameters.
func (t *Training) Parameters() int { return t.terms.step.Model.Parameters() }

// Begin pays for the training. It continues one that was paid before, unless Fresh is set.
func (t *Training) Begin(ctx context.Context) error {
	k, fresh := t.kernel, t.look.fresh
	_, found, err := t.Earlier(fresh)
	if err != nil {
		return err
	}
	if !found {
		if err := t.Unsurprising(); !fresh && err != nil {
			return err
		}
		_, done, err := k.rehearsed(ctx, nil, t.look, t.look.statements...)
		if err != nil {
			return err
		}
		done()
		if err := t.reserve(fresh); err != nil {
			return err
		}
	}
	crashPoint("reserved")
	if err := t.hold(); err != nil {
		return afterwards(err)
	}
	t.ended = false
	return nil
}

// reserve pays for the training, unless another process has just paid for it. A lock ensures that only one process
// pays at a time.
func (t *Training) reserve(fresh bool) error {
	k := t.kernel
	turn, err := takeTurn(k.home)
	if err != nil {
		return &UnreservedError{err}
	}
	defer func() { _ = turn.Close() }() // releases the lock
	if _, found, err := t.Earlier(fresh); err != nil {
		return &UnreservedError{err}
	} else if found {
		return nil
	}
	// A table was sealed again since the training was planned. The reservation's key would name the old version,
	// and no later request would find it.
	if now := k.Dependencies(t.look.tableNames()); !maps.Equal(now, t.needs) {
		return &EndedError{
			How:     Resealed,
			Message: "a table was sealed again just now; nothing was charged",
			Hint:    "ask again",
		}
	}
	t.id, _, err = k.reserve(t.look)
	return err
}

// hold opens and locks the journal, and then reads the recorded steps from the ledger. If the journal holds one
// step more than the ledger, hold records that step in the ledger.
func (t *Training) hold() (err error) {
	known, l := &t.kernel.trainings, t.kernel.ledger
	b, err := known.begun(l, t.id)
	if err != nil {
		return err
	}
	if b == nil {
		return ended(FailedElsewhere)
	}
	if t.journal, err = openJournal(t.kernel.home, t.id, b.entry, t.Parameters()); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = t.journal.close()
		}
	}()
	if b, err = known.begun(l, t.id); err != nil { // read again: no other process can add steps now
		return err
	}
	if b == nil {
		return ended(FailedElsewhere)
	}
	if err := t.journal.match(b.steps, b.ended); err != nil {
		return err
	}
	t.payer = b.payer
	t.sealed = int64(len(b.steps))
	if err = t.recordDurable(); notNow(err) {
		return nil // Step returns the earlier steps, and records this one before it draws another
	}
	return err
}

// notNow reports whether an error means that the ledger cannot record a step at the moment, but may later.
func notNow(err error) bool {
	return errors.Is(err, ledger.ErrNotWritten) || errors.Is(err, ledger.ErrReadOnly) ||
		errors.Is(err, ledger.ErrSuspended)
}

// recordDurable records the step that is durable only in the journal, if there is one.
func (t *Training) recordDurable() error {
	if int64(len(t.journal.records)) <= t.sealed {
		return nil
	}
	return t.record(t.sealed+1, t.journal.records[t.sealed].digest)
}
