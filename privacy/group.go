package privacy

import (
	"math/big"

	"dither/internal/exact"
)

// Group returns the δ of an (e, d)-differentially private mechanism for a group of k people. Together with
// e.Group(k), it is the mechanism's promise to them. It is d·(e^(kε) − 1)/(e^ε − 1), or k·d for ε = 0, rounded up
// and at most 1. A negative k counts as 0.
//
// Proof [Vadhan 2017, Lemma 2.2, before it bounds the sum by k·e^(kε)]. Let k steps of the neighbouring relation
// lead from dataset 0 to dataset k. Then P₀(S) ≤ e^ε·P₁(S) + δ ≤ e^ε(e^ε·P₂(S) + δ) + δ ≤ … ≤ e^(kε)·P_k(S) + δ·(1
// + e^ε + … + e^((k−1)ε)). ∎
func (d Delta) Group(k int64, e Epsilon) Delta {
	switch {
	case k == 1 || d.certain():
		return d.Share(max(min(k, 1), 0), 1)
	case k <= 0 || d.IsZero() || e.IsZero():
		return capped(d.times(k))
	}
	if least := exact.DecimalStep(smallest); d.rat().Cmp(least) < 0 {
		d = Delta{amount{least}} // a larger δ is safe, and keeps the exponentials below e⁴⁶⁰⁶
	}
	if exact.IntervalOf(e.Times(k-1).rat(), bitsFirst).Hi().Cmp(surprise(d, bitsFirst).Lo()) >= 0 {
		return Delta{amount{one}} // the last term of the sum alone is at least 1, up to its last bits
	}
	// For ε below 1, computing e^ε − 1 loses about log₂(1/ε) bits of precision.
	bits := uint(bitsFirst + max(0, -new(big.Float).SetRat(e.rat()).MantExp(nil)))
	less1 := func(e Epsilon) exact.Interval {
		return exact.IntervalOf(e.rat(), bits).Exp().Sub(exact.IntervalOf(one, bits))
	}
	sum := less1(e.Times(k)).Quo(less1(e))
	return capped(roundUp(exact.IntervalOf(d.rat(), bits).Mul(sum).Hi()))
}
