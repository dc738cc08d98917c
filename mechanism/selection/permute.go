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

// PermuteAndFlip goes through the candidates in a random order and takes the first whose coin, of probability
// exp(c·(u_i − u*)) with u* = max u, shows heads [McKenna & Sheldon 2020]; c is the factor of Exponential. The coin of
// a candidate with the highest score always shows heads, so the search ends.
//
// Law: let each candidate come at a uniform time in [0, 1], and p_j = exp(c·(u_j − u*)). i is taken if its coin
// shows heads and no other came before with heads, so
//
//	P(i) = p_i·∫₀¹ ∏_{j≠i} (1 − t·p_j) dt.
//
// It is Epsilon-differentially private. Proof: P depends on differences of scores alone, so the same constant may be
// added to all of u′ until 0 ≤ u′_j − u_j ≤ r for all j, or −r ≤ u′_j − u_j ≤ 0 for all j, as we
// like, with r = 2Δ, or Δ where scores are monotonic; c·r = ε. Now
//
//	(i) raising u_i alone by δ multiplies P(i) by at least 1 and at most exp(c·δ): below u* p_i alone changes, by exp(c·δ); from u*
//	on the other p_j shrink by q = exp(−c·δ), and ∫₀¹∏(1 − tqp_j)dt = (1/q)·∫₀^q ∏(1 − sp_j)ds, at most 1/q times what it was;
//	(ii) raising another u_j does not raise P(i): below u* it shrinks a factor; from u* on, with p_j = 1, all other p shrink by q,
//	and p_i·q·∫₀¹(1 − t)∏(1 − tqp_k)dt = p_i·∫₀^q (1 − s/q)∏(1 − sp_k)ds ≤ p_i·∫₀¹(1 − s)∏(1 − sp_k)ds.
//
// With u′ ≥ u by at most r, (ii) and then (i) give P′(i) ≤ exp(c·r)·P(i); with u′ ≤ u by at most r, P(i)
// ≤ exp(c·r)·P′(i). ∎ Coins and order are drawn exactly: nothing in the argument is rounded.
//
// It is never worse than Exponential: P(i)/exp(c·u_i) is proportional to ∫∏_j (1 − tp_j)/(1 − tp_i) dt, which
// rises with u_i. So the ratio of the two laws rises with the score, and the score that is chosen is stochastically the
// larger one. It is not bounded-range, and has no ZCDP of its own: under zCDP it costs ε²/2.
type PermuteAndFlip struct {
	Sensitivity *big.Int // the most by which a score changes between neighbours, in the scores' unit; at least 1
	Monotonic   bool     // between neighbours, no two scores change in opposite directions
	Epsilon     privacy.Epsilon
}

// Select chooses one of the candidates. No candidates, or parameters that give no privacy, are ErrParameter.
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
		return Choice{}, fmt.Errorf("%w: there is nothing to choose from", mechanism.ErrParameter)
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
	for i := 0; ; i++ { // at the latest, the last one is a best candidate
		j := i + int(src.Below64(uint64(len(order)-i)))
		order[i], order[j] = order[j], order[i]
		x.SetInt(new(big.Int).Sub(best, opaque.Open(scores[order[i]])))
		if sample.BernoulliExp(src, x.Mul(x, c)) {
			return Choice{Index: order[i], Loss: privacy.PureLoss(m.Epsilon)}, nil
		}
	}
}

// Shortfall bounds how far below the best score the chosen one is, with probability at least 1 − beta, among n
// candidates: as for Exponential, than which it is never worse.
func (m PermuteAndFlip) Shortfall(n *big.Int, beta float64) (float64, error) {
	return Exponential(m).Shortfall(n, beta)
}
