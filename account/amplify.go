package account

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// Scheme is how a sample is drawn from the data before a mechanism runs on it. The set of sampled rows stays secret.
type Scheme int

const (
	// Poisson takes each unit independently with probability q. It amplifies under add/remove.
	Poisson Scheme = iota + 1
	// FixedSize takes m of n units without replacement, every set of m with equal probability: q = m/n. It amplifies
	// under change-one, where n is public and the same for neighbours.
	FixedSize
)

// Amplified is amplification by sampling: the promise on the data of a mechanism that promises a on its sample, if a
// scheme draws the sample with rate q:
//
//	(ln(1 + q(e^ε − 1)), qδ),
//
// ε rounded up to 17 digits and δ exact [Balle, Barthe & Gaboardi 2018, Theorem 8 for Poisson sampling under
// add/remove and Theorem 9 for a fixed size under change-one: the two give one formula]. a must hold under the scheme's
// relation, and so does what is returned.
//
// Proof. Let neighbours differ in unit u, and e^ε′ = 1 + q(e^ε−1). Samples without u, of weight 1−q, give one
// law M₀ on both.
//
// Under add/remove, samples with u give M₁ on the larger dataset: P = (1−q)M₀ + qM₁ and Q = M₀, and M₀ and
// M₁ are indistinguishable to (ε, δ), sample by sample. So P(S) − e^ε′·Q(S) = q(M₁(S) − e^ε·M₀(S))
// ≤ qδ. In the other order, M₁(S) ≥ e^−ε(M₀(S) − δ), so that Q(S) − e^ε′·P(S) ≤ M₀(S)·(1 −
// e^ε′(1 − q + q·e^−ε)) + e^(ε′−ε)·qδ, where the bracket is at most 0, since
// (1−q+q·e^ε)(1−q+q·e^−ε) ≥ 1 by Cauchy and Schwarz, and ε′ ≤ ε.
//
// Under change-one, samples with u give M₁ on one and M₁′ on the other. With β = e^(ε′−ε), P −
// e^ε′·Q = q[(1−β)(M₁ − e^ε·M₀) + β(M₁ − e^ε·M₁′)], as comparing the factors of each law
// shows. M₁ and M₁′ are of the same samples but for u. M₁ and M₀ are too: u replaced by a unit that its
// sample lacks, any alike, makes a sample without u, all alike. Hence at most qδ. ∎
//
// A q outside [0, 1], an unknown scheme, and an ε beyond 100,000 are ErrParameter.
func (a Approximate) Amplified(q *big.Rat, s Scheme) (Approximate, error) {
	switch {
	case q == nil || q.Sign() < 0 || q.Cmp(one) > 0:
		return Approximate{}, fmt.Errorf("%w: a sampling rate must be at least 0 and at most 1", ErrParameter)
	case s != Poisson && s != FixedSize:
		return Approximate{}, fmt.Errorf("%w: no sampling scheme %d", ErrParameter, int(s))
	case a.Epsilon.Rat().Cmp(big.NewRat(steepest, 1)) > 0:
		return Approximate{}, fmt.Errorf("%w: an ε beyond %d", ErrParameter, steepest)
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
		// e^ε − 1 loses as many bits as ε has zeros.
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

// epsilonAbove is x > 0 as a loss, rounded up to 17 digits.
func epsilonAbove(x *big.Float) privacy.Epsilon {
	r, _ := x.Rat(nil)
	e, _ := privacy.EpsilonOf(exact.CeilDigits(r, 17)) // its only error is of a negative number
	return e
}
