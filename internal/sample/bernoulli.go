// Package sample draws integers from exact distributions, without floats or approximations. The postcondition of each
// sampler is a distribution; the draws have it exactly if the source's bits are uniform and independent.
//
// The samplers are those of Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential Privacy" (2020, arXiv
// 2004.00010), section 5, with steps of 1/16 in place of 1: powers of exp(−1/16) come from a table of their first
// digits, and the rest of an exponent is so small that 15 of 16 draws need not look at it. Each loop ends with
// probability 1, after an expected number of rounds that no parameter makes large.
//
// The parameters alone decide which code runs, on 64-bit, 128-bit or big integers. Where several apply, they return the
// same integers from the same bytes.
//
// The running time is not constant: the number of rounds, and so the time and the bits consumed, depend on the draw.
// Somebody who can time a single draw learns something about it [Jin et al. 2022]. Callers that answer strangers delay
// their answers to fixed moments.
package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// BernoulliExp returns true with probability exp(−x). A negative x is a programmer's error, and panics.
//
// With x = (q + r)/16, q an integer and 0 ≤ r < 1, it is the product of Bernoulli(exp(−q/16)) and
// Bernoulli(exp(−r/16)).
func BernoulliExp(src *entropy.Source, x *big.Rat) bool {
	if x.Sign() < 0 {
		panic("sample: Bernoulli(exp(−x)) of a negative x")
	}
	q, r := new(big.Int).Lsh(x.Num(), 4), new(big.Int)
	q.QuoRem(q, x.Denom(), r)
	return surviveBig(src, q) && smallBig(src, src.Bits(4), r, x.Denom())
}

// small64 returns true with probability exp(−n/(16d)), 0 ≤ n ≤ d, 0 < d, given a uniform nibble in [0, 16).
//
// Algorithm 1 for γ = n/(16d) in [0, 1]: draw A_K ~ Bernoulli(γ/K) for K = 1, 2, … until the first 0, and return
// whether that K is odd. P(K > k) = γᵏ/k!, hence P(K odd) = Σ_k (−γ)ᵏ/k! = exp(−γ). A_K is drawn as the
// product of Bernoulli(1/16), which is whether a nibble is 0, Bernoulli(1/K) and Bernoulli(n/d). The expected number of
// rounds is exp(γ) ≤ 1.07.
func small64(src *entropy.Source, nibble, n, d uint64) bool {
	for k := uint64(1); ; k++ { // 64 bits of K outlast the computer
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

// below128 returns a uniform integer in [0, n), n > 0, from the bytes that Source.Below takes.
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
