package response

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Category asks each person for one of k = Categories values [k-ary randomised response: Kairouz, Oh & Viswanath
// 2014]. The answer is the true value with probability p = e^ε/(e^ε + k − 1), and each other value with probability
// q = 1/(e^ε + k − 1).
//
// Claim: Category is Epsilon-differentially private between any two values of a person. Proof: the largest ratio of
// an answer's probabilities is p/q = e^ε. The answer is sampled exactly, although p is irrational.
type Category struct {
	Categories int64           // k, the number of values; at least 2
	Epsilon    privacy.Epsilon // the loss of each person's answer; above 0
}

func (m Category) check() error {
	if m.Categories < 2 {
		return fmt.Errorf("%w: a categorical response needs at least 2 categories", mechanism.ErrParameter)
	}
	return parameter.Epsilon(m.Epsilon)
}

// truth returns p, the probability of a truthful answer (see [Category]), to any precision.
func (m Category) truth() sample.Real {
	e, others := m.Epsilon.Rat(), new(big.Rat).SetInt64(m.Categories-1)
	return func(bits uint) exact.Interval {
		grown := exact.IntervalOf(e, bits).Exp()
		return grown.Quo(grown.Add(exact.IntervalOf(others, bits)))
	}
}

// Respond returns an answer from 0 to Categories − 1 for each person's value, independently. A value below 0 counts
// as 0, and a value above Categories − 1 as Categories − 1. An error is ErrParameter, and depends on the parameters
// alone.
func (m Category) Respond(x []mechanism.Exact) ([]int64, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.respond(source, x)
}

func (m Category) respond(src *entropy.Source, x []mechanism.Exact) ([]int64, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	truth := sample.NewBernoulli(m.truth())
	answers := make([]int64, len(x))
	for i, e := range x {
		value, other := m.category(e), int64(src.Below64(uint64(m.Categories-1)))
		if other >= value {
			other++ // a uniform choice among the other values
		}
		answers[i] = other
		if truth.Draw(src) {
			answers[i] = value
		}
	}
	return answers, nil
}

// category returns e's value, clamped to 0 … Categories − 1.
func (m Category) category(e mechanism.Exact) int64 {
	v := opaque.Open(e)
	switch {
	case v.Sign() <= 0:
		return 0
	case !v.IsInt64() || v.Int64() >= m.Categories:
		return m.Categories - 1
	}
	return v.Int64()
}

// Channel returns p, the probability of the true value as the answer, and q, the probability of each other value.
// Both are floats near the exact values. The error is ErrParameter.
func (m Category) Channel() (p, q float64, err error) {
	if err := m.check(); err != nil {
		return 0, 0, err
	}
	p, _ = m.truth()(128).Lo().Float64()
	e, _ := m.Epsilon.Rat().Float64()
	return p, p * math.Exp(-e), nil
}

// Count estimates the number of persons with one value, given the number of answers with that value. With p and q
// of [Category.Channel], the estimate (answers − persons·q)/(p − q) is unbiased. If c is the true count, the
// variance over the random answers is (c·p(1 − p) + (persons − c)·q(1 − q))/(p − q)². The variance is linear in c,
// so the formula with the estimate in place of c is an unbiased estimate of it. Both results are floats near the
// exact values.
func (m Category) Count(answers, persons int64) (count, variance float64, err error) {
	p, q, err := m.Channel()
	if err != nil {
		return 0, 0, err
	}
	if answers < 0 || answers > persons {
		return 0, 0, fmt.Errorf("%w: the count %d is not between 0 and the number of persons, %d",
			mechanism.ErrParameter, answers, persons)
	}
	e, _ := m.Epsilon.Rat().Float64()
	n, gap := float64(persons), -p*math.Expm1(-e) // p − q, without cancellation
	count = (float64(answers) - n*q) / gap
	return count, (count*p*(1-p) + (n-count)*q*(1-q)) / gap / gap, nil
}
