package pld

import (
	"math"
	"math/big"
)

// boundedRange is the pair that dominates every mechanism of range ε. For such a mechanism and any two neighbours,
// the losses lie in an interval of length ε [Durfee & Rogers 2019]. The exponential mechanism is one. The pair is
// the Laplace pair of the same ε without its atoms: its loss has the density ½·e^((l+ε)/2)/(e^ε − 1) between −ε and
// ε.
//
// Claim: the pair dominates every mechanism of range ε. Proof: let the losses of a mechanism lie in [t − ε, t].
// Here 0 ≤ t ≤ ε, because neither of two distributions is larger everywhere. Let x = e^(−l), whose mean is 1. E(1 −
// e^a·x)₊ is convex in x. So it does not fall if the mass is moved to the ends of the interval, with the mean of x
// still 1. Then the mass at t is p = (e^ε − e^t)/(e^ε − 1), and the rest is at t − ε [Dong, Durfee & Rogers 2020].
// For a in the interval, the curve is p·(1 − e^(a−t)) = (e^ε + e^a − e^t − e^(ε+a−t))/(e^ε − 1). The sum of the
// last two exponentials is smallest if they are equal, at t = (ε + a)/2. So for every t, and every a from −ε to ε,
//
//	δ(a) ≤ (e^(ε/2) − e^(a/2))²/(e^ε − 1).
//
// For a below t − ε, δ(a) = 1 − e^a. For a above t, δ(a) is 0. No pair has a smaller curve there, so these cases
// need no proof.
//
// The right-hand side is the curve of the pair itself. The substitution u = e^(l/2) gives its P-mass above a,
// e^(ε/2)(e^(ε/2) − e^(a/2))/(e^ε − 1), and its Q-mass above a, e^(−a/2)(e^(ε/2) − e^(a/2))/(e^ε − 1). The
// right-hand side is the P-mass minus e^a times the Q-mass. The pair is symmetric, so the other direction needs no
// other pair. ∎
type boundedRange struct{ laplace }

// BoundedRange returns the pair that dominates every mechanism of range ε, such as the exponential mechanism, in
// every composition. In such a mechanism, the losses for any two neighbours lie in an interval of length ε.
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
	inside := d.epsilon.neg().expm1().neg() // 1 − e^(−ε): twice the mass of the Laplace pair between its atoms
	d.describeBetween(s, point(2).over(inside))
}

func (d boundedRange) edges(n int) []float64 {
	return evenly(-d.epsilon.hi, d.epsilon.hi, min(n/3, max(64, int(math.Min(1024, 8*d.epsilon.hi)))))
}
