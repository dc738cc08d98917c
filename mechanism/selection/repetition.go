package selection

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/entropy"
	"dither/mechanism"
	"dither/privacy"
)

// Repetition runs a mechanism a random number of times and returns the best result, by a score that each run
// returns. It never reveals the other results, nor their number. It costs three times the loss of one run, for
// every mean number of runs [Liu & Talwar, "Private selection from private candidates", STOC 2019, Theorem 3.2;
// Papernot & Steinke, "Hyperparameter tuning with Rényi differential privacy", ICLR 2022, Theorem 2 with η = 1].
//
// The number of runs K is geometric: P(K = k) = γ(1 − γ)^(k−1) for k = 1, 2, …
//
// Claim: if one run is ε-differentially private, the best result is 3ε-differentially private. Proof for discrete
// outputs, with ties: let one run return y with probability Q(y), where y includes its score. Of equally good runs,
// the first is kept. For a y of score s, let q₌ be the probability of score s, and let q₋ and q₊ be the
// probabilities of lower and of higher scores. With f(t) = Σ P(K = k)·t^k = γt/(1 − (1 − γ)t), the probability of
// the result y is
//
//	A(y) = Σ_k P(K = k) Σ_{j≤k} q₋^(j−1)·Q(y)·(q₋ + q₌)^(k−j)
//	     = Q(y)·(f(q₋ + q₌) − f(q₋))/q₌ = Q(y)·∫₀¹ f′(q₋ + u·q₌) du,
//
// and f′(t) = γ/(γ + (1 − γ)(1 − t))². For neighbours, Q(y) ≤ e^ε·Q′(y). Let t = q₋ + u·q₌. Then 1 − t = q₊ + (1 −
// u)·q₌ ≥ e^−ε·(1 − t′), so f′(t) ≤ e^(2ε)·f′(t′) for all u. Hence A(y) ≤ e^(3ε)·A′(y). ∎
//
// The proof uses only that P(K = k) does not increase with k. That implies (1 − t)·f″(t) ≤ 2f′(t). Indeed, the
// coefficient of t^(k−1) in (1 − t)·f″ is k(k + 1)·P(K = k + 1) − k(k − 1)·P(K = k) ≤ 2k·P(K = k). So (1 −
// t)²·f′(t) decreases, which gives f′(t) ≤ e^(2ε)·f′(t′) if t > t′. If t ≤ t′, f′(t) ≤ f′(t′) since f′ increases.
//
// So a caller may also stop after a fixed number of runs that does not depend on the data, and release nothing.
// That truncates the distribution of K, and costs no more. A run's error ends the runs, so it counts as a result
// that is better than all others.
//
// (A logarithmic K would cost only 2ε, but it so often runs only once that it misses most candidates.) The proof
// concerns the result alone. The running time reveals roughly how many runs there were, and the best of k runs for
// a known k costs kε.
type Repetition struct{ n, d uint64 } // γ = n/d

// The allowed mean numbers of runs.
const (
	leastRepetitions = 2
	mostRepetitions  = 1000
)

// NewRepetition returns a Repetition with about mean runs on average. It returns ErrParameter unless mean is
// between 2 and 1000.
func NewRepetition(mean float64) (Repetition, error) {
	if !(mean >= leastRepetitions && mean <= mostRepetitions) {
		return Repetition{}, fmt.Errorf("%w: the mean number of runs must be from %d to %d",
			mechanism.ErrParameter, leastRepetitions, mostRepetitions)
	}
	const parts = 1 << 24
	return Repetition{n: uint64(math.Round(parts / mean)), d: parts}, nil
}

// Gamma returns γ, the parameter of the geometric number of runs, exactly. It is 0 for the zero Repetition.
func (r Repetition) Gamma() *big.Rat {
	if r.d == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.n), new(big.Int).SetUint64(r.d))
}

// Mean returns the mean number of runs, 1/γ.
func (r Repetition) Mean() float64 { return float64(r.d) / float64(r.n) }

// Missed returns the probability that no run has a given property, if each run has it independently with
// probability p. It is f(1 − p), with the f of [Repetition].
func (r Repetition) Missed(p float64) float64 {
	g := 1 / r.Mean()
	return g * (1 - p) / (g + (1-g)*p)
}

// Loss returns the loss of the best result, three times the loss of a single run.
func (r Repetition) Loss(one privacy.Epsilon) privacy.Epsilon { return one.Times(3) }

// draw returns K, the random number of runs.
func (r Repetition) draw(src *entropy.Source) (k uint64) {
	for k = 1; src.Below64(r.d) >= r.n; k++ { // k does not overflow: counting to 2⁶⁴ takes too long
	}
	return k
}

// Best calls the function run a random number of times, and returns the result with the best score. Of equal
// scores, the first wins. If run returns an error, Best makes no further call and returns that error. A nil score
// and the zero Repetition are ErrParameter.
func Best[T any](r Repetition, run func() (T, *big.Int, error)) (best T, err error) {
	source := entropy.System()
	defer source.Wipe()
	return bestOf(source, r, run)
}

func bestOf[T any](src *entropy.Source, r Repetition, run func() (T, *big.Int, error)) (best T, err error) {
	if r.n == 0 || r.n >= r.d {
		return best, fmt.Errorf("%w: the repetition has no number of runs: create it with NewRepetition",
			mechanism.ErrParameter)
	}
	var top *big.Int
	for k := r.draw(src); k > 0; k-- {
		y, score, err := run()
		if err != nil || score == nil {
			var none T
			if err == nil {
				err = fmt.Errorf("%w: a run returned no score", mechanism.ErrParameter)
			}
			return none, err
		}
		if top == nil || score.Cmp(top) > 0 {
			best, top = y, score
		}
	}
	return best, nil
}

// Candidate returns a uniform number among 0, …, n − 1. A run of [Best] uses it to decide which of n candidates it
// evaluates.
func Candidate(n int) (int, error) {
	if n < 1 {
		return 0, fmt.Errorf("%w: there are no candidates", mechanism.ErrParameter)
	}
	source := entropy.System()
	defer source.Wipe()
	return int(source.Below64(uint64(n))), nil
}
