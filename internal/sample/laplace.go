package sample

import (
	"math/big"
	"math/bits"

	"dither/internal/entropy"
)

// DiscreteLaplace returns an integer x with probability
//
//	P(x) = (1 − p)/(1 + p) · p^|x|,  p = exp(−1/scale),
//
// proportional to exp(−|x|/scale), exactly. The scale may be any positive rational; another is a programmer's error, and
// panics. Time and the number of bits consumed depend on the draw.
//
// Algorithm 2, for scale = t/s in lowest terms. (i) u uniform in [0, t), accepted with probability exp(−u/t), and
// v ~ Geometric(1 − exp(−1)): w = u + t·v has P(w) ∝ exp(−u/t)·exp(−v) = exp(−w/t), and w runs over every integer ≥ 0
// once. (ii) m = ⌊w/s⌋: P(m) ∝ Σ_{ms ≤ w < (m+1)s} exp(−w/t) ∝ exp(−m·s/t) = exp(−m/scale). (iii) A fair sign, with −0
// rejected so that 0 is not counted twice: P(x) ∝ exp(−|x|/scale). A round of (i) is accepted with probability at least
// 1 − exp(−1), and (iii) rejects at most every other round.
func DiscreteLaplace(src *entropy.Source, scale *big.Rat) *big.Int {
	if scale.Sign() <= 0 {
		panic("sample: a discrete Laplace needs a positive scale")
	}
	t, s := scale.Num(), scale.Denom()
	if t.IsUint64() && s.IsUint64() {
		return laplace64(src, t.Uint64(), s.Uint64())
	}
	return laplaceBig(src, t, s)
}

// laplace64 is DiscreteLaplace of scale t/s, both positive. Only its intermediate u + t·v takes more than 64 bits.
func laplace64(src *entropy.Source, t, s uint64) *big.Int {
	for {
		u := src.Below64(t)
		if !bernoulliExp64(src, u, t) {
			continue
		}
		hi, lo := bits.Mul64(t, geometric(src))
		lo, carry := bits.Add64(lo, u, 0)
		hi += carry // u + t·v < t·(v + 1) ≤ 2¹²⁸ − 2⁶⁴
		qhi, rest := hi/s, hi%s
		qlo, _ := bits.Div64(rest, lo, s)
		negative := src.Bits(1) == 1
		if negative && qhi|qlo == 0 {
			continue // −0
		}
		return signed128(qhi, qlo, negative)
	}
}

// laplaceBig is DiscreteLaplace of scale t/s, both positive and of any size.
func laplaceBig(src *entropy.Source, t, s *big.Int) *big.Int {
	for {
		u := src.Below(t)
		if !bernoulliExpBig(src, u, t) {
			continue
		}
		m := new(big.Int).SetUint64(geometric(src))
		m.Mul(m, t).Add(m, u).Quo(m, s)
		negative := src.Bits(1) == 1
		if negative && m.Sign() == 0 {
			continue // −0
		}
		if negative {
			m.Neg(m)
		}
		return m
	}
}

// signed128 is ±(hi·2⁶⁴ + lo).
func signed128(hi, lo uint64, negative bool) *big.Int {
	x := new(big.Int).SetUint64(lo)
	if hi != 0 {
		high := new(big.Int).SetUint64(hi)
		x.Or(x, high.Lsh(high, 64))
	}
	if negative {
		x.Neg(x)
	}
	return x
}
