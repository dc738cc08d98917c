package stattest

import (
	"fmt"
	"math"
)

// Binomial is the distribution of the number of successes in independent trials.
type Binomial struct {
	Trials      int
	Probability float64 // of a success, in [0, 1]
}

// AtMost returns P(X ≤ k), to about 10 digits. It sums the exact probabilities, without an approximation.
func (b Binomial) AtMost(k int) float64 {
	switch {
	case k < 0:
		return 0
	case k >= b.Trials:
		return 1
	case float64(k) > float64(b.Trials)*b.Probability: // sum the shorter tail instead
		return 1 - b.AtLeast(k+1)
	}
	return b.sum(k, -1, -1)
}

// AtLeast returns P(X ≥ k), to about 10 digits.
func (b Binomial) AtLeast(k int) float64 {
	switch {
	case k <= 0:
		return 1
	case k > b.Trials:
		return 0
	case float64(k) < float64(b.Trials)*b.Probability:
		return 1 - b.AtMost(k-1)
	}
	return b.sum(k, b.Trials+1, 1)
}

// sum adds the probabilities of a tail, from the mode outwards. It stops when the rest is negligible. The
// probabilities fall all the way, so the rest is at most the last one times the number of trials.
func (b Binomial) sum(from, to, step int) float64 {
	total := 0.0
	for k := from; k != to; k += step {
		m := b.mass(k)
		total += m
		if m*float64(b.Trials) < total*1e-14 {
			break
		}
	}
	return min(1, total)
}

// mass returns P(X = k).
func (b Binomial) mass(k int) float64 {
	if b.Probability == 0 || b.Probability == 1 {
		if float64(k) == float64(b.Trials)*b.Probability {
			return 1
		}
		return 0
	}
	lgamma := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return math.Exp(lgamma(b.Trials) - lgamma(k) - lgamma(b.Trials-k) +
		float64(k)*math.Log(b.Probability) + float64(b.Trials-k)*math.Log1p(-b.Probability))
}

// Proportion tests whether a number of successes agrees with their probability.
type Proportion struct {
	Successes  int
	Of         Binomial
	FalseAlarm float64 // probability of a false alarm, such as 1e-6
}

// Check returns an error if there are too few or too many successes. The probability of a false alarm is at most
// FalseAlarm, of which each side gets half.
func (p Proportion) Check() error {
	if tail := p.Of.AtLeast(p.Successes); tail < p.FalseAlarm/2 {
		return p.unlikely("or more", tail)
	}
	if tail := p.Of.AtMost(p.Successes); tail < p.FalseAlarm/2 {
		return p.unlikely("or fewer", tail)
	}
	return nil
}

// CheckAtLeast returns an error only if there are too few successes. It is for confidence intervals, which may
// cover more often than promised. The probability of a false alarm is at most FalseAlarm.
func (p Proportion) CheckAtLeast() error {
	if tail := p.Of.AtMost(p.Successes); tail < p.FalseAlarm {
		return p.unlikely("or fewer", tail)
	}
	return nil
}

// CheckAtMost returns an error only if there are too many successes. It is for tests, which may reject less often
// than promised. The probability of a false alarm is at most FalseAlarm.
func (p Proportion) CheckAtMost() error {
	if tail := p.Of.AtLeast(p.Successes); tail < p.FalseAlarm {
		return p.unlikely("or more", tail)
	}
	return nil
}

func (p Proportion) unlikely(side string, tail float64) error {
	return fmt.Errorf("%d successes %s in %d trials of probability %g have p = %.3g at the false-alarm rate %g",
		p.Successes, side, p.Of.Trials, p.Of.Probability, tail, p.FalseAlarm)
}
