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

// Exponential is the exponential mechanism [McSherry & Talwar 2007]: of candidates with integer scores u_i it chooses i
// with P(i) ∝ exp(c·u_i), c = ε/(2Δ), or ε/Δ where scores are monotonic.
//
// It is Epsilon-differentially private. Proof: let d_j = u_j − u′_j between neighbours, all of them in an interval
// [a, a + r] with r = 2Δ, or Δ where scores are monotonic, so that c·r = ε. With Z = Σ_j exp(c·u_j), the factors
// exp(c·d_j) of the terms of Z relative to those of Z′ lie in [exp(c·a), exp(c·(a + r))], and so does Z/Z′.
// Hence ln(P(i)/P′(i)) = c·d_i − ln(Z/Z′) is at most c·r = ε in magnitude. Moreover c·d_i − ln(Z/Z′) lies
// for all i in one interval of length c·r = ε: the mechanism is ε-bounded-range, which ZCDP uses. The choice is
// sampled exactly, with c an exact rational: nothing in the argument is rounded. ∎
//
// It is sampled by a race in logarithms (sample.Race). Rejection, with a coin of probability exp(c·(u_i − max u))
// for uniformly proposed candidates, would be as exact. But it reads the scores twice, and its number of rounds depends
// on how unequal they are, so its time would reveal how close the others came. The race reads once, and draws equally
// for each candidate.
type Exponential struct {
	Sensitivity *big.Int // the most by which a score changes between neighbours, in the scores' unit; at least 1
	Monotonic   bool     // between neighbours, no two scores change in opposite directions
	Epsilon     privacy.Epsilon
}

// Select chooses one of the candidates. No candidates, or parameters that give no privacy, are ErrParameter.
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

// rate is c.
func (m Exponential) rate() (*big.Rat, error) {
	return parameter.SelectionRate(m.Sensitivity, m.Monotonic, m.Epsilon)
}

// ZCDP is the loss of one choice under zCDP: ε²/8, a quarter of what a pure loss of ε costs there
// (privacy.Epsilon.BoundedRange). It may be charged in place of the Choice's own loss, never beside it.
func (m Exponential) ZCDP() privacy.Loss {
	return privacy.ZCDPLoss(m.Epsilon.BoundedRange(), privacy.Delta{})
}

// Shortfall bounds how far below the best score the chosen one is, with probability at least 1 − beta, among n
// candidates or outputs: (ln n + ln(1/β))/c, which is 2Δ(ln n + ln(1/β))/ε, rounded up, in the scores' unit.
//
// Proof: of the weights relative to the best's, each of those that are more than t below it is less than exp(−c·t),
// and there are fewer than n; all together weigh 1 or more. So P(shortfall > t) < n·exp(−c·t), which is β at that
// t [Dwork & Roth 2014, Theorem 3.11]. ∎
func (m Exponential) Shortfall(n *big.Int, beta float64) (float64, error) {
	c, err := m.rate()
	if err != nil {
		return 0, err
	}
	return exponentialShortfall(c, n, beta)
}

// race draws k of the candidates without replacement, each in proportion to exp(c·u) among the remaining ones.
func race(src *entropy.Source, rate func() (*big.Rat, error), scores []mechanism.Exact, k int) ([]int, error) {
	c, err := rate()
	switch {
	case err != nil:
		return nil, err
	case k < 1 || k > len(scores):
		return nil, fmt.Errorf("%w: %d cannot be chosen from %d", mechanism.ErrParameter, k, len(scores))
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
