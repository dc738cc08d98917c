package interpret

import (
	"fmt"
	"math"
	"math/big"

	"dither/account"
	"dither/internal/exact"
	"dither/privacy"
)

// Scenario is the setting in which a promise is read: an attacker, a group of people with a shared secret, and the
// number of people.
type Scenario struct {
	Prior  *big.Rat // the attacker's prior belief in the hypothesis: above 0 and below 1
	Alpha  *big.Rat // the level of the attacker's test, its rate of false alarms: from 0 to 1
	Group  int64    // how many people share a secret, as a family: at least 1
	People int64    // how many people are in the data: at least 1
	// the promise's neighbouring relation; 0 means add/remove, or the relation that a job needs
	Neighbours privacy.Neighbours
}

// check reports an invalid scenario. It refuses a prior of 0 or 1, which no observation changes.
func (s Scenario) check() error {
	one := big.NewRat(1, 1)
	switch {
	case s.Prior == nil || s.Prior.Sign() <= 0 || s.Prior.Cmp(one) >= 0:
		return fmt.Errorf("%w: a prior must be above 0 and below 1, or nothing moves it", account.ErrParameter)
	case s.Alpha == nil || s.Alpha.Sign() < 0 || s.Alpha.Cmp(one) > 0:
		return fmt.Errorf("%w: the level of a test must be from 0 to 1", account.ErrParameter)
	case s.Group < 1:
		return fmt.Errorf("%w: a group has at least 1 person", account.ErrParameter)
	case s.People < 1:
		return fmt.Errorf("%w: there must be at least 1 person", account.ErrParameter)
	case s.Neighbours < 0 || s.Neighbours > privacy.ChangeOne:
		return fmt.Errorf("%w: no neighbouring relation %d", account.ErrParameter, int(s.Neighbours))
	}
	return nil
}

var errVoid = fmt.Errorf("%w: a δ of 1 promises nothing", account.ErrParameter)

// Meaning is what a kept promise means to people: how much an attacker who knows everything else can learn about one
// person, whatever that attacker knows or computes. Every figure is certified: bounds are rounded outward.
type Meaning struct {
	Scenario Scenario // with the relation that the readings are for
	// one step of the neighbouring relation: is she in the data? By change-one: which of two values is hers?
	Person Reading
	Values Reading // two steps: which of two values is hers? By change-one: which values are those of two people?
	// as many steps as the group has people: are all of them in the data? By change-one: which values are theirs?
	Group Reading
	Named Named
}

// Reading is the meaning of a promise for two hypotheses about the data, which that many steps of the neighbouring
// relation join.
type Reading struct {
	Steps   int64
	Told    bool                // whether there is a promise; otherwise only a job's Advantage and Power are known
	Promise account.Approximate // between the two hypotheses: by group privacy, if they are several steps apart
	// a belief that starts at the prior: the odds change by a factor of e^±ε. 0 to 1 if δ is 1
	Posterior Between
	Excess    float64 // the largest mean distance of the belief beyond Posterior; 0 if δ is 0
	// the belief if the odds change by e^±2ε. For Person, if δ is 0, see also Theorem 1 at Inference
	Far Between
	// the largest probability that a belief leaves Far; 0 if δ is 0. 1 means that no bound is known
	Fails     float64
	Advantage float64 // the largest true positive rate minus false positive rate of any test
	Power     float64 // the largest true positive rate of a test at level Alpha
}

// Void reports a promise of nothing: a δ of 1, which group privacy soon reaches. Whatever ε is, beliefs may then
// become anything.
func (r Reading) Void() bool { return r.Told && r.Promise.Delta.Rat().Cmp(big.NewRat(1, 1)) >= 0 }

// Between has a lower and an upper bound.
type Between struct{ Lower, Upper float64 }

