package sample

import (
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
)

// Crossing returns ⌈ln(1 + (1 − δ)(e^ε − 1)/(δ(e^ε + 1)))/ε⌉, for rational ε > 0 and 0 < δ < 1. It panics for other
// parameters.
//
// The result is the least k with exp(−kε) ≤ δ(1 + b)/(1 − b + 2δb), b = exp(−ε). It is the largest magnitude, up to
// rounding, of the noise with the smallest tails that makes an integer of sensitivity 1 (ε, δ)-differentially
// private: see Tulap, and partition.Selection.
//
// Termination: the logarithm divided by ε is never an integer k. It would mean δ(e^ε + 1)e^(kε) = e^ε − 1 + 2δ. But
// e^ε is transcendental for a rational ε ≠ 0 [Lindemann 1882], and as a polynomial in e^ε the equation is not an
// identity for δ < 1. So some precision determines the floor, and the ceiling is one more.
func Crossing(epsilon, delta *big.Rat) *big.Int {
	if epsilon.Sign() <= 0 || delta.Sign() <= 0 || delta.Cmp(ratOne) >= 0 {
		panic("sample: the crossing of a Tulap needs 0 < ε and 0 < δ < 1")
	}
	odds := new(big.Rat).Sub(ratOne, delta)
	odds.Quo(odds, delta)
	for bits := uint(128); ; bits *= 2 {
		grown, two := Expm1(epsilon, bits), exact.IntervalOf(big.NewRat(2, 1), bits)
		x := exact.IntervalOf(odds, bits).Mul(grown).Quo(grown.Add(two))
		steps := x.Log1p().Quo(exact.IntervalOf(epsilon, bits))
		low, _ := steps.Lo().Int(nil) // Int rounds towards 0, which is down for a positive number
		high, _ := steps.Hi().Int(nil)
		if low.Cmp(high) == 0 {
			return low.Add(low, bigOne)
		}
	}
}

// Tulap is the truncated-uniform-Laplace distribution [Awan & Slavković 2018, "Differentially Private Uniformly
// Most Powerful Tests for Binomial Data", Definition 4.1], prepared for many draws. It is immutable. It is safe for
// concurrent use if each goroutine has its own source. The zero value is invalid.
type Tulap struct {
	whole interface { // a difference of two geometric variables: discrete Laplace of scale 1/ε, truncated at M if δ > 0
		Draw(src *entropy.Source, z *big.Int) *big.Int
	}
	reach         *big.Int   // M, the largest magnitude of G₁ − G₂; nil if δ = 0
	cut, mirrored *Bernoulli // coins of probability τ and 1 − τ: see NewTulap
}

// NewTulap prepares the distribution of N = G₁ − G₂ + U, conditioned on q/2 ≤ F(N) ≤ 1 − q/2. G₁ and G₂ are
// geometric with P(g) ∝ bᵍ, b = exp(−ε). U is uniform in [−½, ½]. F is the distribution function of G₁ − G₂ + U,
// and q = 2δb/(1 − b + 2δb). It panics unless ε is in (0, 2²⁰] and δ in [0, 1).
//
// The condition on N as an interval: F is symmetric. Let x = m − ½ + v, with an integer m ≥ 0 and 0 ≤ v ≤ 1. Then 1
// − F(x) = bᵐ(b + (1 − v)(1 − b))/(1 + b) = bᵐ(1 − v(1 − b))/(1 + b), which decreases from bᵐ/(1 + b) to bᵐ⁺¹/(1 +
// b). So the condition is |N| ≤ M − ½ + τ, where M is the m with bᵐ⁺¹ < (1 + b)q/2 ≤ bᵐ and τ = (1 − (1 +
// b)q/(2bᴹ))/(1 − b). Here (1 + b)q/2 = b·δ(1 + b)/(1 − b + 2δb), so M is Crossing.
func NewTulap(epsilon, delta *big.Rat) *Tulap {
	t := &Tulap{whole: NewLaplace(new(big.Rat).Inv(epsilon))}
	if delta.Sign() == 0 {
		return t
	}
	t.reach = Crossing(epsilon, delta)
	t.whole = NewTruncated(epsilon, t.reach)
	epsilon, delta = new(big.Rat).Set(epsilon), new(big.Rat).Set(delta)
	steps := new(big.Rat).SetInt(t.reach)
	steps.Sub(steps, ratOne).Mul(steps, epsilon) // (M − 1)ε
	cut := func(bits uint) exact.Interval {
		// With E = e^ε: τ = (E − δ(E + 1)·e^((M−1)ε)·E/(E − 1 + 2δ))/(E − 1). The division by E − 1 cancels about
		// as many bits as 1/ε has, so these are added.
		bits += uint(max(0, epsilon.Denom().BitLen()-epsilon.Num().BitLen()+1))
		of := func(r *big.Rat) exact.Interval { return exact.IntervalOf(r, bits) }
		drop := Expm1(epsilon, bits) // E − 1
		grown, d := drop.Add(of(ratOne)), of(delta)
		share := d.Mul(grown.Add(of(ratOne))).Quo(drop.Add(d).Add(d)).Mul(of(steps).Exp())
		return grown.Mul(of(ratOne).Sub(share)).Quo(drop)
	}
	t.cut = NewBernoulli(cut)
	t.mirrored = NewBernoulli(func(bits uint) exact.Interval { return exact.IntervalOf(ratOne, bits).Sub(cut(bits)) })
	return t
}

// Draw sets z to ⌊2⁶⁴·N⌋, exactly, where N has the distribution of NewTulap and is independent of every other draw.
// It returns z. So N is rounded down to 64 binary digits after the point. The integers are on that grid, so an
// integer can be added before or after rounding, with the same result.
//
// With m = G₁ − G₂, a discrete Laplace variable of scale 1/ε, and W = U + ½, N is m − ½ + W. If |m| < M, N meets
// the condition |N| ≤ M − ½ + τ. If |m| > M, it does not. At m = M it does if W < τ, and at m = −M if 1 − W < τ. M
// is at least 1, so a round is accepted with probability at least ⅓.
func (t *Tulap) Draw(src *entropy.Source, z *big.Int) *big.Int {
	for {
		t.whole.Draw(src, z)
		w := Uniform{}
		first := w.First(src)
		if t.reach != nil {
			if last := z.CmpAbs(t.reach) == 0; last && z.Sign() > 0 && !t.cut.above(src, &w) || last && z.Sign() < 0 &&
				t.mirrored.above(src, &w) {
				continue
			}
		}
		z.Lsh(z, 64).Add(z, new(big.Int).SetUint64(first))
		return z.Sub(z, half64)
	}
}

var half64 = new(big.Int).Lsh(bigOne, 63) // must not be changed
