package local

import (
	"errors"
	"math"
	"math/big"

	"dither/account"
	"dither/internal/exact"
	"dither/local/internal/coin"
	"dither/privacy"
)

// Shuffler declares a separate party that collects reports in batches, removes everything but the reports
// (identities, addresses, times, order), and forwards each batch in random order. All people of a batch use the same
// randomizer. Reports of two kinds in one batch are two batches: a report is hidden among those of its kind alone.
//
// Its guarantee, amplified by shuffling, holds against those who see only what leaves it. It does not hold against
// the shuffler itself, or against a collector who receives the reports from their senders. For these, the local ε
// holds alone.
type Shuffler struct {
	LeastBatch     int64           // the least number of honest reports in a batch; senders who collude do not count
	LargestEpsilon privacy.Epsilon // the largest ε of the batches
}

// Epsilon returns an ε, rounded up, at which a shuffled batch is (ε, δ)-differentially private if one person's value
// is replaced by another (change-one). See account.Shuffle, which has the theorem and its source. The error is
// ErrParameter.
func (s Shuffler) Epsilon(d privacy.Delta) (privacy.Epsilon, error) {
	shuffle, err := account.NewShuffle(s.LeastBatch, s.LargestEpsilon)
	if err != nil {
		return privacy.Epsilon{}, errors.Join(ErrParameter, err)
	}
	return shuffle.Epsilon(d), nil
}

// BeforeShuffling returns an ε₀, rounded down to three digits, of reports that are (target, δ)-differentially private
// after a shuffler with batches of n honest reports. It is certified, and within 2 % of the largest that the theorem
// of account.Shuffle certifies, or coin.MaxEpsilon. It is never below the target, because shuffling reveals no more
// than the reports. The errors are those of [Shuffler.Epsilon].
func BeforeShuffling(n int64, target privacy.Epsilon, d privacy.Delta) (privacy.Epsilon, error) {
	goal := exact.FloatDown(d.Rat())
	low, high := target, epsilonOf(coin.MaxEpsilon) // low is certified
	for {
		a, _ := low.Rat().Float64()
		b, _ := high.Rat().Float64()
		if b <= 1.02*a {
			return low, nil
		}
		middle := epsilonOf(math.Sqrt(a * b))
		if middle.Cmp(low) <= 0 {
			return low, nil
		}
		shuffle, err := account.NewShuffle(n, middle)
		if err != nil {
			return low, errors.Join(ErrParameter, err)
		}
		certified := shuffle.ClosedForm(d).Cmp(target) <= 0
		if !certified {
			_, upper := shuffle.Delta(target)
			certified = upper <= goal
		}
		if certified {
			low = middle
		} else {
			high = middle
		}
	}
}

// epsilonOf returns a positive float as an ε, rounded down to three digits.
func epsilonOf(x float64) privacy.Epsilon {
	e, err := privacy.EpsilonOf(exact.FloorDigits(new(big.Rat).SetFloat64(x), 3))
	if err != nil {
		panic(err) // x is positive
	}
	return e
}
