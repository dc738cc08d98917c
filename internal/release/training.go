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

// Training gives noisy gradients of a model over the rows of a regression (learning.NoisyGradient, where the
// proof stands). Its whole price is reserved before the first step. Each step is an access that was paid before: the
// sequence without a reservation. A step is durable in the training's journal and then in the ledger, which has its
// digest, before it is told. A training that ended early goes on when it is asked for again: what was recorded is given
// again, and never drawn again. No loss of the rows is ever told.
type Training struct {
	kernel *Kernel
	look   *Look
	data   *Regression
	terms  *TrainingTerms
	noise  noise.RoundedGaussian
	grid   int
	needs  map[string]int // the versions that its key names, by table

	mu      sync.Mutex
	id      uint64
	payer   string // who may be another analyst than the one who goes on with it
	journal *journal
	told    int64 // steps that were given in this process
	sealed  int64 // steps that the ledger has
	rows    *mechanism.Rows
	ended   bool
}

// ID is the number of its reservation in the ledger, once it has begun.
func (t *Training) ID() uint64 { return t.id }

// Terms are the steps of the training, and their price.
func (t *Training) Terms() *TrainingTerms { return t.terms.copied() }

// Grid is the exponent of the unit of the numbers: they count multiples of 2^Grid.
func (t *Training) Grid() int { return t.grid }

// Noise is the distribution of the noise on each number.
func (t *Training) Noise() noise.RoundedGaussian { return t.noise }

// TrainingTerms are the steps of a training, and their price.
type TrainingTerms struct {
	step  learning.NoisyGradient
	steps int64
	price privacy.Loss
}

// copied are terms that their caller cannot change.
func (t *TrainingTerms) copied() *TrainingTerms {
	out := *t
	return &out
}

// Step is the mechanism of each step.
func (t *TrainingTerms) Step() learning.NoisyGradient { return copiedStep(t.step) }

// copiedStep has numbers that nobody else holds.
func copiedStep(m learning.NoisyGradient) learning.NoisyGradient {
	for _, r := range []**big.Rat{&m.Clip, &m.Rate, &m.Multiplier} {
		if *r != nil {
			*r = new(big.Rat).Set(*r)
		}
	}
	return m
}

// Price is the loss that all steps together are charged.
func (t *TrainingTerms) Price() privacy.Loss { return t.price }

// PriceTraining prices so many steps: the least ε at δ that their loss distribution is certified to have, rounded up, as
// a ρ with that δ beside it.
func PriceTraining(step learning.NoisyGradient, steps int64, delta privacy.Delta) (*TrainingTerms, error) {
	step = copiedStep(step)
	figure, err := trainprice.Epsilon(step, steps, delta)
	if errors.Is(err, trainprice.ErrNone) {
		return nil, &EndedError{
			How:     Unsupported,
			Message: "no accountant tells a finite ε of so little noise",
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

// Training decides a training over the rows of a regression, which is planned at the terms' price. Needs are the
// versions that its key names, by table. Begin pays for it.
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

// Look is a copy of the training's plan, known before anything is spent: statements, price, mechanisms and replay key.
func (t *Training) Look() *Look { return t.look.copied() }

// Parameters is the number of the model's parameters.
func (t *Training) Parameters() int { return t.terms.step.Model.Parameters() }

// Begin pays for the training, or goes on with one that was paid before, unless it is asked for afresh.
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

// reserve pays for the training, unless another process has done so just now: one pays at a time.
func (t *Training) reserve(fresh bool) error {
	k := t.kernel
	turn, err := takeTurn(k.home)
	if err != nil {
		return &UnreservedError{err}
	}
	defer func() { _ = turn.Close() }() // which gives the lock back
	if _, found, err := t.Earlier(fresh); err != nil {
		return &UnreservedError{err}
	} else if found {
		return nil
	}
	// sealed again since it was planned: nobody would find it under its key
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

// hold takes the journal, and then reads what the ledger has of it. A step that is durable in the one alone is recorded
// in the other.
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
	if b, err = known.begun(l, t.id); err != nil { // nobody adds to it from here on
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
		return nil // Step gives the earlier steps, and records this one before it draws another
	}
	return err
}

// notNow reports that the ledger takes no step at the moment, for a reason that passes.
func notNow(err error) bool {
	return errors.Is(err, ledger.ErrNotWritten) || errors.Is(err, ledger.ErrReadOnly) ||
		errors.Is(err, ledger.ErrSuspended)
}

// recordDurable records the step that is durable in the journal alone, if there is one.
func (t *Training) recordDurable() error {
	if int64(len(t.journal.records)) <= t.sealed {
		return nil
	}
	return t.record(t.sealed+1, t.journal.records[t.sealed].digest)
}
