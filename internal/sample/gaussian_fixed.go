package sample

import (
	"math/big"
	"math/bits"

	"dither/internal/entropy"
)

// fraction is the number of binary digits of a fixed-point number after its point.
const fraction = 54

// fixed holds the constants of drawFixed: words that bracket the real numbers α = √8/σ and β = √8·σ/t.
type fixed struct {
	alpha uint64   // ⌊α·2^(fraction + shift)⌋
	shift uint     // 6 more than the number of bits of t, so 64t < 2^shift
	beta  int64    // ⌊β·2^fraction⌋
	den   []uint64 // the words of den = 2ndt², the least significant first
	width int      // the number of digits of den − 1 in the last word of den
	top   uint64   // the first 64 digits of den
}

// fixedWords is the largest number of words of den on this path.
const fixedWords = 8

// newFixed returns the constants for σ² = n/d ≥ 1 and t = ⌊σ⌋ + 1, if t < 2⁵⁴ and the words suffice. area is dt².
//
// Since t ≤ 2σ, 2^shift ≤ 2⁷·2σ, so α·2^(fraction + shift) ≤ √8·2⁸·2⁵⁴ < 2⁶⁴. Since σ < t, β < √8.
func newFixed(n, d, t, area, den *big.Int) (f fixed, ok bool) {
	words := (den.BitLen() + 63) / 64
	if n.Cmp(d) < 0 || t.BitLen() > 54 || words < 2 || words > fixedWords {
		return f, false
	}
	root := func(num, den *big.Int, digits uint) *big.Int { // ⌊√(8·num/den)·2^digits⌋
		x := new(big.Int).Lsh(num, 3+2*digits)
		return x.Sqrt(x.Quo(x, den))
	}
	f.shift = uint(t.BitLen()) + 6
	f.alpha = root(d, n, fraction+f.shift).Uint64()
	f.beta = root(n, area, fraction).Int64()
	f.den = wordsOf(den, words)
	f.width = new(big.Int).Sub(den, bigOne).BitLen() - 64*(words-1)
	f.top = new(big.Int).Rsh(den, uint(den.BitLen()-64)).Uint64()
	return f, true
}

// drawFixed is Draw for t < 2⁵⁴, σ ≥ 1, and n and d of many words. It returns the integers of drawBig from the same
// bytes, also where a block of the system's randomness ends. It brackets each number that decides, and far decides
// wherever a bracket leaves a decision open.
//
// Claim: lo and hi below bracket 16γ·2^(2·fraction). Proof: 16γ = 8(|y| − σ²/t)²/σ² = (α|y| − β)². Let A be alpha and
// x = ⌊|y|·A/2^shift⌋. As A ≤ α·2^(fraction + shift) < A + 1 and |y| < 64t < 2^shift, α|y|·2^fraction is at least x
// and below x + 2. β·2^fraction is at least beta and below beta + 1. So their difference is above x − beta − 1 and
// below x − beta + 2. Its magnitude is between the distances from 0 of the nearest and of the farthest number between
// these ends. ∎
//
// The magnitude is below 64t·√8/σ·2^fraction < 2⁶³, because t ≤ 2σ. The bracket of 16γ has a width below 6·2⁹·2⁻⁵⁴ <
// 2⁻⁴², so that few draws need big integers.
func (g *Gaussian) drawFixed(src *entropy.Source, z *big.Int) *big.Int {
	for {
		coins := src.Bits(9)
		v := geometric(src)
		u := below(src, g.t)
		if !smallWord(src, coins&15, u, g.t) {
			continue
		}
		negative := coins&256 != 0
		if v < near {
			y := (u + g.t*v) >> 4 // u + tv < 2¹⁰t < 2⁶⁴, as v < 2¹⁰
			if negative && y == 0 {
				continue // reject −0
			}
			lo, hi := g.fixed.bracket(y)
			const whole = 2*fraction - 64 // the place of the first digit before the point, in the high word
			if q := lo.hi >> whole; q == hi.hi>>whole {
				if survive(src, 0, q) && g.smallFixed(src, coins>>4&15, y, lo, hi) {
					return set(z, wide{y}, negative)
				}
				continue
			}
		}
		if g.far(src, z, v, new(big.Int).SetUint64(u), coins) {
			return z
		}
	}
}

