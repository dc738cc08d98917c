package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// last is the last index of the table of powers: exp(−last/16) = e^(−32).
const last = 512

// guide[b] is the largest j for which every 64-bit word with the first byte b is below powers[j], or 0 if there is
// none.
var guide = func() (g [256]uint16) {
	for b := range g {
		highest := uint64(b)<<56 | (1<<56 - 1)
		for j := 1; j <= last && highest < powers[j]; j++ {
			g[b] = uint16(j)
		}
	}
	return g
}()

// coin returns true with probability exp(−j/16), for 1 ≤ j ≤ last.
//
// It decides whether a uniform real U in [0, 1) is below exp(−j/16), and reads U in blocks of 64 binary digits. The
// first blocks of both numbers decide unless they are equal, which happens once in 2⁶⁴ draws. Then the next blocks
// decide, and so on. U = exp(−j/16) has probability 0, so some block differs. So the comparison ends with
// probability 1, and is exact.
func coin(src *entropy.Source, j int) bool {
	if u := src.Uint64(); u != powers[j] {
		return u < powers[j]
	}
	return refine(src, j)
}

// refine continues coin if the first 64 digits of U and exp(−j/16) are equal. It returns whether U < exp(−j/16).
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

// survive returns true with probability exp(−q/16), where q = hi·2⁶⁴ + lo. It is the product of coins of
// probability exp(−last/16) and one coin for the rest. It stops at the first coin that fails.
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

// surviveBig is survive for an integer q of any size. It changes q.
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
// It inverts P(V ≥ v) = exp(−v/16) at a uniform real U: v is the largest integer with U < exp(−v/16), if that is
// below last. Equal digits are refined as in coin. powers decreases strictly, so at most one comparison has equal
// digits. If V ≥ last, V − last is drawn afresh: it has the distribution of V, since P(V ≥ last + v) = P(V ≥
// last)·P(V ≥ v). v does not overflow 64 bits: that would take 2⁵⁵ words.
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

// digits returns ⌊exp(−j/16)·2ⁿ⌋, exactly, for 0 < j ≤ last.
//
// It computes bounds on exp(−j/16)·2^(n+m) and drops m digits of each. If the bounds then agree, they are the
// result. exp(−j/16) is irrational [Lindemann 1882], so exp(−j/16)·2ⁿ is not an integer, and the bounds agree for
// some m.
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

// powerBounds returns bounds on exp(−j/16)·2ᵖ, for 0 < j ≤ last.
//
// It sums Σ_k (−1/16)ᵏ/k! in units of 2⁻ᵖ. The magnitude of a term is that of the term before, divided by 16k and
// rounded down. Its error is below 1 + 1/16 + 1/16² + … < 2 units. The terms after the first one that rounds to 0
// sum to less than 2 units, because they alternate and decrease. So k terms are within 2(k + 1) units of the sum.
// Then the j-th power is computed by products. The lower bound is rounded down, and the upper bound up.
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