// MeaningOf reads a promise of (ε, δ)-differential privacy. Its theorems, where P and Q are the laws of the output
// under two hypotheses, each within (ε, δ) of the other, π the prior of P, and o = (1−π)/π the odds against:
//
// Posterior, δ = 0. Bayes multiplies the odds of P by P(a)/Q(a), which is from e^−ε to e^ε: the belief after any
// output a is from A = 1/(1 + o·e^ε) to B = 1/(1 + o·e^−ε) [Dwork & McSherry 2006; Kasiviswanathan & Smith 2014].
// Theorem 1 at Inference says what follows where the rest of the data are not known.
//
// Posterior, δ > 0. No bound holds for every output: one that has probability δ under P may have none under Q. What
// holds:
//
//   - On average the belief is hardly outside. Let M = πP + (1−π)Q, the law of the output as the attacker expects
//     it, and p(a) = πP(a)/M(a). As B(1−π) = e^ε·π(1−B), M(a)(p(a) − B) = π(1−B)(P(a) − e^ε·Q(a));
//     summed over the outputs where it is above 0, E_M (p − B)₊ ≤ π(1−B)δ. As π(1−A) = e^ε·A(1−π),
//     likewise E_M (A − p)₊ ≤ (1−π)Aδ. Excess is the sum.
//   - Twice as far it is seldom. Let S be the outputs with P > e^2ε·Q. P(S) ≤ e^ε·Q(S) + δ ≤ e^−ε·P(S) +
//     δ, so P(S) ≤ δ/(1 − e^−ε). Let T be those with Q > e^2ε·P. e^2ε·P(T) ≤ Q(T) ≤ e^ε·P(T) + δ,
//     so P(T) ≤ δ·e^−2ε/(1 − e^−ε). So with probability at most δ(1 + e^−2ε)/(1 − e^−ε), under P,
//     and by symmetry under Q and under M, the odds move by more than e^±2ε [the argument is Kasiviswanathan &
//     Smith's, 2014]. At ε = 0 it says nothing.
//
// Advantage. P(S) − Q(S) is at most δ(0), the total variation, which is at most (e^ε − 1 + 2δ)/(e^ε + 1)
// [Kairouz, Oh & Viswanath 2015; account.PromisedCurve at 0]. Some mechanism reaches it.
//
// Power. Of an event of probability at most α under Q, P(S) ≤ e^ε·α + δ, and, by its complement, P(S) ≤ 1 −
// e^−ε(1 − α − δ) [Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015].
//
// Steps. Hypotheses that are k steps apart are within (kε, δ(e^kε − 1)/(e^ε − 1)) [privacy.Delta.Group].
//
// An invalid Scenario and a δ of 1 are account.ErrParameter.
func MeaningOf(p account.Approximate, s Scenario) (Meaning, error) {
	if err := s.check(); err != nil {
		return Meaning{}, err
	}
	if p.Delta.Rat().Cmp(big.NewRat(1, 1)) >= 0 {
		return Meaning{}, errVoid
	}
	if s.Neighbours == 0 {
		s.Neighbours = privacy.AddRemove
	}
	return Meaning{
		Scenario: s,
		Person:   readingOf(p, 1, s),
		Values:   readingOf(p, 2, s),
		Group:    readingOf(p, s.Group, s),
		Named:    named(p.Delta, s.People),
	}, nil
}

// readingOf reads a promise to one person for hypotheses that are k steps apart.
func readingOf(p account.Approximate, steps int64, s Scenario) Reading {
	p = p.Group(steps)
	r := Reading{Steps: steps, Told: true, Promise: p}
	if r.Void() {
		r.Posterior, r.Far = Between{0, 1}, Between{0, 1}
		r.Excess, r.Fails, r.Advantage, r.Power = 1, 1, 1, 1
		return r
	}
	at := stretchOf(p.Epsilon)
	r.Posterior = at.posterior(s.Prior)
	r.Far = stretchOf(p.Epsilon.Times(2)).posterior(s.Prior)
	r.Excess, r.Fails = at.excess(s.Prior, p.Delta), at.fails(p.Delta)
	r.Advantage = at.advantage(p.Delta)
	r.Power = at.power(s.Alpha, p.Delta)
	return r
}

// stretch is a factor of e^ε, in intervals. Where ε is beyond mostStretch, up is not known and down lies between 0
// and e^−mostStretch.
type stretch struct {
	up, down exact.Interval
	beyond   bool
	bits     uint
}

// mostStretch is an ε whose e^−ε is far below the least float.
const mostStretch = 4096

