package selection

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/privacy"
)

// Repetition runs a mechanism a random number of times, and returns the best result, by a score that each run returns.
// It never reveals the other results, nor their number. So it costs three times what one run costs, however many runs
// there are on average [Liu & Talwar, "Private selection from private candidates", STOC 2019, Theorem 3.2; Papernot &
// Steinke, "Hyperparameter tuning with Rényi differential privacy", ICLR 2022, Theorem 2 with η = 1].
//
// The number K is geometric, P(K = k) = γ(1 − γ)^(k−1) for k = 1, 2, …
//
// Proof for pure ε and discrete outputs, ties included. Let one run give y with probability Q(y), and a score that is
// a part of y; the first of equally good runs is kept. For a y of score s let q₌ be the probability of score s, and
// q₋, q₊ those of less and of more. With f(t) = Σ P(K = k)·t^k = γt/(1 − (1 − γ)t),
//
//	A(y) = Σ_k P(K = k) Σ_{j≤k} q₋^(j−1)·Q(y)·(q₋ + q₌)^(k−j) = Q(y)·(f(q₋ + q₌) − f(q₋))/q₌ = Q(y)·∫₀¹ f′(q₋ + u·q₌) du,
//
// and f′(t) = γ/(γ + (1 − γ)(1 − t))². Of neighbours Q(y) ≤ e^ε·Q′(y); and with t = q₋ + u·q₌, 1
// − t = q₊ + (1 − u)·q₌ ≥ e^−ε·(1 − t′), so that f′(t) ≤ e^(2ε)·f′(t′) for all u. So A(y)
// ≤ e^(3ε)·A′(y). ∎
//
// Nothing of the law is used but that P(K = k) does not rise with k. For then (1 − t)·f″(t) ≤ 2f′(t), as of
// the coefficients of t^(k−1) that of (1 − t)·f″ is k(k + 1)·P(K = k + 1) − k(k − 1)·P(K = k) ≤ 2k·P(K
// = k); so (1 − t)²·f′(t) falls, and f′(t) ≤ e^(2ε)·f′(t′) as above, where t ≤ t′ since f′ rises.
// So whoever gives up after a number of runs that the data have no part in, and then says nothing, loses no more: K is
// cut off there. And an error, which ends the runs, is as a result that is better than all others.
//
// (A logarithmic K would cost 2ε, but runs only once so often that it misses most candidates.) The proof concerns the
// result. Somebody who sees the running time learns roughly how many runs there were, and the best of k runs, for a
// known k, costs kε.
type Repetition struct{ n, d uint64 } // γ = n/d

// The allowed mean numbers of runs.
const (
	leastRepetitions = 2
	mostRepetitions  = 1000
)

// NewRepetition makes a Repetition with about mean runs on average. It returns ErrParameter unless mean is between 2
// and 1000.
func NewRepetition(mean float64) (Repetition, error) {
	if !(mean >= leastRepetitions && mean <= mostRepetitions) {
		return Repetition{}, fmt.Errorf("%w: there are %d to %d runs on average",
			mechanism.ErrParameter, leastRepetitions, mostRepetitions)
	}
	const parts = 1 << 24
	return Repetition{n: uint64(math.Round(parts / mean)), d: parts}, nil
}

// Gamma is the distribution's parameter, exactly; 0 for the zero Repetition.
func (r Repetition) Gamma() *big.Rat {
	if r.d == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.n), new(big.Int).SetUint64(r.d))
}

// Mean is how many runs there are on average: 1/γ.
func (r Repetition) Mean() float64 { return float64(r.d) / float64(r.n) }

// Missed is the probability that none of the runs has a property that each has independently with probability p: f(1
// − p).
func (r Repetition) Missed(p float64) float64 {
	g := 1 / r.Mean()
	return g * (1 - p) / (g + (1-g)*p)
}

// Loss is the cost of the best of the runs, each of which costs one.
func (r Repetition) Loss(one privacy.Epsilon) privacy.Epsilon { return one.Times(3) }

// draw is K.
func (r Repetition) draw(src *entropy.Source) (k uint64) {
	for k = 1; src.Below64(r.d) >= r.n; k++ { // 64 bits of k outlast the computer
	}
	return k
}

// Best runs a mechanism, which returns its result and its score, the drawn number of times, and returns the best
// result. An error of a run ends it, and is returned. The zero Repetition is ErrParameter.
func Best[T any](r Repetition, run func() (T, *big.Int, error)) (best T, err error) {
	source := entropy.System()
	defer source.Wipe()
	return bestOf(source, r, run)
}

func bestOf[T any](src *entropy.Source, r Repetition, run func() (T, *big.Int, error)) (best T, err error) {
	if r.n == 0 || r.n >= r.d {
		return best, fmt.Errorf("%w: a repetition needs a number of runs", mechanism.ErrParameter)
	}
	var top *big.Int
	for k := r.draw(src); k > 0; k-- {
		y, score, err := run()
		if err != nil || score == nil {
			var none T
			if err == nil {
				err = fmt.Errorf("%w: a run without a score", mechanism.ErrParameter)
			}
			return none, err
		}
		if top == nil || score.Cmp(top) > 0 {
			best, top = y, score
		}
	}
	return best, nil
}

// Candidate is uniform among 0, …, n − 1: it decides which of its candidates a run takes.
func Candidate(n int) (int, error) {
	if n < 1 {
		return 0, fmt.Errorf("%w: there is nothing to take", mechanism.ErrParameter)
	}
	source := entropy.System()
	defer source.Wipe()
	return int(source.Below64(uint64(n))), nil
}
