package selection

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/mechanism/internal/opaque"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// NoisyMax is report noisy max with a free gap [Dwork & Roth 2014, Claim 3.9; Ding, Wang, Zhang & Kifer 2019]. It
// adds discrete Laplace noise to each score. It releases the index of the greatest noisy score, and the gap to the
// next one. It is NoisyTop with K = 1. The proof is at [NoisyTop].
type NoisyMax struct {
	Sensitivity *big.Int // the most that one score changes between neighbours, in the scores' unit; at least 1
	Monotonic   bool     // between neighbours, no two scores change in opposite directions
	Epsilon     privacy.Epsilon
}

// GapChoice is the release of NoisyMax: the chosen index, and the gap to the next candidate.
type GapChoice struct {
	Index int
	// a lower bound on how far the chosen noisy score exceeds the next one; nil if there is one candidate
	Gap   *big.Int
	Noise noise.DiscreteLaplace // the noise of each score; independent between scores
	Loss  privacy.Loss
}

// Select chooses one of the candidates, given their scores. An empty list, or parameters that give no privacy, are
// ErrParameter.
func (m NoisyMax) Select(scores []mechanism.Exact) (GapChoice, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.choose(source, scores)
}

func (m NoisyMax) choose(src *entropy.Source, scores []mechanism.Exact) (GapChoice, error) {
	top, err := m.top().choose(src, scores)
	if err != nil {
		return GapChoice{}, err
	}
	out := GapChoice{Index: top.Indices[0], Noise: top.Noise, Loss: top.Loss}
	if len(top.Gaps) > 0 {
		out.Gap = top.Gaps[0]
	}
	return out, nil
}

func (m NoisyMax) top() NoisyTop {
	return NoisyTop{K: 1, Sensitivity: m.Sensitivity, Monotonic: m.Monotonic, Epsilon: m.Epsilon}
}

// Shortfall returns a bound on how far the chosen score is below the best one, among n candidates. The bound holds
// with probability at least 1 − beta.
func (m NoisyMax) Shortfall(n int, beta float64) (*big.Int, error) { return m.top().Shortfall(n, beta) }

// NoisyTop adds discrete Laplace noise of scale b to each of n scores. It releases the indices of the K greatest
// noisy scores, in order, with the gaps between them. The order is due to [Qiao, Su & Zhang 2021], the gaps to
// [Ding, Wang, Zhang & Kifer 2019]. The scale b is 2KΔ/ε, or KΔ/ε if the scores are monotonic.
//
// Let A_j = u_j + η_j be the noisy scores. Candidate i is before candidate j if A_i > A_j, or if A_i = A_j and i <
// j. For integers, that means A_i ≥ A_j + [j < i], where [·] is 1 if the condition holds and 0 otherwise. Let i_1,
// …, i_n be the order. The released gaps are, for r = 1, …, min(K, n − 1),
//
//	g_r = A_{i_r} − A_{i_{r+1}} − [i_{r+1} < i_r] ≥ 0.
//
// Nothing else is released about i_{K+1}.
//
// Claim: the mechanism is Epsilon-differentially private. Proof for K < n: fix an output (i_1, …, i_K; g_1, …,
// g_K), and fix the noise of all candidates outside the output. Let M be the maximum of A_j + [j < i_K] over those
// candidates. The maximum is attained at j = i_{K+1}. Among the candidates outside the output, i_{K+1} has the
// greatest A, and the least index of those with that A. Every candidate with a smaller A has an A that is smaller
// by at least 1. So the output occurs exactly if A_{i_K} = M + g_K, and A_{i_r} = A_{i_{r+1}} + [i_{r+1} < i_r] +
// g_r for r < K. In other words, the noise of i_r is M − u_{i_r} plus a constant that the output determines. For a
// neighbour with the same fixed noise, the noise of i_r is M′ − u′_{i_r} plus the same constant. M′ − M lies
// between the least and the greatest d_j = u′_j − u_j of the candidates outside the output. So the noise of i_r
// shifts by an integer (M′ − M) − d_{i_r}. Its magnitude is at most 2Δ, and at most Δ if the scores are monotonic,
// because then both terms have the same sign. The mass of the discrete Laplace distribution changes by a factor of
// at most exp(2Δ/b) = exp(ε/K) for each r (exp(Δ/b) if monotonic), so by at most exp(ε) for all K. Summing over the
// fixed noise completes the case K < n. For K = n, fix the noise of i_n instead of the noise outside the output,
// and let M = A_{i_n}. ∎
//
// The difference A_{i_r} − A_{i_{r+1}} is g_r or g_r + 1, because the gap must not reveal the next candidate's
// position in the list. It is the difference of two scores with independent noise, whose variance is at most 4b².
// As an estimate of the scores' difference, the gap is biased upwards if the scores are close, because the
// candidates were chosen by their noisy scores.
type NoisyTop struct {
	K           int      // the number of candidates to choose; at least 1, and at most the number of candidates
	Sensitivity *big.Int // the most that one score changes between neighbours, in the scores' unit; at least 1
	Monotonic   bool     // between neighbours, no two scores change in opposite directions
	Epsilon     privacy.Epsilon
}

