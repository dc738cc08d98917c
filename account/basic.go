package account

import (
	"math"
	"math/big"

	"dither/privacy"
)

// Approximate is the promise of (ε, δ)-differential privacy: P(S) ≤ e^ε·Q(S) + δ for every event S, where P and Q
// are the output laws on two neighbouring datasets, in either order. If δ = 0, the promise is pure. The zero value
// is the promise of a mechanism that reveals nothing.
type Approximate struct {
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
}

// Repeated is a promise that each of Count mechanisms keeps.
type Repeated struct {
	Approximate
	Count int64
}

// Basic returns the joint promise of several mechanisms by basic composition: (Σεᵢ, Σδᵢ), with δ at most 1 [Dwork,
// Kenthapadi, McSherry, Mironov & Naor 2006, Theorem 1]. The sums are exact, unless a fraction becomes very long.
// Then Basic rounds it up, far beyond any float's digits. The result also holds for adaptively chosen mechanisms,
// if their promises are fixed in advance. A negative count counts as 0.
//
// Proof. For an (ε, δ) promise, the output laws on two neighbours can be written as P = (1−δ)P′ + δP″ and Q =
// (1−δ)Q′ + δQ″ with P′ ≤ e^ε·Q′. This holds because the pair of P and Q is an image of the pair of laws of
// randomized response, as [Optimal] explains. All mechanisms draw from their first parts with probability ∏(1−δᵢ) ≥
// 1 − Σδᵢ. In that case the ratios multiply, and each is at most e^εᵢ. ∎
func Basic(parts ...Repeated) Approximate {
	var sum Approximate
	for _, p := range parts {
		n := max(p.Count, 0)
		sum.Epsilon = epsilonOf(short(sum.Epsilon.Plus(p.Epsilon.Times(n)).Rat()))
		if d, err := privacy.DeltaOf(short(sum.Delta.Plus(p.Delta.Share(n, 1)).Rat())); err == nil {
			// cannot fail, because the function short leaves a δ of 1 unchanged
			sum.Delta = d
		}
	}
	return sum
}

// shortBits is the most bits of a fraction's denominator. The denominator of a sum of thousands of different
// fractions would be the product of theirs.
const shortBits = 1024

// short returns r ≥ 0. If the denominator of r has more than shortBits bits, short rounds r up to shortBits
// significant bits.
func short(r *big.Rat) *big.Rat {
	if r.Denom().BitLen() <= shortBits {
		return r
	}
	shift := uint(max(0, shortBits-1+r.Denom().BitLen()-r.Num().BitLen()))
	n := new(big.Int).Lsh(r.Num(), shift)
	n, rest := n.QuoRem(n, r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), shift))
}

// floatAbove returns the least float64 that is at least x, or +Inf.
func floatAbove(x *big.Float) float64 {
	f, accuracy := x.Float64()
	if accuracy == big.Below {
		return math.Nextafter(f, math.Inf(1))
	}
	return f
}

// floatBelow returns the largest float64 that is at most x.
func floatBelow(x *big.Float) float64 {
	f, accuracy := x.Float64()
	if accuracy == big.Above {
		return math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// zeros returns the number of zero bits after the binary point of r > 0, before its first one bit.
func zeros(r *big.Rat) uint { return uint(max(0, -new(big.Float).SetRat(r).MantExp(nil))) }
