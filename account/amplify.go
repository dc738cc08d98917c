package account

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// Scheme is the way in which a sample is drawn from the data before a mechanism runs on it. The set of sampled rows
// stays secret.
type Scheme int

const (
	// Poisson includes each unit independently with probability q. It amplifies under add/remove.
	Poisson Scheme = iota + 1
	// FixedSize draws m of n units without replacement. Every set of m units has the same probability, and q = m/n.
	// It amplifies under change-one, where n is public and the same for neighbours.
	FixedSize
)

// Amplified returns the promise of a mechanism that runs on a random sample of the data. a is its promise on the
// sample, and s draws the sample with rate q. The result is
//
//	(ln(1 + q(e^ε − 1)), qδ),
//
// with ε rounded up to 17 digits and δ exact [Balle, Barthe & Gaboardi 2018: Theorem 8 for Poisson sampling under
// add/remove, Theorem 9 for a fixed size under change-one]. a must hold under the relation under which the scheme
// amplifies, and the result holds under the same relation.
//
// Proof. Let two neighbours differ in unit u, and let e^ε′ = 1 + q(e^ε−1). Samples without u have weight 1−q, and
// give the same law M₀ on both datasets.
//
// Under add/remove, let samples with u give the law M₁ on the larger dataset. Its output law is P = (1−q)M₀ + qM₁,
// and that of the smaller dataset is Q = M₀. M₀ and M₁ are (ε, δ)-indistinguishable, because each sample with u is
// a neighbour of the same sample without u. So for every event S, P(S) − e^ε′·Q(S) = q(M₁(S) − e^ε·M₀(S)) ≤ qδ. In
// the other order, M₁(S) ≥ e^−ε(M₀(S) − δ). So Q(S) − e^ε′·P(S) ≤ M₀(S)·(1 − e^ε′(1 − q + q·e^−ε)) + e^(ε′−ε)·qδ.
// The factor of M₀(S) is at most 0, because (1−q+q·e^ε)(1−q+q·e^−ε) ≥ 1 by the Cauchy-Schwarz inequality. The last
// term is at most qδ, because ε′ ≤ ε.
//
// Under change-one, let samples with u give the law M₁ on one dataset, and samples with its replacement M₁′ on the
// other. With β = e^(ε′−ε), comparing the coefficients of each law shows that P − e^ε′·Q = q[(1−β)(M₁ − e^ε·M₀) +
// β(M₁ − e^ε·M₁′)]. M₁ and M₁′ are (ε, δ)-indistinguishable, because their samples are the same except for u. So
// are M₁ and M₀: replacing u in its sample by a uniformly drawn unit outside the sample gives a uniformly drawn
// sample without u. So M₁ − e^ε·M₀ and M₁ − e^ε·M₁′ are at most δ on every event, and the whole is at most qδ. ∎
//
// Amplified returns ErrParameter for a q outside [0, 1], an unknown scheme, or an ε beyond 100,000.
func (a Approximate) Amplified(q *big.Rat, s Scheme) (Approximate, error) {
	switch {
	case q == nil || q.Sign() < 0 || q.Cmp(one) > 0:
		return Approximate{}, fmt.Errorf("%w: a sampling rate must be at least 0 and at most 1", ErrParameter)
	case s != Poisson && s != FixedSize:
		return Approximate{}, fmt.Errorf("%w: there is no sampling scheme %d", ErrParameter, int(s))
	case a.Epsilon.Rat().Cmp(big.NewRat(steepest, 1)) > 0:
		return Approximate{}, fmt.Errorf("%w: an ε must not exceed %d", ErrParameter, steepest)
	case q.Cmp(one) == 0:
		return a, nil
	}
	d, err := privacy.DeltaOf(new(big.Rat).Mul(q, a.Delta.Rat()))
	if err != nil {
		return Approximate{}, err
	}
	out := Approximate{Delta: d}
	if q.Sign() > 0 && !a.Epsilon.IsZero() {
		e := a.Epsilon.Rat()
		// If ε has n zeros after the binary point, e^ε − 1 loses n bits of precision.
		bits := certainty + zeros(e)
		growth := exact.IntervalOf(e, bits).Exp().Sub(exact.IntervalOf(one, bits))
		found := epsilonAbove(exact.IntervalOf(q, bits).Mul(growth).Log1p().Hi())
		out.Epsilon = a.Epsilon
		if found.Cmp(a.Epsilon) < 0 {
			out.Epsilon = found
		}
	}
	return out, nil
}

// epsilonAbove returns x > 0 as an ε, rounded up to 17 digits.
func epsilonAbove(x *big.Float) privacy.Epsilon {
	r, _ := x.Rat(nil)
	e, _ := privacy.EpsilonOf(exact.CeilDigits(r, 17)) // it fails for negative numbers only
	return e
}
