package interpret

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/account"
	"dither/internal/exact"
	"dither/privacy"
)

// MeaningOfJob reads the promise of a job, given by its specs as account.ParseStep reads them. Its advantage and power
// come from its own curve δ(ε), which is below any single promise; its beliefs come from the least ε that an
// accountant has at d. If none has one, as for Gaussian noise at a d of 0, no reading is Told.
//
//	advantage ≤ δ(0)
//	power     ≤ the least, over ε ≥ 0, of e^ε·α + δ(ε) and of 1 − e^−ε(1 − α − δ(ε))
//
// [MeaningOf; that the least over all ε is all that the curve says of tests is the duality of Dong, Roth & Su 2022].
// Any ε gives a bound; those that are tried come near the least.
//
// k steps of the neighbouring relation are another job where every mechanism has a form for them: noise for a
// sensitivity that is k times as large, ε times k for a promise or a choice, ρ times k², μ times k. For whatever
// else, as a sample, a bound by group privacy and by the triangle inequality of total variation, k·δ(0), is told.
//
// The relation is the one that the job needs: add/remove for Poisson samples, change-one for samples of a fixed size
// and for randomized response, where it is plain who answered. Any other job holds under the one of the Scenario.
//
// Errors are those of a Scenario, of account.ParseStep and of account.NewJob, a relation that does not fit the job, and
// a d of 1: all are account.ErrParameter.
func MeaningOfJob(specs []string, d privacy.Delta, s Scenario) (Meaning, error) {
	if err := s.check(); err != nil {
		return Meaning{}, err
	}
	if d.Rat().Cmp(big.NewRat(1, 1)) >= 0 {
		return Meaning{}, errVoid
	}
	parts := make([]account.Step, len(specs))
	var err error
	for i, spec := range specs {
		if parts[i], err = account.ParseStep(spec); err != nil {
			return Meaning{}, err
		}
	}
	if s.Neighbours, err = relationOf(parts, s.Neighbours); err != nil {
		return Meaning{}, err
	}
	m := Meaning{Scenario: s, Named: named(d, s.People)}
	one, err := jobFor(parts, 1, d, s)
	if err != nil {
		return Meaning{}, err
	}
	m.Person = one
	for _, r := range []struct {
		reading *Reading
		steps   int64
	}{{&m.Values, 2}, {&m.Group, s.Group}} {
		switch r.steps {
		case 1:
			*r.reading = m.Person
			continue
		case m.Values.Steps:
			*r.reading = m.Values
			continue
		}
		*r.reading = grouped(one, r.steps, s)
		own, err := jobFor(parts, r.steps, d, s)
		if errors.Is(err, errUngrouped) {
			continue
		}
		if err != nil {
			return Meaning{}, err
		}
		if own.Told {
			own.Advantage, own.Power = min(own.Advantage, r.reading.Advantage), min(own.Power, r.reading.Power)
			*r.reading = own
		} else {
			r.reading.Advantage, r.reading.Power = min(own.Advantage, r.reading.Advantage),
				min(own.Power, r.reading.Power)
		}
	}
	return m, nil
}

// relationOf is the relation for reading a job, given the requested one, or 0 for none.
func relationOf(parts []account.Step, asked privacy.Neighbours) (privacy.Neighbours, error) {
	job, err := account.NewJob(parts...)
	if err != nil {
		return 0, err
	}
	needed, ok := job.Relation()
	if !ok && slices.ContainsFunc(parts,
		func(s account.Step) bool { return strings.HasPrefix(s.String(), "randomized-response ") }) {
		needed, ok = privacy.ChangeOne, true
	}
	switch {
	case ok && asked != 0 && asked != needed:
		return 0, fmt.Errorf("%w: the job holds for neighbours by %v, not by %v", account.ErrParameter, needed, asked)
	case ok:
		return needed, nil
	case asked == 0:
		return privacy.AddRemove, nil
	}
	return asked, nil
}

// grouped is the meaning for k steps that follows from a job's reading for one step, for any job.
func grouped(one Reading, steps int64, s Scenario) Reading {
	r := Reading{Steps: steps, Advantage: 1, Power: 1}
	if one.Told {
		r = readingOf(one.Promise, steps, s)
	}
	r.Advantage = min(r.Advantage, exact.MulUp(one.Advantage, exact.FloatUp(new(big.Rat).SetInt64(steps))))
	r.Power = min(r.Power, exact.AddUp(exact.FloatUp(s.Alpha), r.Advantage)) // P(S) ≤ Q(S) + total variation
	return r
}

// jobFor computes a job's own curve between hypotheses that are k steps apart. The error is errUngrouped if it has none
// for them.
func jobFor(one []account.Step, steps int64, d privacy.Delta, s Scenario) (Reading, error) {
	parts := slices.Clone(one)
	if steps > 1 {
		for i, step := range one {
			var err error
			if parts[i], err = groupStep(step, steps); err != nil {
				return Reading{}, err
			}
		}
	}
	job, err := account.NewJob(parts...)
	if err != nil {
		return Reading{}, err
	}
	report, err := job.Epsilon(d)
	if err != nil {
		return Reading{}, err
	}
	r := Reading{Steps: steps, Advantage: 1, Power: 1}
	if least, _ := report.Least(); least.Told() {
		e, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(least.Value))
		if err != nil {
			return Reading{}, fmt.Errorf("the job's ε: %w", err)
		}
		r = readingOf(account.Approximate{Epsilon: e, Delta: d}, 1, s)
		r.Steps = steps
	}
	c := curve{job: job, seen: map[float64]float64{}, far: farthest, slow: slow(parts)}
	if r.Told && d.Rat().Cmp(negligible) <= 0 { // beyond, δ(ε) falls by no more than d
		c.far = min(c.far, exact.FloatUp(r.Promise.Epsilon.Rat()))
	}
	r.Advantage = min(r.Advantage, c.delta(0))
	r.Power = min(r.Power, c.power(s.Alpha))
	return r, c.failed
}
