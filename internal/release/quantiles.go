package release

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// Quantiles are quantiles over the integers of a plan's grid, by the exponential mechanism or one built on it. The
// proofs are with quantile.Independent, Approximate, Ladder and Joint. The engine returns the rows in
// order, once or a few times. The memory used here does not grow with the number of rows.
type Quantiles struct {
	numbersAlone
	target    *plan.Target
	mechanism ordering
	epsilon   privacy.Epsilon
}

// Target returns the plan of the ranked value.
func (m *Quantiles) Target() *plan.Target { return m.target }

// Quantiles returns the primitive that releases quantiles by the mechanism called name. The list `at` has their ranks,
// from 0 to 1: 1/2 is the median.
func (k *Kernel) Quantiles(t *plan.Target, by Asker, name string, at []*big.Rat) (*Quantiles, error) {
	q := &Quantiles{target: t}
	var err error
	if q.mechanism, q.epsilon, err = orderer(t, name, at); err != nil {
		return nil, err
	}
	texts := make([]string, len(at))
	for i, r := range at {
		texts[i] = exact.FormatRat(r)
	}
	outputs := len(at)
	if name == LadderQuantiles {
		outputs *= 2
	}
	l, err := k.targetLook(t, by, ledger.Mechanism{
		Name: name + " at " + strings.Join(texts, ", "), Sensitivity: t.Sensitivity.String(),
		Scale: exact.FormatRat(new(big.Rat).Inv(q.epsilon.Rat())), Cells: outputs,
	}, outputs, 1)
	q.numbersAlone = numbersAlone{l}
	return q, err
}

// access implements [Primitive].
func (q *Quantiles) access(ctx context.Context, rows reader) (v Values, err error) {
	ordered, err := rows.engine.Order(ctx, &q.target.Statement, rows.sealed)
	if err != nil {
		return v, err
	}
	found, err := q.mechanism.Release(ordered)
	if err == nil {
		err = costsAsPlanned(found.Loss, privacy.PureLoss(q.epsilon))
	}
	if err == nil {
		err = paidFor(q.target.Price, found.Loss, q.mechanism.BoundedRange())
	}
	v.Numbers = statistics(found)
	return v, err
}

// RankError returns a bound on the rank error of each released value: the number of rows between it and the exact
// quantile. The bound holds with probability 1 − beta. Mechanisms other than EachQuantile have further conditions,
// which package quantile states.
func (q *Quantiles) RankError(beta float64) (float64, error) {
	return q.mechanism.RankError(beta)
}

// Expected returns about the mean rank error of the released values and the mean half-width of their intervals, in
// rows, for values that are spread evenly. The half-width is NaN if the mechanism has no intervals.
func (q *Quantiles) Expected() (off, halfWidth float64) {
	off, halfWidth = q.mechanism.Expected(), math.NaN()
	if m, ok := q.mechanism.(quantile.Ladder); ok {
		halfWidth = m.ExpectedHalfWidth()
	}
	return off, halfWidth
}

// LadderConfidence is the confidence of the intervals of LadderQuantiles.
const LadderConfidence = quantile.LadderConfidence

// ordering is a mechanism that releases quantiles.
type ordering interface {
	Release(mechanism.Ordered) (quantile.OrderStatistics, error)
	BoundedRange() privacy.Loss
	RankError(beta float64) (float64, error)
	Expected() float64
}

// jointTable is the largest size of the table of JointQuantiles, in entries of 16 bytes: 64 MB.
const jointTable = 1 << 22

// orderer returns the mechanism called name, at the largest ε that the price pays for.
func orderer(t *plan.Target, name string, at []*big.Rat) (ordering, privacy.Epsilon, error) {
	var with func(privacy.Epsilon) ordering
	_, pure := t.Price.Pure()
	switch domain, unit := domainOf(t), unitOf(t); name {
	case EachQuantile:
		with = func(e privacy.Epsilon) ordering {
			return quantile.Independent{Domain: domain, Unit: unit, Ranks: at, Epsilon: e}
		}
	case RecursiveQuantiles:
		with = func(e privacy.Epsilon) ordering {
			return quantile.Approximate{Domain: domain, Unit: unit, Ranks: at, Epsilon: e, Squares: !pure}
		}
	case LadderQuantiles:
		with = func(e privacy.Epsilon) ordering {
			return quantile.Ladder{Domain: domain, Unit: unit, Ranks: at, Epsilon: e, Squares: !pure}
		}
	case JointQuantiles:
		bins := jointTable / (len(at) * len(at))
		with = func(e privacy.Epsilon) ordering {
			return quantile.Joint{Domain: domain, Unit: unit, Ranks: at, Bins: min(bins, 1<<14), Epsilon: e}
		}
	default:
		return nil, privacy.Epsilon{}, fmt.Errorf("%w: %q gives quantiles", ErrUnplanned, name)
	}
	epsilon := pureWithin(t.Price)
	if !pure {
		// The cost is ε²·ρ₁, where ρ₁ is the cost at ε = 1. So the price ρ pays for ε = √(ρ/ρ₁) = √(2·ρ/(2ρ₁)).
		one, err := privacy.EpsilonOf(big.NewRat(1, 1))
		if err != nil {
			return nil, one, err
		}
		rho, _ := t.Price.ZCDP()
		each, _ := with(one).BoundedRange().ZCDP()
		half, err := privacy.RhoOf(new(big.Rat).Quo(rho.Rat(), each.Times(2).Rat()))
		if err != nil {
			return nil, one, err
		}
		epsilon = half.Pure()
	}
	return with(epsilon), epsilon, nil
}
