package account

import (
	"math"
	"math/big"

	"dither/privacy"
)

// Approximate is the promise of (ε, δ)-differential privacy: P(S) ≤ e^ε·Q(S) + δ for every event S, on neighbouring data
// sets in both orders. δ = 0 is the pure promise. The zero value is a mechanism that loses nothing.
type Approximate struct {
	Epsilon privacy.Epsilon
	Delta   privacy.Delta
}

// Repeated is a promise made by each of Count mechanisms.
type Repeated struct {
	Approximate
	Count int64
}

// Basic is basic composition: mechanisms of promises (εᵢ, δᵢ) keep (Σεᵢ, Σδᵢ) together, exactly; δ is at most 1 [Dwork,
// Kenthapadi, McSherry, Mironov & Naor 2006, Theorem 1]. It holds for mechanisms that are chosen adaptively too, if their
// promises are fixed in advance. A negative count counts as 0.
//
// Proof. An (ε, δ) pair is P = (1−δ)P′ + δP″, Q = (1−δ)Q′ + δQ″ with P′ ≤ e^ε·Q′ [the argument of optimal.go]. All the first
// parts meet with probability ∏(1−δᵢ) ≥ 1 − Σδᵢ, and there ratios of at most e^εᵢ multiply. ∎
func Basic(parts ...Repeated) Approximate {
	var sum Approximate
	for _, p := range parts {
		n := max(p.Count, 0)
		sum.Epsilon = sum.Epsilon.Plus(p.Epsilon.Times(n))
		sum.Delta = sum.Delta.Plus(p.Delta.Share(n, 1))
	}
	return sum
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

// zeros is how many binary zeros a number above 0 begins with, behind its point.
func zeros(r *big.Rat) uint { return uint(max(0, -new(big.Float).SetRat(r).MantExp(nil))) }
