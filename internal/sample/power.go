package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// last is how far the table of powers goes: exp(−last/16) = e^(−32).
const last = 512

// guide[b] is the largest j for which every 64-bit word that begins with the byte b is below powers[j], or 0.
var guide = func() (g [256]uint16) {
	for b := range g {
		highest := uint64(b)<<56 | (1<<56 - 1)
		for j := 1; j <= last && highest < powers[j]; j++ {
			g[b] = uint16(j)
		}
	}
	return g
}()

// coin returns true with probability exp(−j/16), 1 ≤ j ≤ last.
//
// It decides whether a uniform real U in [0, 1), read 64 binary digits at a time, is below exp(−j/16). The first
// digits of both decide unless they are equal, which happens once in 2⁶⁴ draws; then the next ones do. Two reals
// that differ have different digits somewhere, and U = exp(−j/16) has probability 0, so that the comparison ends and
// is exact.
func coin(src *entropy.Source, j int) bool {
	if u := src.Uint64(); u != powers[j] {
		return u < powers[j]
	}
	return refine(src, j)
}

// refine continues coin when the first 64 digits of U and of exp(−j/16) are equal: it returns whether U <
// exp(−j/16).
func refine(src *entropy.Source, j int) bool {
	for n := uint(128); ; n += 64 {
		all := digits(j, n)
		next := all.And(all, maxWord).Uint64()
		if u := src.Uint64(); u != next {
			return u < next
		}
	}
}

var maxWord = new(big.Int).SetUint64(1<<64 - 1)

// survive returns true with probability exp(−q/16), q = hi·2⁶⁴ + lo: the product of coins of exp(−last/16) and
// one of the rest, which stops at the first that fails.
func survive(src *entropy.Source, hi, lo uint64) bool {
	for hi != 0 || lo > last {
		if !coin(src, last) {
			return false
		}
		if lo < last {
			hi--
		}
		lo -= last
	}
	return lo == 0 || coin(src, int(lo))
}

// surviveBig is survive for an integer of any size, which it changes.
func surviveBig(src *entropy.Source, q *big.Int) bool {
	for step := big.NewInt(last); !q.IsUint64(); q.Sub(q, step) {
		if !coin(src, last) {
			return false
		}
	}
	return survive(src, 0, q.Uint64())
}

// geometric returns v ≥ 0 with probability (1 − exp(−1/16))·exp(−v/16).
//
// It is the inverse of P(V ≥ v) = exp(−v/16) at a uniform real U: the largest v with U < exp(−v/16), where V is
// at most last. Equal digits are refined as in coin; powers decreases strictly, so that no second comparison is open
// then. If V ≥ last, V − last has the distribution of V again, since P(V ≥ last + v) = P(V ≥ last)·P(V ≥ v),
// and is drawn afresh. 64 bits of v outlast the computer: 2⁵⁵ words would have to be read.
func geometric(src *entropy.Source) uint64 {
	for base := uint64(0); ; base += last {
		u := src.Uint64()
		v := int(guide[u>>56])
		for v < last && u < powers[v+1] {
			v++
		}
		if v < last && u == powers[v+1] && refine(src, v+1) {
			v++
		}
		if v < last {
			return base + uint64(v)
		}
	}
}

// digits is ⌊exp(−j/16)·2ⁿ⌋, exactly, for 0 < j ≤ last.
//
// It computes bounds of exp(−j/16)·2^(n+m) and drops m digits of each; where both agree so does what is between.
// exp(−j/16) is irrational [Lindemann 1882], hence never at a border, and some m separates it from both neighbours.
func digits(j int, n uint) *big.Int {
	for m := uint(64); ; m *= 2 {
		down, up := powerBounds(j, n+m)
		down.Rsh(down, m)
		up.Rsh(up, m)
		if down.Cmp(up) == 0 {
			return down
		}
	}
}

// powerBounds encloses exp(−j/16)·2ᵖ, 0 < j ≤ last.
//
// Σ_k (−1/16)ᵏ/k! is summed in units of 2⁻ᵖ. A term is the one before divided by −16k, in magnitude, rounded
// down; its error is below 1 + 1/16 + 1/16² + … < 2 units, and the terms beyond the first that rounds to 0 are
// together below 2 units too, for they alternate and fall. So k terms are within 2(k + 1) of the sum. Then the j-th
// power is formed by products, the lower one rounded down and the upper one up.
func powerBounds(j int, p uint) (down, up *big.Int) {
	one := new(big.Int).Lsh(big.NewInt(1), p)
	sum, term := new(big.Int).Set(one), new(big.Int).Set(one)
	k := int64(1)
	for ; term.Sign() != 0; k++ {
		term.Quo(term, big.NewInt(16*k))
		if k&1 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	slack := big.NewInt(2 * (k + 1))
	baseDown, baseUp := new(big.Int).Sub(sum, slack), new(big.Int).Add(sum, slack)
	down, up = new(big.Int).Set(one), new(big.Int).Set(one)
	for range j {
		down.Mul(down, baseDown).Rsh(down, p)
		up.Mul(up, baseUp).Add(up, one).Sub(up, bigOne).Rsh(up, p) // ⌈a/2ᵖ⌉ = ⌊(a + 2ᵖ − 1)/2ᵖ⌋
	}
	return down, up
}

var bigOne = big.NewInt(1)
