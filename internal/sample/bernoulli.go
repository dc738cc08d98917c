// Package sample draws integers from exact distributions. No float and no approximation is involved: the postcondition of
// each sampler is a distribution, which it has exactly if the source's bits are uniform and independent.
//
// The samplers are those of Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential Privacy" (2020,
// arXiv 2004.00010), section 5. Each loop ends with probability 1, after an expected number of rounds that no parameter
// makes large. Which code runs, on 64-bit or on big integers, is a function of the parameters alone.
//
// Time is not constant: the number of rounds, and so the time and the bits consumed, depend on the draw, and one who can
// time a single draw learns something of it [Jin et al. 2022]. Callers who answer strangers pad their answers.
package sample

import (
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
)

// BernoulliExp returns true with probability exp(−x). x must not be negative: a programmer's error, which panics.
//
// It is the product of ⌊x⌋ Bernoulli(exp(−1)) and one Bernoulli(exp(−(x−⌊x⌋))), and stops at the first that fails, after
// fewer than 2 of them on average: each after the first is reached with probability at most exp(−1).
func BernoulliExp(src *entropy.Source, x *big.Rat) bool {
	if x.Sign() < 0 {
		panic("sample: Bernoulli(exp(−x)) of a negative x")
	}
	whole := exact.FloorRat(x)
	rest := new(big.Rat).Sub(x, new(big.Rat).SetInt(whole))
	for one := big.NewInt(1); whole.Sign() > 0; whole.Sub(whole, one) {
		if !bernoulliExp64(src, 1, 1) {
			return false
		}
	}
	num, den := rest.Num(), rest.Denom()
	if den.IsUint64() {
		return bernoulliExp64(src, num.Uint64(), den.Uint64())
	}
	return bernoulliExpBig(src, num, den)
}

// bernoulliExp64 returns true with probability exp(−n/d), 0 ≤ n ≤ d, 0 < d.
//
// Algorithm 1 for γ = n/d in [0, 1]: draw A_K ~ Bernoulli(γ/K) for K = 1, 2, … until the first 0, and return whether that
// K is odd. P(K > k) = γᵏ/k!, hence P(K odd) = Σ_k (−γ)ᵏ/k! = exp(−γ). A_K is drawn as the product of Bernoulli(1/K) and
// Bernoulli(n/d), which keeps d·K from overflowing. The expected number of rounds is exp(γ) ≤ e.
func bernoulliExp64(src *entropy.Source, n, d uint64) bool {
	for k := uint64(1); ; k++ { // 64 bits of K outlast the computer
		if src.Below64(k) != 0 || src.Below64(d) >= n {
			return k&1 == 1
		}
	}
}

// bernoulliExpBig is bernoulliExp64 for integers of any size.
func bernoulliExpBig(src *entropy.Source, n, d *big.Int) bool {
	for k := uint64(1); ; k++ {
		if src.Below64(k) != 0 || src.Below(d).Cmp(n) >= 0 {
			return k&1 == 1
		}
	}
}

// geometric returns v ≥ 0 with probability (1 − exp(−1))·exp(−v): the number of successes before the first failure of
// independent Bernoulli(exp(−1)). 64 bits of v outlast the computer.
func geometric(src *entropy.Source) uint64 {
	v := uint64(0)
	for bernoulliExp64(src, 1, 1) {
		v++
	}
	return v
}
