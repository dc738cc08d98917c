package account

import (
	"math"
	"math/big"

	"dither/privacy"
)

// Approximate is the promise of (ε, δ)-differential privacy: P(S) ≤ e^ε·Q(S) + δ for every event S, on
// neighbouring datasets in both orders. δ = 0 is the pure promise. The zero value is a mechanism that loses nothing.
type Approximate struct {
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
}

// Repeated is a promise that each of Count mechanisms makes.
type Repeated struct {
	Approximate
	Count int64
}

// Basic is basic composition: mechanisms with promises (εᵢ, δᵢ) keep (Σεᵢ, Σδᵢ) together; δ is at most 1
// [Dwork, Kenthapadi, McSherry, Mironov & Naor 2006, Theorem 1]. The sums are exact, unless a fraction becomes long:
// then it is rounded up, far beyond any float's digits. It also holds for mechanisms that are chosen adaptively, if
// their promises are fixed in advance. A negative count counts as 0.
//
// Proof. An (ε, δ) pair is P = (1−δ)P′ + δP″, Q = (1−δ)Q′ + δQ″ with P′ ≤ e^ε·Q′ [the
// argument of optimal.go]. All the first parts meet with probability ∏(1−δᵢ) ≥ 1 − Σδᵢ, and there ratios
// of at most e^εᵢ multiply. ∎
func Basic(parts ...Repeated) Approximate {
	var sum Approximate
	for _, p := range parts {
		n := max(p.Count, 0)
		sum.Epsilon = epsilonOf(short(sum.Epsilon.Plus(p.Epsilon.Times(n)).Rat()))
		if d, err := privacy.DeltaOf(short(sum.Delta.Plus(p.Delta.Share(n, 1)).Rat())); err == nil {
			// always: 1 is short itself
			sum.Delta = d
		}
	}
	return sum
}

// shortBits bounds a fraction's length: the denominator of a sum of thousands of different fractions would be the
// product of theirs.
const shortBits = 1024

// short is r ≥ 0; if its denominator is longer than shortBits, r rounded up to shortBits binary digits.
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

// floatAbove is the least float64 not below x, and +Inf above all.
func floatAbove(x *big.Float) float64 {
	f, accuracy := x.Float64()
	if accuracy == big.Below {
		return math.Nextafter(f, math.Inf(1))
	}
	return f
}

// floatBelow is the largest float64 not above x.
func floatBelow(x *big.Float) float64 {
	f, accuracy := x.Float64()
	if accuracy == big.Above {
		return math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// zeros is how many binary zeros follow the point of a number above 0.
func zeros(r *big.Rat) uint { return uint(max(0, -new(big.Float).SetRat(r).MantExp(nil))) }
