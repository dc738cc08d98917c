// Package quantile contains mechanisms that release order statistics: one quantile or many, in one group or in
// many, and bounds for the data.
package quantile

import (
	"fmt"
	"math/big"

	"dither/mechanism"
	"dither/privacy"
)

// Single releases one quantile by the exponential mechanism [Smith 2011].
//
// Every integer o of the domain is a candidate. Of the n values, clamped to the domain, let B(o) be the number
// below o and A(o) the number at or below o. The candidate o covers the ranks from B(o) to A(o). Its rank error is
// the distance of the sought rank qn from that range:
//
//	d(o) = max(0, B(o) − qn, qn − A(o)).
//
// This definition suits ties: a value that a third of the rows share covers a third of the ranks. Some o has d(o) =
// 0, since A(o) = B(o + 1) leaves no rank uncovered. The output is o with probability ∝ exp(−ε·d(o)/(2Δ)), exactly.
// A race over ranges of candidates with equal d, weighted by their lengths, chooses a range, and o is uniform in
// it.
//
// Claim: Single is Epsilon-differentially private [McSherry & Talwar 2007] and Epsilon-bounded-range. Proof: d
// changes by at most Δ between neighbours. So the logarithm of each weight changes by at most ε/2, and that of
// their sum by at most ε/2 in the other direction. Sensitivity, with m = MaxRows: an additional row changes (B, A)
// by (0, 0), (0, 1) or (1, 1), and qn by q. So B − qn and qn − A change by q or 1 − q, up or down, and their
// maximum with 0 by no more. Hence Δ = m·max(q, 1 − q) under AddRemove. Under ChangeOne, r rows leave and s others
// come, r, s ≤ m. B − qn changes by at most (1 − q)·s + q·r in one direction and q·s + (1 − q)·r in the other,
// which are at most m. The same holds for qn − A, so Δ = m.
type Single struct {
	Domain
	mechanism.Unit
	Rank    *big.Rat // q, from 0 (the least value) to 1 (the greatest); its denominator is at most 10,000
	Epsilon privacy.Epsilon
}

// maxDenominator is the largest common denominator of ranks, and maxRanks their largest number.
const (
	maxDenominator = 10_000
	maxRanks       = 255
)

// independent returns the equivalent Independent, which has one rank.
func (m Single) independent() Independent {
	return Independent{m.Domain, m.Unit, []*big.Rat{m.Rank}, m.Epsilon}
}

// Release draws a quantile, in two passes over the data. The error is ErrParameter or comes from the scan.
func (m Single) Release(data mechanism.Ordered) (OrderStatistics, error) {
	return m.independent().Release(data)
}

// BoundedRange returns the loss under zCDP: ε²/8, a quarter of the ε²/2 of a pure loss [Cesar & Rogers 2021].
func (m Single) BoundedRange() privacy.Loss { return m.independent().BoundedRange() }

// RankError returns a bound on d of the output, which holds with probability at least 1 − beta. It is 2Δ(ln N +
// ln(1/β))/ε for N candidates, in rows, rounded up. The error is ErrParameter, also unless 0 < beta ≤ 1.
//
// Proof: some candidate has weight exp(0) = 1. So P(d(o) > t) is at most the sum of N weights below exp(−εt/(2Δ)),
// which is β if t is the bound [McSherry & Talwar 2007].
func (m Single) RankError(beta float64) (float64, error) { return m.independent().RankError(beta) }

// targets holds ranks with a common denominator: rank i is at[i]/den.
type targets struct {
	at  []int64
	den int64
}

// targetsOf brings ranks to a common denominator. It returns ErrParameter for ranks outside [0, 1], for ranks that
// do not increase, and if the common denominator is above 10,000.
func targetsOf(ranks []*big.Rat) (targets, error) {
	den := big.NewInt(1)
	for i, q := range ranks {
		switch {
		case q == nil || q.Sign() < 0 || q.Cmp(big.NewRat(1, 1)) > 0:
			return targets{}, fmt.Errorf("%w: a quantile's rank must be between 0 and 1", mechanism.ErrParameter)
		case i > 0 && q.Cmp(ranks[i-1]) <= 0:
			return targets{}, fmt.Errorf("%w: the ranks of quantiles must be increasing", mechanism.ErrParameter)
		}
		common := new(big.Int).GCD(nil, nil, den, q.Denom())
		if den.Mul(den, common.Quo(q.Denom(), common)); den.Cmp(big.NewInt(maxDenominator)) > 0 {
			return targets{}, fmt.Errorf("%w: the common denominator of the quantiles' ranks must be at most %d",
				mechanism.ErrParameter, maxDenominator)
		}
	}
	t := targets{den: den.Int64()}
	for _, q := range ranks {
		t.at = append(t.at, new(big.Int).Mul(q.Num(), new(big.Int).Quo(den, q.Denom())).Int64())
	}
	return t, nil
}

// checkQuantiles checks the parameters and returns the ranks with a common denominator, or ErrParameter.
func checkQuantiles(in Domain, u mechanism.Unit, e privacy.Epsilon, ranks []*big.Rat) (targets, error) {
	if err := checkRelease(in, u, e); err != nil {
		return targets{}, err
	}
	if len(ranks) < 1 || len(ranks) > maxRanks {
		return targets{}, fmt.Errorf("%w: the number of quantiles must be from 1 to %d",
			mechanism.ErrParameter, maxRanks)
	}
	return targetsOf(ranks)
}
