package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"dither/internal/exact"
)

// ErrOptions reports invalid options of an audit.
var ErrOptions = errors.New("invalid audit")

// Options are the parameters of an audit. The zero value means 20,000 runs of each side, no claim, and a confidence
// of 0.999999.
type Options struct {
	Runs       int     // on each side, from 100 to 1,000,000,000
	Claim      *Claim  // the claim to refute; if nil, the audit bounds ε at δ = 0
	Confidence float64 // of all bounds together; at least 1/2 and below 1

	// Progress, if set, is called after each turn and about once a second. Its arguments are the numbers of
	// finished runs and of all runs, on both sides together.
	Progress func(done, all int)
}

// The defaults, and the smallest number of runs on each side.
const (
	DefaultRuns       = 20_000
	DefaultConfidence = 0.999999
	fewestRuns        = 100
)

// Func is a mechanism in this process. It runs once on a side, and returns its output as text. Calls must be
// independent of each other. They are made one after another.
type Func func(side Side) string

// Run calls f n times, and passes each output to yield.
func (f Func) Run(ctx context.Context, side Side, n int, yield func(output []byte) error) error {
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := yield([]byte(f(side))); err != nil {
			return err
		}
	}
	return nil
}

// Run audits a mechanism. It learns from some runs which events are likelier on one side than on the other. Then it
// tests these events on further runs.
//
// Claim: if runs are independent and, on each side, identically distributed, Run refutes a true claim with
// probability at most 1 − Confidence. This covers the whole audit, in both directions.
//
// Proof. The runs that test an event have no part in learning it. So, given what was learned, an event's count on a
// side is binomial, with the event's probability on that side. Run uses two ends of Clopper–Pearson intervals for
// each event. The low end bounds the event's probability p on the side where learning
// found it likelier. The high end bounds its probability q on the other side. Each end is wrong with probability at
// most α = (1 − Confidence − u)/(2 · events), where u is defined below. For an event that is also tested by
// [rareBound], there are four ends, each wrong with probability at most α/2; learning decides which events these are.
// So the probability that some end is wrong is at most 1 − Confidence − u. If no end is wrong, (ε, δ)-differential
// privacy between the two sides, p ≤ e^ε·q + δ, gives ε ≥ ln((low − δ)/high) and δ ≥ low − e^ε·high for each event. A
// claim is refuted only if it contradicts one of these. ∎
//
// The mechanism must keep its runs independent and identically distributed. Run tests this, on the events and on the
// halves above the medians of [middles]. If an event's counts
// differ more between turns than chance allows, Run returns [ErrUnlike] instead of a report. For independent and
// identically distributed runs, this happens with probability at most u, which is at most 1e-9. So noise that is
// drawn once for many answers, or from a shared seed, does not look like a difference between the sides.
//
// The two sides run in turns, so that changes over time, such as a machine that gets warm, affect both sides. The
// audit does not need to know the meaning of an output: docs/explanation/checking.md lists the kinds of events.
//
// Run returns ErrOptions, ctx's error, the mechanism's error, ErrUnlike, or ErrRepeats. It returns ErrIncomparable
// if no two outputs have anything in common.
func Run(ctx context.Context, m Mechanism, o Options) (*Report, error) {
	a, err := newAudit(m, o)
	if err != nil {
		return nil, err
	}
	return a.run(ctx)
}

// audit is the state of an audit in progress.
type audit struct {
	Options
	mechanism Mechanism
	delta     float64   // the claim's δ, rounded up
	factor    float64   // e^ε of the claim, rounded up; NaN without a claim
	done      int       // finished runs of both sides
	turned    uint64    // turns so far; decides which side runs first in the next turn
	told      time.Time // time of the last call of Progress
	repeats   repeats
	clock     time.Time          // when the handling of the last output ended
	turnTimes [2][]time.Duration // for a [Batcher]: the mean time of a run in each turn, by side
}

func newAudit(m Mechanism, o Options) (*audit, error) {
	a := &audit{Options: o, mechanism: m, factor: math.NaN()}
	if a.Runs == 0 {
		a.Runs = DefaultRuns
	}
	if a.Confidence == 0 {
		a.Confidence = DefaultConfidence
	}
	switch {
	case m == nil:
		return nil, fmt.Errorf("%w: the mechanism is missing", ErrOptions)
	case a.Runs < fewestRuns || a.Runs > mostRuns:
		return nil, fmt.Errorf("%w: %d runs; give %d to %d runs on each side",
			ErrOptions, a.Runs, fewestRuns, int(mostRuns))
	case !(a.Confidence >= 0.5 && a.Confidence < 1):
		return nil, fmt.Errorf("%w: the confidence must be at least 1/2 and below 1", ErrOptions)
	}
	if a.Claim != nil {
		a.delta = exact.FloatUp(a.Claim.Delta.Rat())
		a.factor = exact.ExpUp(exact.FloatUp(a.Claim.Epsilon.Rat()))
	}
	return a, nil
}

