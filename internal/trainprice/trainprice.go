// Package trainprice prices a training by noisy gradients. It is the only package of the kernel that asks package account.
//
// Accountants prove their figures for a job whose parameters are all fixed in advance (docs/design/0003). A training is such a job:
// its number of steps, its sampling rate and its noise multiplier are part of the one reservation that pays for all steps, before a
// row is read. A step's θ may depend on earlier steps, and the account allows for that (learning.NoisyGradient has the proof).
//
// An accountant's figure is a float64. Here one becomes a price, and one becomes a noise multiplier.
//
// Claim: rounding never makes a training lose more privacy than it is charged for.
//
// Proof. (1) Epsilon prices the rational multiplier itself, the one that learning.NoisyGradient squares into the variance that is
// sampled: the job's text has it exactly, and account reads it as a rational. (2) The figure is certified to be at least the true
// loss. A finite float64 is a rational, which big.Rat holds exactly, and CeilDigits rounds it up. So the charge is at least the loss,
// for every multiplier. (3) Multiplier searches in floats for a multiplier of about the wanted price, and its result is priced by
// Epsilon like any other. A wrong result would waste budget or accuracy, and would not break the promise. ∎
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

// digits are the significant decimal digits of a price and of a calibrated multiplier.
const digits = 8

// ErrNone reports a training of so little noise that no accountant has a finite ε for it.
var ErrNone = errors.New("no accountant has a finite epsilon for so little noise")

// Epsilon is an ε at which so many steps are (ε, d)-differentially private: the least figure of the accountants, rounded up. The
// error is mechanism.ErrParameter, ErrNone or account's own.
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

// Multiplier is about the least noise multiplier with which so many steps at m's rate are (e, d)-differentially private; it
// ignores m's own multiplier. The error is mechanism.ErrParameter, or ctx's own: one account may take a second, and a search makes
// some ten.
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

// job is the training for an accountant: a Poisson-subsampled Gaussian under add/remove, whatever the model and the clip.
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

// text is the job with the very multiplier that is sampled.
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
