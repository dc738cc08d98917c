package interpret

import (
	"fmt"
	"math"
	"math/big"

	"dither/account"
	"dither/internal/exact"
	"dither/privacy"
)

// Scenario is the setting in which a promise is interpreted: an attacker, a group of people with a shared secret,
// and the number of people.
type Scenario struct {
	Prior  *big.Rat // the attacker's prior belief in a hypothesis; above 0 and below 1
	Alpha  *big.Rat // the level of the attacker's test: its false positive rate, from 0 to 1
	Group  int64    // the number of people who share a secret, for example a family; at least 1
	People int64    // the number of people in the data; at least 1
	// Neighbours is the neighbouring relation of the promise. 0 means the relation that a job needs, or add/remove.
	Neighbours privacy.Neighbours
}

// check returns an error for an invalid scenario. It refuses a prior of 0 or 1, because no observation changes such
// a belief.
func (s Scenario) check() error {
	one := big.NewRat(1, 1)
	switch {
	case s.Prior == nil || s.Prior.Sign() <= 0 || s.Prior.Cmp(one) >= 0:
		return fmt.Errorf("%w: a prior must be above 0 and below 1, because no answer changes a prior of 0 or "+
			"1", account.ErrParameter)
	case s.Alpha == nil || s.Alpha.Sign() < 0 || s.Alpha.Cmp(one) > 0:
		return fmt.Errorf("%w: the level of a test must be from 0 to 1", account.ErrParameter)
	case s.Group < 1:
		return fmt.Errorf("%w: a group must have at least 1 person", account.ErrParameter)
	case s.People < 1:
		return fmt.Errorf("%w: there must be at least 1 person", account.ErrParameter)
	case s.Neighbours < 0 || s.Neighbours > privacy.ChangeOne:
		return fmt.Errorf("%w: there is no neighbouring relation %d", account.ErrParameter, int(s.Neighbours))
	}
	return nil
}

var errVoid = fmt.Errorf("%w: a δ of 1 gives no protection", account.ErrParameter)

// Meaning is the meaning of a kept promise: how much an attacker who knows everything else can learn about one
// person, whatever the attacker knows or computes. All figures are certified bounds, rounded outward.
type Meaning struct {
	Scenario Scenario // with the neighbouring relation that was used
	// Person is for one step of the neighbouring relation. Add/remove: whether one person is in the data.
	// Change-one: which of two values one person has.
	Person Reading
	// Values is for two steps. Add/remove: which of two values one person has. Change-one: which values two people
	// have.
	Values Reading
	// Group is for as many steps as the group has people. Add/remove: whether all of them are in the data.
	// Change-one: which values they have.
	Group Reading
	Named Named
}

// Reading is the meaning of a promise for two hypotheses about the data that are Steps steps of the neighbouring
// relation apart.
type Reading struct {
	Steps   int64
	Told    bool                // whether there is a promise; if not, only Advantage and Power are known
	Promise account.Approximate // the promise between the two hypotheses; for several steps, by group privacy
	// Posterior is the range of a belief that starts at the prior, if its odds change by a factor between e^−ε and
	// e^ε. It is 0 to 1 if δ is 1.
	Posterior Between
	Excess    float64 // the largest mean distance of a belief outside Posterior; 0 if δ is 0
	// Far is the range of a belief that starts at the prior, if its odds change by a factor between e^−2ε and e^2ε.
	// For Person and δ = 0, Theorem 1 at [Inference] also leads to these factors.
	Far Between
	// Fails is the largest probability that a belief is outside Far. It is 0 if δ is 0. A value of 1 means that no
	// bound is known.
	Fails     float64
	Advantage float64 // the largest true positive rate minus false positive rate of any test
	Power     float64 // the largest true positive rate of a test at level Alpha
}

// Void reports whether the promise is empty because its δ is 1. Group privacy reaches this δ after a few steps.
// Beliefs may then become anything, whatever ε is.
func (r Reading) Void() bool { return r.Told && r.Promise.Delta.Rat().Cmp(big.NewRat(1, 1)) >= 0 }

// Between is an interval: a lower and an upper bound.
type Between struct{ Lower, Upper float64 }