func (a *audit) run(ctx context.Context) (*Report, error) {
	part := min(a.Runs/4, mostLearned)
	tests := a.Runs - 2*part
	var learned, compared recording
	if err := a.record(ctx, part, &learned); err != nil {
		return nil, err
	}
	if err := comparable(learned.sample); err != nil {
		return nil, err
	}
	a.repeats.expect(learned.sample)
	if err := a.record(ctx, part, &compared); err != nil {
		return nil, err
	}
	features := featuresOf(learned.sample)
	events := a.choose(features, learned.sample, compared.sample, tests)
	watched := slices.Concat(events, middles(features, learned.sample))
	tallies, err := a.test(ctx, watched, tests)
	if err == nil {
		err = a.alike(watched, tallies, a.unlike())
	}
	if err != nil {
		return nil, err
	}
	both := learned.and(compared)
	r := &Report{
		Claim: a.Claim, Confidence: a.Confidence, Runs: a.Runs,
		Learned: min(len(both.sample[0]), len(both.sample[1])), Tested: tests,
	}
	for i, e := range events {
		f := Finding{
			Likely: e.likely, Counts: [2]int{tallies[i][0].seen(), tallies[i][1].seen()}, Runs: tests,
			Terms: e.score.terms(), AtLeast: e.atLeast,
			Threshold: e.threshold, event: e,
		}
		f.Event, f.Whole = e.clause()
		a.judge(&f, len(events))
		r.Findings = append(r.Findings, f)
	}
	a.conclude(r)
	if !a.paced() {
		both.times = a.turnTimes
	}
	r.Shown = shown(r.Findings, features, both.sample)
	r.Support = support(features, both.sample)
	r.Timing = timing(both, a.paced())
	r.Notes = notes(both.sample)
	if m, ok := a.mechanism.(remarker); ok {
		r.Notes = append(r.Notes, m.Remarks()...)
	}
	return r, nil
}

// remarker is a mechanism that has warnings of its own for the report.
type remarker interface{ Remarks() []string }

// unlike returns the probability with which independent, identically distributed runs may be reported as
// [ErrUnlike]. It is part of the probability of error that the confidence allows.
func (a *audit) unlike() float64 {
	return math.Min(1e-9, exact.DivDown(exact.SubDown(1, a.Confidence), 1000))
}

// alpha returns the probability with which each end of an interval may be wrong, if the audit tests this number of
// events.
func (a *audit) alpha(events int) float64 {
	return exact.DivDown(exact.SubDown(exact.SubDown(1, a.Confidence), a.unlike()), float64(2*max(1, events)))
}

// judge computes the bounds of a finding. events is the number of events that the audit tests.
func (a *audit) judge(f *Finding, events int) {
	alpha := a.alpha(events)
	if f.event.rare { // four ends instead of two
		alpha /= 2
		f.Rare = rareBound(f.Counts[f.Likely], f.Counts[f.Likely.Other()], f.Runs, alpha)
	}
	f.Low, _ = between(f.Counts[f.Likely], f.Runs, alpha)
	_, f.High = between(f.Counts[f.Likely.Other()], f.Runs, alpha)
	f.Epsilon = max(f.Rare, ratioBound(f.Low, f.High, a.delta))
	if a.Claim != nil {
		f.Delta = differenceBound(f.Low, f.High, a.factor)
	}
}

// conclude sets the verdict and the report's bounds, and moves the finding with the largest Epsilon to the front.
// The claim is refuted if an event's lower bound on δ exceeds the claim's δ, or if its δ is 0 and the bound of a rare
// event exceeds its ε.
func (a *audit) conclude(r *Report) {
	alpha := a.alpha(len(r.Findings))
	low, _ := between(r.Tested, r.Tested, alpha)
	_, high := between(0, r.Tested, alpha)
	r.Reach = ratioBound(low, high, a.delta)
	if a.Claim != nil {
		r.Verdict = NotRefuted
	}
	for i, f := range r.Findings {
		r.Epsilon, r.Delta = math.Max(r.Epsilon, f.Epsilon), math.Max(r.Delta, f.Delta)
		if a.Claim != nil && (f.Delta > a.delta || f.Rare > exact.FloatUp(a.Claim.Epsilon.Rat())) {
			r.Verdict = Refuted
		}
		if f.Epsilon > r.Findings[0].Epsilon {
			r.Findings[0], r.Findings[i] = r.Findings[i], r.Findings[0]
		}
	}
}
