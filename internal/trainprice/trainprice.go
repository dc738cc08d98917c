// Package trainprice prices the training of a model by noisy gradients. It is the only package of the kernel that
// uses package account.
//
// Accountants prove their bounds for a job whose parameters are all fixed in advance (docs/design/0003). A training
// is such a job. Its number of steps, its sampling rate and its noise multiplier are part of a single reservation.
// That reservation pays for all steps before any row is read. The θ of a step may depend on earlier steps, and the
// accountants allow for that (see the proof at learning.NoisyGradient).
//
// An accountant's bound is a float64. Epsilon turns a bound into a price, and Multiplier turns one into a noise
// multiplier.
//
// Claim: rounding never makes a training lose more privacy than it is charged for.
//
// Proof. (1) Epsilon prices the exact rational multiplier, which learning.NoisyGradient squares into the variance
// that it samples: the job's text contains the multiplier exactly, and account reads it as a rational. (2) The
// bound is certified to be at least the true loss. A finite float64 is a rational, which big.Rat holds exactly, and
// CeilDigits rounds it up. So the charge is at least the loss, for every multiplier. (3) Multiplier searches in
// floats for a multiplier of about the wanted price, and Epsilon prices its result like any other. A wrong result
// would waste budget or accuracy, but would not break the guarantee. ∎
package trainprice

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"dither/account"
	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/privacy"
)

// digits is the number of significant decimal digits of a price and of a calibrated multiplier.
const digits = 8

// ErrNone reports a training with so little noise that no accountant has a finite ε for it.
var ErrNone = errors.New("no accountant has a finite epsilon for so little noise")

// Epsilon returns an ε such that the given number of steps is (ε, d)-differentially private: the least bound of the
// accountants, rounded up. The error is mechanism.ErrParameter, ErrNone, or comes from package account.
func Epsilon(m learning.NoisyGradient, steps int64, d privacy.Delta) (*big.Rat, error) {
	j, err := job(m, steps)
	if err != nil {
		return nil, err
	}
	figure, _, err := j.LeastEpsilon(d)
	if err != nil {
		return nil, err
	}
	if !figure.Told() || math.IsInf(figure.Value, 0) || figure.Value <= 0 || figure.Value > privacy.MaxEpsilon {
		return nil, ErrNone
	}
	return exact.CeilDigits(new(big.Rat).SetFloat64(figure.Value), digits), nil
}

// Multiplier returns approximately the least noise multiplier with which the given number of steps at m's rate is
// (e, d)-differentially private. It ignores m.Multiplier. The error is mechanism.ErrParameter or ctx.Err(): the
// search evaluates an accountant about ten times, and each evaluation may take a second.
func Multiplier(
	ctx context.Context,
	m learning.NoisyGradient,
	steps int64,
	e privacy.Epsilon,
	d privacy.Delta,
) (*big.Rat, error) {
	m.Multiplier = big.NewRat(1, 1)
	if err := m.CheckSampling(); err != nil {
		return nil, err
	}
	found, err := account.LeastNoise(ctx, []string{spec(m, "?", steps)}, e, d)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %w", mechanism.ErrParameter, err)
	}
	return exact.CeilDigits(new(big.Rat).SetFloat64(found.Value), digits), nil
}

// job returns the training as an accountant's job: a Poisson-subsampled Gaussian under add-remove. It depends
// neither on the model nor on the clip.
func job(m learning.NoisyGradient, steps int64) (*account.Job, error) {
	if err := m.CheckSampling(); err != nil {
		return nil, err
	}
	s, err := account.ParseStep(text(m, steps))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mechanism.ErrParameter, err)
	}
	return account.NewJob(s)
}

// text returns the job's text, with the exact multiplier that is sampled.
func text(m learning.NoisyGradient, steps int64) string {
	return spec(m, exact.FormatRat(m.Multiplier), steps)
}

func spec(m learning.NoisyGradient, multiplier string, steps int64) string {
	spec := fmt.Sprintf("gaussian sigma=%s count=%d", multiplier, steps)
	if m.Rate.Cmp(big.NewRat(1, 1)) < 0 {
		spec += " sampling=" + exact.FormatRat(m.Rate)
	}
	return spec
}
