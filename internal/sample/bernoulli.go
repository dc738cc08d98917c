// Package sample draws integers from exact distributions, without floats or approximations. Each sampler states a
// distribution. The draws have exactly that distribution if the source's bits are uniform and independent.
//
// The samplers are those of Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential Privacy" (2020,
// arXiv 2004.00010), section 5, with steps of 1/16 instead of 1. A table has the first digits of the powers of
// exp(−1/16). The rest of an exponent is so small that 15 of 16 draws ignore it. Each loop ends with probability 1.
// Its expected number of rounds is bounded for all parameters.
//
// The parameters alone decide whether the code uses 64-bit, 128-bit or big integers. If several of these apply,
// they return the same integers from the same bytes.
//
// The running time is not constant. The number of rounds, and so the time and the number of consumed bits, depend
// on the draw. An observer who can time a single draw learns something about it [Jin et al. 2022]. Callers that
// answer untrusted analysts delay their answers to fixed times.
package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// BernoulliExp returns true with probability exp(−x). It panics if x < 0.
//
// Let x = (q + r)/16, with an integer q and 0 ≤ r < 1. The result is the product of Bernoulli(exp(−q/16)) and
// Bernoulli(exp(−r/16)).
func BernoulliExp(src *entropy.Source, x *big.Rat) bool {
	if x.Sign() < 0 {
		panic("sample: Bernoulli(exp(−x)) of a negative x")
	}
	q, r := new(big.Int).Lsh(x.Num(), 4), new(big.Int)
	q.QuoRem(q, x.Denom(), r)
	return surviveBig(src, q) && smallBig(src, src.Bits(4), r, x.Denom())
}

// small64 returns true with probability exp(−n/(16d)), for 0 ≤ n ≤ d and d > 0, given a uniform nibble in [0, 16).
//
// It is Algorithm 1 of Canonne, Kamath & Steinke 2020 for γ = n/(16d) in [0, 1]: draw A_K ~ Bernoulli(γ/K) for K =
// 1, 2, … until the first 0, and return whether that K is odd. P(K > k) = γᵏ/k!, hence P(K odd) = Σ_k (−γ)ᵏ/k! =
// exp(−γ). A_K is drawn as the product of Bernoulli(1/16) (the nibble is 0), Bernoulli(1/K) and Bernoulli(n/d). The
// expected number of rounds is exp(γ) ≤ 1.07.
func small64(src *entropy.Source, nibble, n, d uint64) bool {
	for k := uint64(1); ; k++ { // K does not overflow: counting to 2⁶⁴ takes too long
		if nibble != 0 || src.Below64(k) != 0 || src.Below64(d) >= n {
			return k&1 == 1
		}
		nibble = src.Bits(4)
	}
}

// small128 is small64 for n, d < 2¹²⁸.
func small128(src *entropy.Source, nibble uint64, n, d pair) bool {
	for k := uint64(1); ; k++ {
		if nibble != 0 || src.Below64(k) != 0 || !below128(src, d).less(n) {
			return k&1 == 1
		}
		nibble = src.Bits(4)
	}
}

// smallBig is small64 for integers of any size.
func smallBig(src *entropy.Source, nibble uint64, n, d *big.Int) bool {
	for k := uint64(1); ; k++ {
		if nibble != 0 || src.Below64(k) != 0 || src.Below(d).Cmp(n) >= 0 {
			return k&1 == 1
		}
		nibble = src.Bits(4)
	}
}

// below128 returns a uniform integer in [0, n), for n > 0. It consumes the same bytes as Source.Below.
func below128(src *entropy.Source, n pair) pair {
	if n.hi == 0 {
		return pair{0, src.Below64(n.lo)}
	}
	width := n.minusOne().len()
	for {
		v := pair{lo: src.Bits(min(width, 64))}
		v.hi = src.Bits(max(width-64, 0))
		if v.less(n) {
			return v
		}
	}
}
