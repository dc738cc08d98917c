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

// MeaningOfJob interprets the promise of a job, whose specs have the form that account.ParseStep reads. Advantage
// and power come from the job's own curve δ(ε), which lies below every single promise. Beliefs come from the
// smallest ε that an accountant finds at d. If no accountant finds one, as for Gaussian noise at d = 0, no reading
// is Told. The bounds are
//
//	advantage ≤ δ(0)
//	power     ≤ the smallest value, over ε ≥ 0, of e^ε·α + δ(ε) and of 1 − e^−ε(1 − α − δ(ε))
//
// by the arguments of [MeaningOf]. Every ε gives a bound, and MeaningOfJob tries values near the best one. The
// curve δ(ε) implies no smaller bound on the power than the smallest over all ε, by the duality of Dong, Roth & Su
// 2022.
//
// For k steps of the neighbouring relation, MeaningOfJob uses another job if every mechanism has a form for k
// steps. The sensitivity of noise is multiplied by k, and so are the ε of a promise or of an exponential mechanism,
// and μ. ρ is multiplied by k². For other mechanisms, such as samples, MeaningOfJob uses two bounds: group privacy,
// and k·δ(0) by the triangle inequality of the total variation distance.
//
// The neighbouring relation is the one that the job needs. It is add/remove for Poisson samples. It is change-one
// for samples of a fixed size, and for randomized response, where the set of participants is public. Any other job
// holds under the relation of the Scenario.
//
// All errors are account.ErrParameter: an invalid Scenario, specs that account.ParseStep or account.NewJob refuse,
// a relation that does not fit the job, and d = 1.
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

// relationOf returns the neighbouring relation for a job. asked is the requested relation, or 0 for none.
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
		return 0, fmt.Errorf("%w: the job supports only neighbours by %v, not by "+
			"%v", account.ErrParameter, needed, asked)
	case ok:
		return needed, nil
	case asked == 0:
		return privacy.AddRemove, nil
	}
	return asked, nil
}

// grouped returns a reading for the given number of steps. It follows from the reading for one step, and holds for
// every job.
func grouped(one Reading, steps int64, s Scenario) Reading {
	r := Reading{Steps: steps, Advantage: 1, Power: 1}
	if one.Told {
		r = readingOf(one.Promise, steps, s)
	}
	r.Advantage = min(r.Advantage, exact.MulUp(one.Advantage, exact.FloatUp(new(big.Rat).SetInt64(steps))))
	// P(S) is at most Q(S) + the total variation distance
	r.Power = min(r.Power, exact.AddUp(exact.FloatUp(s.Alpha), r.Advantage))
	return r
}

// jobFor computes a reading from the job's own curve, for hypotheses that are that many steps apart. It returns
// errUngrouped if the job has no form for them.
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
	if r.Told && d.Rat().Cmp(negligible) <= 0 { // beyond that ε, δ(ε) can fall by at most d
		c.far = min(c.far, exact.FloatUp(r.Promise.Epsilon.Rat()))
	}
	r.Advantage = min(r.Advantage, c.delta(0))
	r.Power = min(r.Power, c.power(s.Alpha))
	return r, c.failed
}