// below returns a uniform integer in [0, n), from the bytes of Source.Below also where a System source's buffer ends.
func below(src *entropy.Source, n uint64) uint64 {
	width := bits.Len64(n - 1)
	for {
		if v := src.Digits(width); v < n {
			return v
		}
	}
}

// smallWord is smallBig for words, from the same bytes also where a System source's buffer ends.
func smallWord(src *entropy.Source, nibble, n, d uint64) bool {
	for k := uint64(1); ; k++ {
		if nibble != 0 || src.Below64(k) != 0 || below(src, d) >= n {
			return k&1 == 1
		}
		nibble = src.Bits(4)
	}
}

// bracket returns two bounds on 16γ·2^(2·fraction) for |y| = y: see drawFixed.
func (f *fixed) bracket(y uint64) (lo, hi pair) {
	high, low := bits.Mul64(y, f.alpha)
	x := int64(high<<(64-f.shift) | low>>f.shift)
	from, to := x-f.beta-1, x-f.beta+2
	switch {
	case to <= 0:
		from, to = -to, -from
	case from < 0:
		from, to = 0, max(-from, to)
	}
	lo.hi, lo.lo = bits.Mul64(uint64(from), uint64(from))
	hi.hi, hi.lo = bits.Mul64(uint64(to), uint64(to))
	return lo, hi
}

// smallFixed is smallBig(src, nibble, r, den) for the remainder r of 16γ = q + r/den, where lo and hi bracket 16γ, and
// both have the whole part q.
func (g *Gaussian) smallFixed(src *entropy.Source, nibble, y uint64, lo, hi pair) bool {
	var v [fixedWords]uint64
	for k := uint64(1); ; k++ {
		if nibble != 0 || src.Below64(k) != 0 {
			return k&1 == 1
		}
		g.fixed.uniform(src, &v)
		if !g.below(&v, y, lo, hi) {
			return k&1 == 1
		}
		nibble = src.Bits(4)
	}
}

// uniform sets v to a uniform integer below den. It consumes the same bytes as Source.Below.
func (f *fixed) uniform(src *entropy.Source, v *[fixedWords]uint64) {
	last := len(f.den) - 1
	for {
		for i := range last {
			v[i] = src.Digits(64)
		}
		if v[last] = src.Digits(f.width); less(v[:last+1], f.den) {
			return
		}
	}
}

// less reports whether a < b, for integers of equally many words, the least significant first.
func less(a, b []uint64) bool {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// wordsOf returns the words of x ≥ 0, the least significant first.
func wordsOf(x *big.Int, words int) (out []uint64) {
	rest, word := new(big.Int).Set(x), new(big.Int)
	for range words {
		out = append(out, word.And(rest, maxWord).Uint64())
		rest.Rsh(rest, 64)
	}
	return out
}

// below reports whether v < r, for v < den and the remainder r of smallFixed.
//
// Let den have the digits of top and s further ones. Then den/2^s is at least top and at most top + 1, and v/2^s is at
// least w = ⌊v/2^s⌋ and below w + 1. If r/den is between from/2⁶⁴ and to/2⁶⁴, r/2^s is between from·top/2⁶⁴ and
// to·(top + 1)/2⁶⁴. If these bounds do not decide, big integers do.
func (g *Gaussian) below(v *[fixedWords]uint64, y uint64, lo, hi pair) bool {
	f := &g.fixed
	const above = 128 - 2*fraction // drops the whole part
	from, to := lo.hi<<above|lo.lo>>(64-above), hi.hi<<above|hi.lo>>(64-above)
	last := len(f.den) - 1
	gap := uint(bits.LeadingZeros64(f.den[last]))
	w := v[last]<<gap | v[last-1]>>1>>(63-gap)
	if least, _ := bits.Mul64(from, f.top); w < least {
		return true
	}
	// (to + 1)·(top + 1)/2⁶⁴ = to·top/2⁶⁴ + (to + top + 1)/2⁶⁴ is below the high word plus 3
	if most, _ := bits.Mul64(to, f.top); most < 1<<64-3 && w >= most+3 {
		return false
	}
	q, r := new(big.Int).Mul(new(big.Int).SetUint64(y), g.stepBig), new(big.Int)
	q.Sub(q, g.nBig)
	q.Mul(q, q).Lsh(q, 4).QuoRem(q, g.denBig, r)
	return less(v[:last+1], wordsOf(r, last+1))
}
