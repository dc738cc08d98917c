package pld

import (
	"math"
	"math/big"
)

// boundedRange is the pair that dominates every mechanism of range ε: one whose losses lie, for any two neighbours, in
// an interval of length ε [Durfee & Rogers 2019; the exponential mechanism is one]. It is the Laplace pair of the same
// ε without its atoms: its loss has the density ½·e^((l+ε)/2)/(e^ε − 1) between −ε and ε.
//
// Proof. Let the losses of a mechanism lie in [t − ε, t], where 0 ≤ t ≤ ε since neither of two laws is
// everywhere the larger. E(1 − e^(a−l))₊ is convex in x = e^(−l), and moving the mass to the ends of the
// interval, with the mean of x, which is 1 or less, at 1, makes it larger: so p = (e^ε − e^t)/(e^ε − 1) at t and
// the rest at t − ε [Dong, Durfee & Rogers 2020]. Its curve, for a within the interval, is p·(1 − e^(a−t)) =
// (e^ε + e^a − e^t − e^(ε+a−t))/(e^ε − 1). The last two terms are least together where they are equal, at t
// = (ε + a)/2, so that for every t, and every a from −ε to ε,
//
//	δ(a) ≤ (e^(ε/2) − e^(a/2))²/(e^ε − 1);
//
// For a below t − ε δ(a) = 1 − e^a, and for a above t it is 0; no pair's curve is below either. The right-hand
// side is the pair's own curve: with u = e^(l/2) its P-mass above a is e^(ε/2)(e^(ε/2) − e^(a/2))/(e^ε − 1), its
// Q-mass e^(−a/2)(e^(ε/2) − e^(a/2))/(e^ε − 1), and the difference of the first and e^a times the second is it.
// It is symmetric, so the reverse order needs no other. ∎
type boundedRange struct{ laplace }

// BoundedRange is the pair that dominates every mechanism of range ε, as the exponential mechanism, in every
// composition.
func BoundedRange(epsilon *big.Rat) (Pair, error) {
	e, err := positive("ε", epsilon)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		key: "range " + epsilon.RatString(), top: e.hi,
		forward: bounded(e, func() family { return boundedRange{laplace{e}} }),
	}, nil
}

func (d boundedRange) describe(s sink) {
	inside := d.epsilon.neg().expm1().neg() // 1 − e^(−ε), twice what the Laplace pair has between its atoms
	d.describeBetween(s, point(2).over(inside))
}

func (d boundedRange) edges(n int) []float64 {
	return evenly(-d.epsilon.hi, d.epsilon.hi, min(n/3, max(64, int(math.Min(1024, 8*d.epsilon.hi)))))
}
