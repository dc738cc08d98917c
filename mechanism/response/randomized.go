// Package response contains mechanisms that randomise each person's own answer, so that the collected data are
// already private.
package response

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/privacy"
)

// Randomized asks each person for one bit, in a way that the person can deny the answer [Warner 1965]. A first coin
// decides whether to answer truthfully. If not, a second coin gives the answer. With two fair coins, as in
// textbooks, the loss is exactly ln 3.
//
// If the true bit is 1, the answer is 1 with probability a = Truth + (1 − Truth)·Yes. If the true bit is 0, the
// answer is 1 with probability d = (1 − Truth)·Yes < a. All four probabilities are rational. The loss between any
// two values of one person's bit is the largest ratio of an answer's probabilities under the two bits: e^ε =
// max(a/d, (1 − d)/(1 − a)). The coins, whose probabilities are rational, are tossed exactly.
//
// Each answer is private by itself. So no curator need be trusted, and the guarantee does not depend on other
// persons' answers.
type Randomized struct {
	Truth *big.Rat // the probability of a truthful answer; above 0 and below 1
	Yes   *big.Rat // the probability that the second coin says 1; above 0 and below 1
}

// channel returns the probabilities of the answer 1: a if the true bit is 1, and d if it is 0. Both are above 0 and
// below 1, since Truth and Yes are. The error is ErrParameter.
func (m Randomized) channel() (a, d *big.Rat, err error) {
	one := big.NewRat(1, 1)
	for _, p := range []*big.Rat{m.Truth, m.Yes} {
		if p == nil || p.Sign() <= 0 || p.Cmp(one) >= 0 {
			return nil, nil, fmt.Errorf(
				"%w: both coins of a randomized response need a probability above 0 and below 1",
				mechanism.ErrParameter)
		}
		if p.Denom().BitLen() > maxCoinBits {
			return nil, nil, fmt.Errorf("%w: the fraction of a coin's probability is too long", mechanism.ErrParameter)
		}
	}
	d = new(big.Rat).Sub(one, m.Truth)
	d.Mul(d, m.Yes)
	return new(big.Rat).Add(m.Truth, d), d, nil
}

// maxCoinBits limits the denominators of the coins' probabilities. A longer fraction is probably a mistake, or an
// attempt to exhaust memory.
const maxCoinBits = 4096

// Channel returns the exact probability of each answer under each bit, as Channel()[bit][answer], or ErrParameter.
func (m Randomized) Channel() (p [2][2]*big.Rat, err error) {
	a, d, err := m.channel()
	if err != nil {
		return p, err
	}
	one := big.NewRat(1, 1)
	return [2][2]*big.Rat{{new(big.Rat).Sub(one, d), d}, {new(big.Rat).Sub(one, a), a}}, nil
}

// Ratio returns e^ε, the largest ratio of an answer's probabilities under the two bits, exactly. The error is
// ErrParameter.
func (m Randomized) Ratio() (*big.Rat, error) {
	p, err := m.Channel()
	if err != nil {
		return nil, err
	}
	yes, no := new(big.Rat).Quo(p[1][1], p[0][1]), new(big.Rat).Quo(p[0][0], p[1][0])
	if no.Cmp(yes) > 0 {
		return no, nil
	}
	return yes, nil
}

// Epsilon returns the logarithm of Ratio, rounded up to 17 significant digits, or ErrParameter.
func (m Randomized) Epsilon() (privacy.Epsilon, error) {
	ratio, err := m.Ratio()
	if err != nil {
		return privacy.Epsilon{}, err
	}
	ln := exact.IntervalOf(ratio.Sub(ratio, big.NewRat(1, 1)), 128).Log1p()
	up, _ := ln.Hi().Rat(nil)
	return privacy.EpsilonOf(exact.CeilDigits(up, 17))
}

// Respond returns an independent answer for each person. A person's true bit is 1 if the exact value is not 0. An
// error is ErrParameter, and depends on the parameters alone.
func (m Randomized) Respond(x []mechanism.Exact) ([]bool, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.respond(source, x)
}

func (m Randomized) respond(src *entropy.Source, x []mechanism.Exact) ([]bool, error) {
	if _, _, err := m.channel(); err != nil {
		return nil, err
	}
	answers := make([]bool, len(x))
	for i, e := range x {
		// Both coins are tossed for everybody, so the number of draws does not depend on the bit.
		truth, yes := toss(src, m.Truth), toss(src, m.Yes)
		answers[i] = yes
		if truth {
			answers[i] = opaque.Open(e).Sign() != 0
		}
	}
	return answers, nil
}

// toss returns true with probability p, exactly.
func toss(src *entropy.Source, p *big.Rat) bool { return src.Below(p.Denom()).Cmp(p.Num()) < 0 }

// Count estimates the number of persons whose true bit is 1, given that ones of persons answered 1. With a and d of
// [Randomized], the estimate is unbiased, since E[ones] = count·Truth + persons·d. It may be below 0 or above
// persons. If c is the true count, the variance of the estimate over the coins is
//
//	(c·a(1 − a) + (persons − c)·d(1 − d))/Truth².
//
// This is linear in c, so the formula with the estimate in place of c is an unbiased estimate of the variance. At d
// = 1 − a it does not depend on c. Both results are exact. If ones is below 0 or above persons, the error is
// ErrParameter. That error may depend on the answers, because answers are not secret.
func (m Randomized) Count(ones, persons int64) (count, variance *big.Rat, err error) {
	a, d, err := m.channel()
	if err != nil {
		return nil, nil, err
	}
	if ones < 0 || ones > persons {
		return nil, nil, fmt.Errorf("%w: the count %d is not between 0 and the number of persons, %d",
			mechanism.ErrParameter, ones, persons)
	}
	n := new(big.Rat).SetInt64(persons)
	count = new(big.Rat).SetInt64(ones)
	count.Sub(count, new(big.Rat).Mul(n, d)).Quo(count, m.Truth)
	coin := func(p *big.Rat) *big.Rat { q := new(big.Rat).Sub(big.NewRat(1, 1), p); return q.Mul(q, p) }
	variance = new(big.Rat).Mul(count, coin(a))
	rest := new(big.Rat).Sub(n, count)
	variance.Add(variance, rest.Mul(rest, coin(d)))
	variance.Quo(variance, m.Truth).Quo(variance, m.Truth)
	return count, variance, nil
}
