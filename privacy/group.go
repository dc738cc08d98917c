package privacy

import (
	"math/big"

	"dither/internal/exact"
)

// Group is group privacy for (e, d)-differential privacy: with e.Group(k), the promise of such a mechanism to k people
// together. It is d·(e^(kε) − 1)/(e^ε − 1), at ε = 0 k·d, rounded up and at most 1. A negative k counts as 0.
//
// Proof [Vadhan 2017, Lemma 2.2, before it bounds the sum by k·e^(kε)]: between datasets that k steps join, P₀(S)
// ≤ e^ε·P₁(S) + δ ≤ e^ε(e^ε·P₂(S) + δ) + δ ≤ … ≤ e^(kε)·P_k(S) + δ·(1 + e^ε + … +
// e^((k−1)ε)). ∎
func (d Delta) Group(k int64, e Epsilon) Delta {
	switch {
	case k == 1 || d.certain():
		return d.Share(max(min(k, 1), 0), 1)
	case k <= 0 || d.IsZero() || e.IsZero():
		return capped(d.times(k))
	}
	if least := exact.DecimalStep(smallest); d.rat().Cmp(least) < 0 {
		d = Delta{amount{least}} // so that the exponentials below stay below e⁴⁶⁰⁶
	}
	if exact.IntervalOf(e.Times(k-1).rat(), bitsFirst).Hi().Cmp(surprise(d, bitsFirst).Lo()) >= 0 {
		return Delta{amount{one}} // the last term alone comes to 1, if not for its last bits
	}
	// Below ε = 1, e^ε − 1 loses as many bits as ε has zeros.
	bits := uint(bitsFirst + max(0, -new(big.Float).SetRat(e.rat()).MantExp(nil)))
	less1 := func(e Epsilon) exact.Interval {
		return exact.IntervalOf(e.rat(), bits).Exp().Sub(exact.IntervalOf(one, bits))
	}
	sum := less1(e.Times(k)).Quo(less1(e))
	return capped(roundUp(exact.IntervalOf(d.rat(), bits).Mul(sum).Hi()))
}
