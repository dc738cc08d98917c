package quantile

import (
	"math/big"
	"slices"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/internal/parameter"
	"dither/privacy"
)

// Independent releases k quantiles. It draws each as Single does, with Epsilon/k and independently of the others,
// and then sorts them. All are drawn in the same two passes over the data: the first counts the rows, the second
// runs a race for each rank.
//
// Claim: Independent is Epsilon-differentially private. Proof: each of k draws is (ε/k)-differentially private (see
// Single). Given the data, the draws are independent, so their losses add up [Dwork & Roth 2014, Theorem 3.16].
// Sorting is post-processing. ∎ Each draw is (ε/k)-bounded-range, so together they are k·(ε/k)²/8-zCDP.
//
// Independent divides ε by k, where Approximate divides it by about log₂ k. In return, its error is bounded for all
// data: no draw depends on another, so ties do no harm.
type Independent struct {
	Domain
	mechanism.Unit
	// increasing, from 0 (the least value) to 1 (the greatest), with a common denominator of at most 10,000; at
	// most 255 ranks
	Ranks   []*big.Rat
	Epsilon privacy.Epsilon
}

func (m Independent) check() (targets, error) {
	return checkQuantiles(m.Domain, m.Unit, m.Epsilon, m.Ranks)
}

// each returns the loss of one draw: Epsilon divided by the number of ranks.
func (m Independent) each() privacy.Epsilon {
	return m.Epsilon.Share(1, int64(len(m.Ranks)))
}

// stage returns the draws of all ranks: one section for each rank, which is the whole domain.
func (m Independent) stage(t targets) stage {
	st := stage{domain: m.Domain, whole: 1}
	for _, at := range t.at {
		s := section{low: m.Lower, high: m.Upper, lowShare: 1, highShare: 1, at: at, to: t.den, alone: true}
		st.sections = append(st.sections, s)
		st.rates = append(st.rates, rateOf(m.each(), delta(m.Unit, s)))
	}
	return st
}

// Release draws the quantiles, in increasing order. The error is ErrParameter or comes from the scan.
func (m Independent) Release(data mechanism.Ordered) (OrderStatistics, error) {
	source := entropy.System()
	defer source.Wipe()
	return m.release(source, data)
}

func (m Independent) release(src *entropy.Source, data mechanism.Ordered) (OrderStatistics, error) {
	target, err := m.check()
	if err != nil {
		return OrderStatistics{}, err
	}
	values, err := m.stage(target).cut(src, data)
	if err != nil {
		return OrderStatistics{}, err
	}
	slices.Sort(values)
	return OrderStatistics{Values: values, Loss: privacy.PureLoss(m.Epsilon)}, nil
}

// BoundedRange returns the loss under zCDP: ε²/(8k) for k ranks, instead of the ε²/2 of a pure loss [Cesar & Rogers
// 2021, for each draw; Bun & Steinke 2016, Lemma 1.7].
func (m Independent) BoundedRange() privacy.Loss {
	return privacy.ZCDPLoss(m.Epsilon.Rho().Share(1, 4*int64(max(1, len(m.Ranks)))), privacy.Delta{})
}

// RankError returns a bound on d of every output (see Single), for all data, which holds with probability at least
// 1 − beta. It is the largest 2Δ(ln N + ln(k/β))/(ε/k) over the ranks, in rows, rounded up, for N integers in the
// domain, k ranks and β = beta. The error is ErrParameter.
//
// Proof: before sorting, each draw o_i has d_i(o_i) ≤ t except with probability at most β/k, by the bound of
// Single. Sorting keeps a common bound t. Let q_1 < … < q_k be the ranks. d_i(o) ≤ t means that B(o) ≤ q_i·n + t
// and A(o) ≥ q_i·n − t. Neither B nor A decreases as o increases. The i-th least output o_(i) is at most the
// largest of o_1, …, o_i, since these are i outputs. Let the largest be o_j, j ≤ i. Then B(o_(i)) ≤ B(o_j) ≤ q_j·n
// + t ≤ q_i·n + t. Also, o_(i) is at least the least of o_i, …, o_k, since these are all but i − 1 outputs. Let the
// least be o_j, j ≥ i. Then A(o_(i)) ≥ A(o_j) ≥ q_j·n − t ≥ q_i·n − t. ∎
func (m Independent) RankError(beta float64) (float64, error) {
	target, err := m.check()
	if err != nil {
		return 0, err
	}
	if err := parameter.Probability(beta); err != nil {
		return 0, err
	}
	worst, each := 0.0, exact.DivDown(beta, float64(len(m.Ranks)))
	for _, s := range m.stage(target).sections {
		worst = max(worst, rankError(delta(m.Unit, s), m.each(), m.Domain, each))
	}
	return worst, nil
}