// NoisyRanking is the release of NoisyTop: the chosen candidates in order, with gaps. The noisy score of Indices[r]
// exceeds that of the next candidate, chosen or not, by at least Gaps[r].
type NoisyRanking struct {
	Indices []int
	Gaps    []*big.Int            // one gap for each index, but none for the last of all candidates
	Noise   noise.DiscreteLaplace // the noise of each score; independent between scores
	Loss    privacy.Loss
}

// Select chooses K of the candidates, given their scores. The error is ErrParameter if K is not between 1 and the
// number of candidates, if the parameters give no privacy, or if the noise would be too large to draw.
func (m NoisyTop) Select(scores []mechanism.Exact) (NoisyRanking, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.choose(source, scores)
}

// Noise returns the distribution of the noise on each score.
func (m NoisyTop) Noise() (noise.DiscreteLaplace, error) {
	if m.K < 1 {
		return noise.DiscreteLaplace{}, fmt.Errorf("%w: the number of chosen outputs must be at least 1, not %d",
			mechanism.ErrParameter, m.K)
	}
	return parameter.SelectionNoise(m.Sensitivity, m.Monotonic, m.Epsilon, m.K)
}

func (m NoisyTop) choose(src *entropy.Source, scores []mechanism.Exact) (NoisyRanking, error) {
	dist, err := m.Noise()
	switch {
	case err != nil:
		return NoisyRanking{}, err
	case m.K > len(scores):
		return NoisyRanking{}, fmt.Errorf("%w: %d outputs cannot be chosen from %d",
			mechanism.ErrParameter, m.K, len(scores))
	}
	noisy, sampler := make([]*big.Int, len(scores)), sample.NewLaplace(dist.Scale())
	for i, e := range scores {
		noisy[i] = sampler.Draw(src, new(big.Int))
		noisy[i].Add(noisy[i], opaque.Open(e))
	}
	indices, gaps := rank(noisy, m.K)
	return NoisyRanking{Indices: indices, Gaps: gaps, Noise: dist, Loss: privacy.PureLoss(m.Epsilon)}, nil
}

// rank returns the indices i_1, …, i_K and their gaps.
func rank(noisy []*big.Int, k int) (indices []int, gaps []*big.Int) {
	order := make([]int, len(noisy))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return noisy[j].Cmp(noisy[i]) })
	for r := range min(k, len(order)-1) {
		i, next := order[r], order[r+1]
		gap := new(big.Int).Sub(noisy[i], noisy[next])
		if next < i {
			gap.Sub(gap, big.NewInt(1))
		}
		gaps = append(gaps, gap)
	}
	return order[:k:k], gaps
}

// Shortfall returns a bound on how far each choice is below the best candidate that remained for it, among n
// candidates. The bound holds for all K choices together with probability at least 1 − beta. It is 2a, where all
// noise is between −a and a with probability at least 1 − beta. Proof: if i is chosen while j remains, then A_i ≥
// A_j, so u_j − u_i ≤ η_i − η_j ≤ 2a.
func (m NoisyTop) Shortfall(n int, beta float64) (*big.Int, error) {
	dist, err := m.Noise()
	if err != nil {
		return nil, err
	}
	a, err := parameter.Simultaneous(dist, n, beta)
	if err != nil {
		return nil, err
	}
	return a.Lsh(a, 1), nil
}
