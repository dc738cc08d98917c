// Package quantile holds mechanisms that release order statistics: one quantile or many, in one group or in many, and
// bounds of the data.
package quantile

import (
	"fmt"
	"math/big"

	"dither/mechanism"
	"dither/privacy"
)

// Single releases one quantile by the exponential mechanism [Smith 2011].
//
// Every integer o of the domain is a candidate. Of n values, moved into the domain, let B(o) be those below o and A(o)
// those at or below o. The candidate's rank error is how far the rank that is sought lies outside of what o covers:
//
//	d(o) = max(0, B(o) − qn, qn − A(o)).
//
// With ties this is the error that counts: a value that a third of the rows share covers a third of the ranks. Some o
// has d(o) = 0, as A(o) = B(o + 1) leaves no rank out. The output is o with probability ∝ exp(−ε·d(o)/(2Δ)),
// exactly; a race over the runs of candidates of equal d, weighted by their lengths, finds a run, and o is uniform in
// it.
//
// It is Epsilon-differentially private [McSherry & Talwar 2007] and Epsilon-bounded-range, for d moves by at most Δ
// between neighbours, and so does the logarithm of each weight by ε/2 and that of their sum by ε/2 the other way.
// Sensitivity, with m = MaxRows: a row more moves (B, A) by (0, 0), (0, 1) or (1, 1), and qn by q, so B − qn and qn
// − A move by q or 1 − q one way or the other, and their maximum with 0 by no more: Δ = m·max(q, 1 − q) under
// AddRemove. Under ChangeOne r rows leave and s others come, r, s ≤ m: B − qn moves by at most (1 − q)·s + q·r
// one way and q·s + (1 − q)·r the other, at most m; so does qn − A, and Δ = m.
type Single struct {
	Domain
	mechanism.Unit
	Rank    *big.Rat // q, from 0 (the least value) to 1 (the greatest); its denominator is at most 10,000
	Epsilon privacy.Epsilon
}

// maxDenominator bounds the common denominator of ranks, and maxRanks their number.
const (
	maxDenominator = 10_000
	maxRanks       = 255
)

// independent is the same as one of a single rank.
func (m Single) independent() Independent {
	return Independent{m.Domain, m.Unit, []*big.Rat{m.Rank}, m.Epsilon}
}

// Release draws a quantile, in two passes over the data. The error is ErrParameter, or the scan's.
func (m Single) Release(data mechanism.Ordered) (OrderStatistics, error) {
	return m.independent().Release(data)
}

// BoundedRange is the loss as zCDP, ε²/8 instead of the ε²/2 of a pure loss [Cesar & Rogers 2021].
func (m Single) BoundedRange() privacy.Loss { return m.independent().BoundedRange() }

// RankError bounds d of the output, but with probability at most beta: 2Δ(ln N + ln(1/β))/ε for N candidates,
// rounded up. It is a number of rows. The error is ErrParameter, for a beta that is not above 0 and at most 1 too.
//
// Proof: some candidate has weight exp(0) = 1. So P(d(o) > t) is at most the sum of N weights below exp(−εt/(2Δ)),
// which is β at that t [McSherry & Talwar 2007].
func (m Single) RankError(beta float64) (float64, error) { return m.independent().RankError(beta) }

// targets are ranks at[i]/den.
type targets struct {
	at  []int64
	den int64
}

// targetsOf brings ranks to a common denominator. Ranks outside [0, 1], ranks that do not increase, and ranks that need
// a denominator above 10,000 are ErrParameter.
func targetsOf(ranks []*big.Rat) (targets, error) {
	den := big.NewInt(1)
	for i, q := range ranks {
		switch {
		case q == nil || q.Sign() < 0 || q.Cmp(big.NewRat(1, 1)) > 0:
			return targets{}, fmt.Errorf("%w: a quantile's rank is between 0 and 1", mechanism.ErrParameter)
		case i > 0 && q.Cmp(ranks[i-1]) <= 0:
			return targets{}, fmt.Errorf("%w: the ranks of quantiles must rise", mechanism.ErrParameter)
		}
		common := new(big.Int).GCD(nil, nil, den, q.Denom())
		if den.Mul(den, common.Quo(q.Denom(), common)); den.Cmp(big.NewInt(maxDenominator)) > 0 {
			return targets{}, fmt.Errorf("%w: the ranks of quantiles need a common denominator above %d",
				mechanism.ErrParameter, maxDenominator)
		}
	}
	t := targets{den: den.Int64()}
	for _, q := range ranks {
		t.at = append(t.at, new(big.Int).Mul(q.Num(), new(big.Int).Quo(den, q.Denom())).Int64())
	}
	return t, nil
}

// checkQuantiles is what is sought, or ErrParameter.
func checkQuantiles(in Domain, u mechanism.Unit, e privacy.Epsilon, ranks []*big.Rat) (targets, error) {
	if err := checkRelease(in, u, e); err != nil {
		return targets{}, err
	}
	if len(ranks) < 1 || len(ranks) > maxRanks {
		return targets{}, fmt.Errorf("%w: the number of quantiles is between 1 and %d",
			mechanism.ErrParameter, maxRanks)
	}
	return targetsOf(ranks)
}