// MeaningOf interprets a promise of (ε, δ)-differential privacy. It returns account.ErrParameter if the scenario is
// invalid, or if δ is 1. The rest of this comment proves the figures. P and Q are the distributions of the output
// under two hypotheses between which the promise holds. π is the prior probability of P, and o = (1−π)/π are the
// odds against P.
//
// Posterior, for δ = 0. Claim: after any output a, the belief in P is between A = 1/(1 + o·e^ε) and B = 1/(1 +
// o·e^−ε). Proof: Bayes' rule multiplies the odds of P by P(a)/Q(a), which is between e^−ε and e^ε [Dwork &
// McSherry 2006; Kasiviswanathan & Smith 2014]. Theorem 1 at [Inference] covers attackers who do not know the rest
// of the data.
//
// Posterior, for δ > 0. No bound holds for every output: an output with probability δ under P may be impossible
// under Q. Two weaker claims hold:
//
//   - Claim: the mean distance of the belief outside [A, B] is at most δ(π(1−B) + (1−π)A), which is Excess.
//     Proof: let M = πP + (1−π)Q be the distribution of the output that the attacker expects, and
//     p(a) = πP(a)/M(a) the belief. As B(1−π) = e^ε·π(1−B), M(a)(p(a) − B) = π(1−B)(P(a) − e^ε·Q(a)).
//     The sum over all outputs for which this is positive gives E_M (p − B)₊ ≤ π(1−B)δ. Likewise, as
//     π(1−A) = e^ε·A(1−π), E_M (A − p)₊ ≤ (1−π)Aδ. ∎
//   - Claim: the odds change by more than a factor of e^±2ε with probability at most
//     δ(1 + e^−2ε)/(1 − e^−ε), which is Fails. Proof: let S be the outputs with P > e^2ε·Q. Then
//     P(S) ≤ e^ε·Q(S) + δ ≤ e^−ε·P(S) + δ, so P(S) ≤ δ/(1 − e^−ε). Let T be the outputs with
//     Q > e^2ε·P. Then e^2ε·P(T) ≤ Q(T) ≤ e^ε·P(T) + δ, so P(T) ≤ δ·e^−2ε/(1 − e^−ε). The sum bounds
//     the probability under P, and by symmetry under Q and under M [the argument is Kasiviswanathan &
//     Smith's, 2014]. ∎ At ε = 0 there is no bound.
//
// Advantage. Claim: P(S) − Q(S) is at most (e^ε − 1 + 2δ)/(e^ε + 1) for every event S. This bounds δ(0), the total
// variation distance [Kairouz, Oh & Viswanath 2015; account.PromisedCurve at 0]. Some mechanism attains the bound.
//
// Power. Claim: an event S with Q(S) ≤ α has P(S) ≤ e^ε·α + δ, and P(S) ≤ 1 − e^−ε(1 − α − δ). The second bound
// follows from the complement of S [Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015].
//
// Steps. Claim: hypotheses that are k steps apart are within (kε, δ(e^kε − 1)/(e^ε − 1)) [privacy.Delta.Group].
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

// readingOf interprets a promise for one step, for hypotheses that are that many steps apart.
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

// stretch holds the factors up = e^ε and down = e^−ε, as intervals. If ε is above mostStretch, beyond is set, up is
// not known, and down is the interval from 0 to e^−mostStretch.
type stretch struct {
	up, down exact.Interval
	beyond   bool
	bits     uint
}

// mostStretch is an ε for which e^−ε is far below the smallest positive float.
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
	// the difference 1 − e^−ε loses as many bits as ε has leading zeros
	s.bits += uint(max(0, -new(big.Float).SetRat(r).MantExp(nil)))
	s.up = s.of(r).Exp()
	s.down = s.one().Quo(s.up)
	if s.beyond {
		s.down = exact.Hull(s.of(new(big.Rat)), s.down)
	}
	return s
}

func (s stretch) of(r *big.Rat) exact.Interval { return exact.IntervalOf(r, s.bits) }

func (s stretch) one() exact.Interval { return s.of(big.NewRat(1, 1)) }

// still reports whether ε is 0.
func (s stretch) still() bool {
	return s.up.Lo().Cmp(s.up.Hi()) == 0 && s.up.Lo().Cmp(big.NewFloat(1)) == 0
}

// posterior returns the interval from 1/(1 + o·e^ε) to 1/(1 + o·e^−ε), where o are the prior odds against the
// hypothesis.
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

// excess returns δ(π(1−B) + (1−π)A), with the symbols of [MeaningOf]. It is computed as δ(1−π)(e^−ε/(1 + o·e^−ε) +
// e^−ε/(e^−ε + o)).
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

// fails returns the bound on Reading.Fails: δ(1 + e^−2ε)/(1 − e^−ε), or 1 if that is larger.
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

// advantage returns the bound on Reading.Advantage, (e^ε − 1 + 2δ)/(e^ε + 1). It is computed as (1 − e^−ε +
// 2δe^−ε)/(1 + e^−ε).
func (s stretch) advantage(d privacy.Delta) float64 {
	twice := d.Rat()
	_, upper := s.one().Sub(s.down).Add(s.of(twice.Add(twice, twice)).Mul(s.down)).Quo(s.one().Add(s.down)).Floats()
	return max(0, min(upper, 1))
}

// power returns the bound on Reading.Power: the smallest of e^ε·α + δ, 1 − e^−ε(1 − α − δ), and 1, where α is the
// level of the test.
func (s stretch) power(alpha *big.Rat, d privacy.Delta) float64 {
	rest := new(big.Rat).Sub(big.NewRat(1, 1), alpha)
	if rest.Sub(rest, d.Rat()).Sign() <= 0 {
		return 1
	}
	// flat is 1 − e^−ε + e^−ε(α + δ)
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