func stretchOf(e privacy.Epsilon) stretch {
	r := e.Rat()
	s := stretch{bits: 192, beyond: r.Cmp(big.NewRat(mostStretch, 1)) > 0}
	if s.beyond {
		r.SetInt64(mostStretch)
	}
	if r.Sign() == 0 {
		s.up, s.down = s.one(), s.one()
		return s
	}
	s.bits += uint(max(0, -new(big.Float).SetRat(r).MantExp(nil))) // 1 − e^−ε loses as many bits as ε has zeros
	s.up = s.of(r).Exp()
	s.down = s.one().Quo(s.up)
	if s.beyond {
		s.down = exact.Hull(s.of(new(big.Rat)), s.down)
	}
	return s
}

func (s stretch) of(r *big.Rat) exact.Interval { return exact.IntervalOf(r, s.bits) }

func (s stretch) one() exact.Interval { return s.of(big.NewRat(1, 1)) }

// still reports an ε of 0.
func (s stretch) still() bool {
	return s.up.Lo().Cmp(s.up.Hi()) == 0 && s.up.Lo().Cmp(big.NewFloat(1)) == 0
}

// posterior is from 1/(1 + o·e^ε) to 1/(1 + o·e^−ε), o the prior's odds against.
func (s stretch) posterior(prior *big.Rat) Between {
	if s.still() {
		return Between{exact.FloatDown(prior), exact.FloatUp(prior)}
	}
	against := s.of(oddsAgainst(prior))
	_, upper := s.one().Quo(s.one().Add(against.Mul(s.down))).Floats()
	if s.beyond {
		return Between{0, min(upper, 1)}
	}
	lower, _ := s.one().Quo(s.one().Add(against.Mul(s.up))).Floats()
	return Between{max(lower, 0), min(upper, 1)}
}

func oddsAgainst(prior *big.Rat) *big.Rat {
	o := new(big.Rat).Sub(big.NewRat(1, 1), prior)
	return o.Quo(o, prior)
}

// excess is δ(π(1−B) + (1−π)A) = δ(1−π)(e^−ε/(1 + o·e^−ε) + e^−ε/(e^−ε + o)).
func (s stretch) excess(prior *big.Rat, d privacy.Delta) float64 {
	if d.IsZero() {
		return 0
	}
	against := s.of(oddsAgainst(prior))
	sum := s.one().Quo(s.one().Add(against.Mul(s.down))).Add(s.one().Quo(s.down.Add(against)))
	rest := new(big.Rat).Sub(big.NewRat(1, 1), prior)
	_, upper := s.of(rest.Mul(rest, d.Rat())).Mul(s.down).Mul(sum).Floats()
	return min(upper, 1)
}

// fails is δ(1 + e^−2ε)/(1 − e^−ε), at most 1.
func (s stretch) fails(d privacy.Delta) float64 {
	if d.IsZero() {
		return 0
	}
	gap := s.one().Sub(s.down)
	if gap.Lo().Sign() <= 0 {
		return 1
	}
	_, upper := s.of(d.Rat()).Mul(s.one().Add(s.down.Mul(s.down))).Quo(gap).Floats()
	return min(upper, 1)
}

// advantage is (e^ε − 1 + 2δ)/(e^ε + 1) = (1 − e^−ε + 2δe^−ε)/(1 + e^−ε).
func (s stretch) advantage(d privacy.Delta) float64 {
	twice := d.Rat()
	_, upper := s.one().Sub(s.down).Add(s.of(twice.Add(twice, twice)).Mul(s.down)).Quo(s.one().Add(s.down)).Floats()
	return max(0, min(upper, 1))
}

// power is the lesser of e^ε·α + δ and 1 − e^−ε(1 − α − δ), at most 1.
func (s stretch) power(alpha *big.Rat, d privacy.Delta) float64 {
	rest := new(big.Rat).Sub(big.NewRat(1, 1), alpha)
	if rest.Sub(rest, d.Rat()).Sign() <= 0 {
		return 1
	}
	// 1 − e^−ε + e^−ε(α + δ)
	_, flat := s.one().Sub(s.down).Add(s.down.Mul(s.of(rest.Sub(big.NewRat(1, 1), rest)))).Floats()
	steep := math.Inf(1)
	switch {
	case alpha.Sign() == 0:
		steep = exact.FloatUp(d.Rat())
	case !s.beyond:
		_, steep = s.of(alpha).Mul(s.up).Add(s.of(d.Rat())).Floats()
	}
	return max(0, min(steep, flat, 1))
}
