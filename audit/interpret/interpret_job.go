package interpret

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/account"
	"dither/internal/exact"
	"dither/privacy"
)

// MeaningOfJob reads what a job promises, given by its specs as account.ParseStep reads them. Its advantage and power come from its
// own curve δ(ε), which is less than any one promise lets suppose; its beliefs from the least ε that an accountant tells at d. Where
// none does, as of Gaussian noise at a d of 0, no reading is Told.
//
//	advantage ≤ δ(0)
//	power     ≤ the least, over ε ≥ 0, of e^ε·α + δ(ε) and of 1 − e^−ε(1 − α − δ(ε))
//
// [MeaningOf; that the least over all ε is all that the curve says of tests is the duality of Dong, Roth & Su 2022]. Any ε gives a bound; those
// that are tried come near the least.
//
// k steps of the neighbouring relation are another job where every mechanism has a form for them: noise for a sensitivity that is k
// times as large, ε times k for a promise or a choice, ρ times k², μ times k. For whatever else, as a sample, a bound by group privacy and by the
// triangle inequality of total variation, k·δ(0), is told.
//
// The errors are those of a Scenario, of account.ParseStep and of account.NewJob, and a d of 1: all account.ErrParameter.
func MeaningOfJob(specs []string, d privacy.Delta, s Scenario) (Meaning, error) {
	if err := s.check(); err != nil {
		return Meaning{}, err
	}
	if d.Rat().Cmp(big.NewRat(1, 1)) >= 0 {
		return Meaning{}, errVoid
	}
	m := Meaning{Scenario: s, Named: named(d, s.People)}
	one, err := jobFor(specs, 1, d, s)
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
		own, err := jobFor(specs, r.steps, d, s)
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
			r.reading.Advantage, r.reading.Power = min(own.Advantage, r.reading.Advantage), min(own.Power, r.reading.Power)
		}
	}
	return m, nil
}

// grouped is what a job's reading for one says of so many steps, whatever the job is.
func grouped(one Reading, steps int64, s Scenario) Reading {
	r := Reading{Steps: steps, Advantage: 1, Power: 1}
	if one.Told {
		r = readingOf(one.Promise, steps, s)
	}
	r.Advantage = min(r.Advantage, exact.MulUp(one.Advantage, exact.FloatUp(new(big.Rat).SetInt64(steps))))
	r.Power = min(r.Power, exact.AddUp(exact.FloatUp(s.Alpha), r.Advantage)) // P(S) ≤ Q(S) + total variation
	return r
}

// jobFor reads a job's own curve between hypotheses that are so many steps apart. The error is errUngrouped where it has none for them.
func jobFor(specs []string, steps int64, d privacy.Delta, s Scenario) (Reading, error) {
	parts := make([]account.Step, len(specs))
	for i, spec := range specs {
		step, err := account.ParseStep(spec)
		if err != nil {
			return Reading{}, err
		}
		if parts[i] = step; steps > 1 {
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
	c := curve{job: job, seen: map[float64]float64{}, far: farthest, tries: manyTries}
	if slow(parts) {
		c.tries = fewTries
	}
	if r.Told && d.Rat().Cmp(little) <= 0 { // beyond, δ(ε) falls by no more than d
		c.far = min(c.far, exact.FloatUp(r.Promise.Epsilon.Rat()))
	}
	r.Advantage = min(r.Advantage, c.delta(0))
	r.Power = min(r.Power, c.power(s.Alpha))
	return r, c.failed
}

// How many ε are tried for each of the two bounds of a power: each shortens the range to 0.618 of it.
const (
	manyTries = 24
	fewTries  = 4 // where slow
)

// little is a δ that is nothing to a test's power.
var little = big.NewRat(1, 100_000)

// slow reports that accountants take long over a δ: over samples, and over a choice, of which no loss distribution tells exactly.
func slow(steps []account.Step) bool {
	return slices.ContainsFunc(steps, func(s account.Step) bool {
		return strings.Contains(s.String(), "sampling=") || strings.HasPrefix(s.String(), "exponential ")
	})
}

// curve asks a job for δ(ε), each once.
type curve struct {
	job    *account.Job
	seen   map[float64]float64
	far    float64 // the ε up to which powers are sought
	tries  int
	failed error
}

// delta is δ(e), rounded up, and 1 where none is told.
func (c *curve) delta(e float64) float64 {
	if d, ok := c.seen[e]; ok {
		return d
	}
	c.seen[e] = 1
	at, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(e))
	if err == nil {
		var f account.Figure
		if f, _, err = c.job.LeastDelta(at); err == nil && f.Told() {
			c.seen[e] = min(f.Value, 1)
		}
	}
	c.failed = errors.Join(c.failed, err)
	return c.seen[e]
}

// farthest is the ε beyond which no power is sought: e^−farthest is nothing to a test.
const farthest = 40

// power is the least that is found of the two bounds. δ is convex in t = e^ε, since P(S) − t·Q(S) is linear in it for every S. So is t·α + δ; and
// with u = 1/t the other is 1 − u(1−α) + u·δ(1/u), convex in u as the perspective of a convex function. Hence each has one valley, which golden
// sections find; that the accountants' figures are not quite δ costs tightness, never truth.
func (c *curve) power(alpha *big.Rat) float64 {
	level := exact.FloatUp(alpha)
	steep := func(e float64) float64 { return exact.AddUp(exact.MulUp(exact.ExpUp(e), level), c.delta(e)) }
	flat := func(e float64) float64 {
		rest := exact.SubDown(exact.SubDown(1, level), c.delta(e))
		return exact.SubUp(1, max(0, exact.MulDown(exact.ExpDown(-e), rest)))
	}
	far := c.far
	if level > 0 {
		far = min(far, -math.Log(level)) // beyond, e^ε·α is more than 1
	}
	return max(0, min(1, c.valley(steep, far), c.valley(flat, c.far)))
}

// valley is about the least value of a function with one valley between 0 and far: of those that were tried.
func (c *curve) valley(f func(float64) float64, far float64) float64 {
	golden := (math.Sqrt(5) - 1) / 2
	low, high := 0.0, far
	left, right := high-golden*(high-low), low+golden*(high-low)
	atLeft, atRight := f(left), f(right)
	least := min(f(0), f(far), atLeft, atRight)
	for range c.tries {
		if atLeft <= atRight {
			high, right, atRight = right, left, atLeft
			left = high - golden*(high-low)
			atLeft = f(left)
		} else {
			low, left, atLeft = left, right, atRight
			right = low + golden*(high-low)
			atRight = f(right)
		}
		least = min(least, atLeft, atRight)
	}
	return least
}
