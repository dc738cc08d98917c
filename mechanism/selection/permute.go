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

// PermuteAndFlip visits the candidates in a random order and flips a coin for each [McKenna & Sheldon 2020]. It
// chooses the first candidate whose coin shows heads. The coin of candidate i shows heads with probability
// exp(c·(u_i − u*)), where u* = max u and c is the factor of Exponential. The coin of a candidate with the highest
// score always shows heads, so the search ends.
//
// Distribution: let each candidate arrive at a uniform time in [0, 1], and let p_j = exp(c·(u_j − u*)). Candidate i
// is chosen if its coin shows heads and no earlier candidate's coin does. So
//
//	P(i) = p_i·∫₀¹ ∏_{j≠i} (1 − t·p_j) dt.
//
// Claim: the mechanism is Epsilon-differentially private. Proof: let r = 2Δ, or r = Δ if the scores are monotonic,
// so c·r = ε. P depends only on differences of scores, so adding the same constant to all of u′ changes nothing. A
// suitable constant gives 0 ≤ u′_j − u_j ≤ r for all j. Another gives −r ≤ u′_j − u_j ≤ 0 for all j. The proof uses
// two facts.
//
// (i) Raising u_i alone by δ multiplies P(i) by at least 1 and at most exp(c·δ). While u_i is below u*, only p_i
// changes, by exp(c·δ). Once u_i is at u*, the other p_j shrink by q = exp(−c·δ). Then ∫₀¹∏(1 − tqp_j)dt =
// (1/q)·∫₀^q ∏(1 − sp_j)ds, which is at most 1/q times its value before.
//
// (ii) Raising another u_j does not raise P(i). While u_j is below u*, this shrinks a factor. Once u_j is at u*,
// p_j = 1, and all other p shrink by q. Then p_i·q·∫₀¹(1 − t)∏(1 − tqp_k)dt = p_i·∫₀^q (1 − s/q)∏(1 − sp_k)ds ≤
// p_i·∫₀¹(1 − s)∏(1 − sp_k)ds.
//
// If u′ ≥ u by at most r, (ii) and then (i) give P′(i) ≤ exp(c·r)·P(i). If u′ ≤ u by at most r, they give P(i) ≤
// exp(c·r)·P′(i). The coins and the order are drawn exactly, so no step of the argument is rounded. ∎
//
// PermuteAndFlip is never worse than Exponential. P(i)/exp(c·u_i) is proportional to ∫∏_j (1 − tp_j)/(1 − tp_i) dt,
// which increases with u_i. So the ratio of the two distributions increases with the score, and the chosen score is
// stochastically larger than Exponential's. PermuteAndFlip is not bounded-range, so it has no ZCDP method. Under
// zCDP it costs ε²/2.
type PermuteAndFlip struct {
	Sensitivity *big.Int // the most that one score changes between neighbours, in the scores' unit; at least 1
	Monotonic   bool     // between neighbours, no two scores change in opposite directions
	Epsilon     privacy.Epsilon
}

// Select chooses one of the candidates, given their scores. An empty list, or parameters that give no privacy, are
// ErrParameter.
func (m PermuteAndFlip) Select(scores []mechanism.Exact) (Choice, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.choose(source, scores)
}

func (m PermuteAndFlip) choose(src *entropy.Source, scores []mechanism.Exact) (Choice, error) {
	c, err := parameter.SelectionRate(m.Sensitivity, m.Monotonic, m.Epsilon)
	switch {
	case err != nil:
		return Choice{}, err
	case len(scores) == 0:
		return Choice{}, fmt.Errorf("%w: there are no scores to choose from", mechanism.ErrParameter)
	}
	best := opaque.Open(scores[0])
	order := make([]int, len(scores))
	for i, e := range scores {
		order[i] = i
		if u := opaque.Open(e); u.Cmp(best) > 0 {
			best = u
		}
	}
	x := new(big.Rat)
	for i := 0; ; i++ { // The loop ends, because the coin of a best candidate always shows heads.
		j := i + int(src.Below64(uint64(len(order)-i)))
		order[i], order[j] = order[j], order[i]
		x.SetInt(new(big.Int).Sub(best, opaque.Open(scores[order[i]])))
		if sample.BernoulliExp(src, x.Mul(x, c)) {
			return Choice{Index: order[i], Loss: privacy.PureLoss(m.Epsilon)}, nil
		}
	}
}

// Shortfall returns a bound on how far the chosen score is below the best one, among n candidates. The bound holds
// with probability at least 1 − beta. It is [Exponential.Shortfall], because PermuteAndFlip is never worse than
// Exponential.
func (m PermuteAndFlip) Shortfall(n *big.Int, beta float64) (float64, error) {
	return Exponential(m).Shortfall(n, beta)
}
