package selection

import (
	"fmt"
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Exponential is the exponential mechanism [McSherry & Talwar 2007]. From candidates with integer scores u_i, it
// chooses i with P(i) ∝ exp(c·u_i). Here c = ε/(2Δ), or ε/Δ if the scores are monotonic.
//
// Claim: the mechanism is Epsilon-differentially private. Proof: let d_j = u_j − u′_j between neighbours. All d_j
// lie in an interval [a, a + r] with r = 2Δ, or r = Δ if the scores are monotonic, so c·r = ε. Let Z = Σ_j
// exp(c·u_j). The terms of Z are those of Z′ multiplied by exp(c·d_j). These factors lie in [exp(c·a), exp(c·(a +
// r))], and so does Z/Z′. Hence ln(P(i)/P′(i)) = c·d_i − ln(Z/Z′) is at most c·r = ε in magnitude. Moreover, c·d_i
// − ln(Z/Z′) lies in the same interval of length c·r = ε for all i. So the mechanism is ε-bounded-range, which
// [Exponential.ZCDP] uses. The choice is sampled exactly, and c is an exact rational, so no step of the argument is
// rounded. ∎
//
// The choice is sampled by a race in logarithms (sample.Race). Rejection sampling would also be exact: it proposes
// candidates uniformly and accepts with probability exp(c·(u_i − max u)). But it reads the scores twice, and its
// number of rounds depends on the scores, so its time would reveal how close the other scores were. The race reads
// the scores once and makes equal draws for each candidate.
type Exponential struct {
	Sensitivity *big.Int // the most that one score changes between neighbours, in the scores' unit; at least 1
	Monotonic   bool     // between neighbours, no two scores change in opposite directions
	Epsilon     privacy.Epsilon
}

// Select chooses one of the candidates, given their scores. An empty list, or parameters that give no privacy, are
// ErrParameter.
func (m Exponential) Select(scores []mechanism.Exact) (Choice, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.choose(source, scores)
}

func (m Exponential) choose(src *entropy.Source, scores []mechanism.Exact) (Choice, error) {
	first, err := race(src, m.rate, scores, 1)
	if err != nil {
		return Choice{}, err
	}
	return Choice{Index: first[0], Loss: privacy.PureLoss(m.Epsilon)}, nil
}

// rate returns c, the factor of the scores in the exponent.
func (m Exponential) rate() (*big.Rat, error) {
	return parameter.SelectionRate(m.Sensitivity, m.Monotonic, m.Epsilon)
}

// ZCDP returns the loss of one choice under zCDP: ε²/8, a quarter of what a pure loss of ε costs (see
// privacy.Epsilon.BoundedRange). An accountant may charge it instead of the Choice's own loss, not in addition.
func (m Exponential) ZCDP() privacy.Loss {
	return privacy.ZCDPLoss(m.Epsilon.BoundedRange(), privacy.Delta{})
}

// Shortfall returns a bound on how far the chosen score is below the best one, among n candidates or outputs. The
// bound holds with probability at least 1 − beta. It is (ln n + ln(1/β))/c, which is 2Δ(ln n + ln(1/β))/ε for
// scores that are not monotonic, rounded up, in the scores' unit.
//
// Proof: consider weights relative to the best candidate's weight. All weights together are at least 1. A candidate
// whose score is more than t below the best has a weight below exp(−c·t), and there are fewer than n such
// candidates. So P(shortfall > t) < n·exp(−c·t), which is β at t = (ln n + ln(1/β))/c [Dwork & Roth 2014, Theorem
// 3.11]. ∎
func (m Exponential) Shortfall(n *big.Int, beta float64) (float64, error) {
	c, err := m.rate()
	if err != nil {
		return 0, err
	}
	return exponentialShortfall(c, n, beta)
}

// race draws k of the candidates without replacement. Each draw is in proportion to exp(c·u) among the remaining
// candidates, where u is a candidate's score and c the value of rate.
func race(src *entropy.Source, rate func() (*big.Rat, error), scores []mechanism.Exact, k int) ([]int, error) {
	c, err := rate()
	switch {
	case err != nil:
		return nil, err
	case k < 1 || k > len(scores):
		return nil, fmt.Errorf("%w: %d outputs cannot be chosen from %d", mechanism.ErrParameter, k, len(scores))
	}
	r, one := sample.NewRace(src, c, k), big.NewInt(1)
	for i, e := range scores {
		r.EnterBig(int64(i), one, opaque.Open(e))
	}
	out := make([]int, k)
	for i, w := range r.Winners() {
		out[i] = int(w)
	}
	return out, nil
}
