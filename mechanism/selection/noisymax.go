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

// NoisyMax is report-noisy-max with its free gap [Dwork & Roth 2014, Claim 3.9; Ding, Wang, Zhang & Kifer 2019]: it
// adds discrete Laplace noise to each score, and releases the index of the greatest and how far it is ahead. It is
// NoisyTop with K = 1, which has the proof.
type NoisyMax struct {
	Sensitivity *big.Int // the most by which a score changes between neighbours, in the scores' unit; at least 1
	Monotonic   bool     // between neighbours, no two scores change in opposite directions
	Epsilon     privacy.Epsilon
}

// GapChoice is a choice with the gap to the next.
type GapChoice struct {
	Index int
	Gap   *big.Int              // as in NoisyRanking; nil for a single candidate
	Noise noise.DiscreteLaplace // of each score, independently
	Loss  privacy.Loss
}

// Select chooses one of the candidates. No candidates, or parameters that give no privacy, are ErrParameter.
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

// Shortfall bounds how far below the best score the chosen one is, with probability at least 1 − beta, among n
// candidates.
func (m NoisyMax) Shortfall(n int, beta float64) (*big.Int, error) { return m.top().Shortfall(n, beta) }

// NoisyTop adds discrete Laplace noise of scale b to each of n scores, and releases the K greatest in order, with the
// gaps between them [Qiao, Su & Zhang 2021, for the order; Ding, Wang, Zhang & Kifer 2019, for the gaps]. b = 2KΔ/ε,
// or KΔ/ε where scores are monotonic.
//
// Let A_j = u_j + η_j. Of two, i is before j if A_i > A_j, or if A_i = A_j and i < j. In integers that is A_i ≥ A_j
// + [j < i], where [·] is 1 or 0. If i_1, …, i_n is the order, the gaps released are, for r = 1, …, min(K, n −
// 1),
//
//	g_r = A_{i_r} − A_{i_{r+1}} − [i_{r+1} < i_r] ≥ 0,
//
// and nothing else is released about i_{K+1}.
//
// It is Epsilon-differentially private. Proof, for K < n: fix an output (i_1, …, i_K; g_1, …, g_K) and the noise of
// the candidates that are not in it, and let M = max over those j of A_j + [j < i_K]. This maximum is at i_{K+1}: who
// is before all others of them in the order has the greatest A and, of those with that A, the least index; and who has
// less has less by 1 or more. So the output arises exactly where A_{i_K} = M + g_K and A_{i_r} = A_{i_{r+1}} + [i_{r+1}
// < i_r] + g_r for r < K: the noise of i_r is M − u_{i_r} plus a constant of the output. For a neighbour, with the
// same noise elsewhere, it is M′ − u′_{i_r} plus the same constant. M′ − M is between the least and the
// greatest d_j = u′_j − u_j of the others, so the noise shifts by an integer (M′ − M) − d_{i_r} of magnitude
// at most 2Δ; at most Δ where scores are monotonic, for then both terms have one sign. The mass of the discrete
// Laplace changes at most by exp(2Δ/b) = exp(ε/K) each time, or exp(Δ/b), and by exp(ε) for all K. Sum over the
// noise that was fixed. For K = n take the noise of i_n in place of the others', and let M = A_{i_n}. ∎
//
// The gap A_{i_r} − A_{i_{r+1}} is g_r or g_r + 1, because the gap cannot reveal the position of the next candidate
// in the list. It is the difference of two scores with independent noise, of variance at most 4b². As an estimate of
// the difference it is biased upwards if scores are close, because of the choice.
type NoisyTop struct {
	K           int      // how many to choose: at least 1, and at most the number of candidates
	Sensitivity *big.Int // the most by which a score changes between neighbours, in the scores' unit; at least 1
	Monotonic   bool     // between neighbours, no two scores change in opposite directions
	Epsilon     privacy.Epsilon
}

// NoisyRanking is an ordered choice of several candidates with gaps: Gaps[r] is the least by which the noisy score of
// Indices[r] exceeds that of the next candidate, chosen or not.
type NoisyRanking struct {
	Indices []int
	Gaps    []*big.Int            // one for each index, except the last of all candidates
	Noise   noise.DiscreteLaplace // of each score, independently
	Loss    privacy.Loss
}

// Select chooses K of the candidates. A K that is not in 1…n, or parameters that give no privacy or need more noise
// than can be drawn, are ErrParameter.
func (m NoisyTop) Select(scores []mechanism.Exact) (NoisyRanking, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.choose(source, scores)
}

// Noise is the noise that each score gets.
func (m NoisyTop) Noise() (noise.DiscreteLaplace, error) {
	if m.K < 1 {
		return noise.DiscreteLaplace{}, fmt.Errorf("%w: %d cannot be chosen", mechanism.ErrParameter, m.K)
	}
	return parameter.SelectionNoise(m.Sensitivity, m.Monotonic, m.Epsilon, m.K)
}

func (m NoisyTop) choose(src *entropy.Source, scores []mechanism.Exact) (NoisyRanking, error) {
	dist, err := m.Noise()
	switch {
	case err != nil:
		return NoisyRanking{}, err
	case m.K > len(scores):
		return NoisyRanking{}, fmt.Errorf("%w: %d cannot be chosen from %d", mechanism.ErrParameter, m.K, len(scores))
	}
	noisy, sampler := make([]*big.Int, len(scores)), sample.NewLaplace(dist.Scale())
	for i, e := range scores {
		noisy[i] = sampler.Draw(src, new(big.Int))
		noisy[i].Add(noisy[i], opaque.Open(e))
	}
	indices, gaps := rank(noisy, m.K)
	return NoisyRanking{Indices: indices, Gaps: gaps, Noise: dist, Loss: privacy.PureLoss(m.Epsilon)}, nil
}

// rank returns i_1, …, i_K and the gaps after them.
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

// Shortfall bounds, with probability at least 1 − beta for all K choices together, how far each is below the best
// that was left for it, among n candidates: 2a, where no noise is beyond ±a with probability 1 − beta. Proof: if i
// is taken while j is left, A_i ≥ A_j, and u_j − u_i ≤ η_i − η_j ≤ 2a.
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
