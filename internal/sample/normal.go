package sample

import (
	"math/big"
	"math/bits"

	"dither/internal/entropy"
)

// RoundedGaussian is the distribution of the integer nearest to σN, N a standard normal variable, prepared for many
// draws. It is immutable, and safe for concurrent use with one source per user. The zero value is invalid.
//
// Its parameter is σ² = n/d; σ may be irrational.
type RoundedGaussian struct {
	n4, d *big.Int // 4n and d
	fixed pair     // ⌊σ·2⁶⁴⌋
	words bool     // σ is below 2³², where fixed decides nearly all roundings
	first uint     // how many blocks of digits nearest begins with: enough for most roundings
}

// NewRoundedGaussian prepares the rounded Gaussian with σ², any positive rational. Another parameter is a
// programmer's error, and panics.
func NewRoundedGaussian(sigma2 *big.Rat) *RoundedGaussian {
	if sigma2.Sign() <= 0 {
		panic("sample: a rounded Gaussian needs a positive σ²")
	}
	g := &RoundedGaussian{n4: new(big.Int).Lsh(sigma2.Num(), 2), d: new(big.Int).Set(sigma2.Denom())}
	fixed := new(big.Int).Lsh(sigma2.Num(), 128)
	fixed.Quo(fixed, g.d).Sqrt(fixed) // ⌊√x⌋ = ⌊√⌊x⌋⌋ for every x ≥ 0
	g.first = 1 + uint(max(0, fixed.BitLen()-96))/64
	if fixed.BitLen() <= 96 {
		g.fixed, g.words = toPair(fixed), true
	}
	return g
}

// Fill sets each of dst, none of them nil, to a draw of its own.
func (g *RoundedGaussian) Fill(src *entropy.Source, dst []*big.Int) {
	for _, z := range dst {
		g.Draw(src, z)
	}
}

// Draw sets z to the integer nearest to σN, exactly, for an N that is standard normal and independent of every other
// draw, and returns z. It allocates nothing where z has room and σ is below 2³², but once in more than 2²⁸ draws.
//
// The magnitude |N| = k + x, the integer k and the fraction x with only as many digits as are asked for, is that of
// half. The nearest integer to σ(k + x) is ⌊σ(k + x) + ½⌋, as a tie has probability 0; it is decided where both
// ends of what is known of x give the same, and else x is given 64 digits more. The sign is a fair one: both signs of
// what rounds to 0 are 0.
func (g *RoundedGaussian) Draw(src *entropy.Source, z *big.Int) *big.Int {
	x := Uniform{}
	k := half(src, &x)
	if !g.nearest64(src, z, k, &x) {
		g.nearest(src, z, k, &x)
	}
	if src.Bits(1) == 1 {
		z.Neg(z)
	}
	return z
}

// half draws the magnitude k + x of a standard normal variable, 0 ≤ x < 1 [Karney 2016, "Sampling Exactly from the
// Normal Distribution", Algorithm N].
//
// (i) k ≥ 0 has probability proportional to exp(−k/2), and is accepted with exp(−k(k − 1)/2), hence with
// exp(−k²/2). (ii) x is uniform, and accepted with exp(−x(2k + x)/2). Since k² + x(2k + x) = (k + x)², what is
// accepted has a density proportional to exp(−(k + x)²/2). A round is accepted with probability √(π/2)·(1 −
// exp(−½)) > .49.
func half(src *entropy.Source, x *Uniform) uint64 {
	for {
		k := uint64(0)
		for coin(src, 8) { // exp(−8/16)
			k++
		}
		if k > 1 && !survive(src, 0, 8*k*(k-1)) {
			continue
		}
		*x = Uniform{}
		if keepFraction(src, k, x) {
			return k
		}
	}
}

// keepFraction returns true with probability exp(−x(2k + x)/2): the product of k + 1 coins of exp(−γ), γ = x(2k +
// x)/(2k + 2), which is at most 1. Each is drawn as in small64: A_K ~ Bernoulli(γ/K) for K = 1, 2, … until the first
// 0, and whether that K is odd. A_K is the product of Bernoulli(1/K), Bernoulli(x) and Bernoulli((2k + x)/(2k + 2)),
// the last of which is whether a uniform j below 2k + 2 is below 2k, or is 2k and another Bernoulli(x) comes true.
func keepFraction(src *entropy.Source, k uint64, x *Uniform) bool {
	for range k + 1 {
		odd := true
		for K := uint64(1); ; K++ {
			if src.Below64(K) != 0 || !x.coin(src) {
				break
			}
			if j := src.Below64(2*k + 2); j > 2*k || j == 2*k && !x.coin(src) {
				break
			}
			odd = !odd
		}
		if !odd {
			return false
		}
	}
	return true
}

// nearest64 rounds on words, from the first 64 digits of x, where they and those of σ decide.
//
// With S = ⌊σ·2⁶⁴⌋ and y = ⌊(k + x)·2⁶⁴⌋, σ(k + x)·2¹²⁸ is at least S·y and below (S + 1)(y +
// 1) = S·y + (S + y + 1). Where both round to the same, it does.
func (g *RoundedGaussian) nearest64(src *entropy.Source, z *big.Int, k uint64, x *Uniform) bool {
	if !g.words || k >= 1<<30 {
		return false
	}
	y := pair{k, x.First(src)}
	low := g.fixed.product(y)
	high := low.plus(g.fixed).plus(y).plus(pair{0, 1})
	m := low.rounded()
	if m != high.rounded() {
		return false
	}
	set(z, wide{m.lo, m.hi}, false)
	return true
}

// product is a·b, below 2²⁵⁵.
func (a pair) product(b pair) wide {
	w, upper := a.times(b.lo, pair{}), a.times(b.hi, pair{})
	var carry uint64
	w[1], carry = bits.Add64(w[1], upper[0], 0)
	w[2], carry = bits.Add64(w[2], upper[1], carry)
	w[3] = upper[2] + carry
	return w
}

// plus is w + a, below 2²⁵⁶.
func (w wide) plus(a pair) wide {
	var carry uint64
	w[0], carry = bits.Add64(w[0], a.lo, 0)
	w[1], carry = bits.Add64(w[1], a.hi, carry)
	w[2], carry = bits.Add64(w[2], 0, carry)
	w[3] += carry
	return w
}

// rounded is ⌊w/2¹²⁸ + ½⌋, below 2¹²⁸.
func (w wide) rounded() pair {
	lo, carry := bits.Add64(w[2], w[1]>>63, 0)
	return pair{w[3] + carry, lo}
}

// nearest rounds for a σ of any size, with as many digits of x as it takes.
//
// With n blocks known, k + x is in [a, a + 1)·2^(−64n). For b = 2^(−64n)·a and m ≥ 1, m ≤ σb + ½ if and
// only if 2m − 1 ≤ 2σb, so that ⌊σb + ½⌋ = ⌊(r + 1)/2⌋ with r = ⌊2σb⌋ =
// ⌊√⌊4n·a²/(d·2^(128n))⌋⌋.
func (g *RoundedGaussian) nearest(src *entropy.Source, z *big.Int, k uint64, x *Uniform) {
	a, high := new(big.Int).SetUint64(k), new(big.Int)
	for n := uint(1); ; n++ {
		a.Lsh(a, 64).Add(a, high.SetUint64(x.digit(src, int(n)-1)))
		if n < g.first {
			continue
		}
		g.round(z, a, n)
		if g.round(high, high.Add(a, bigOne), n).Cmp(z) == 0 {
			return
		}
	}
}

// round sets z to ⌊σ·a/2^(64n) + ½⌋.
func (g *RoundedGaussian) round(z, a *big.Int, n uint) *big.Int {
	z.Mul(a, a)
	z.Mul(z, g.n4).Quo(z, g.d).Rsh(z, 128*n).Sqrt(z)
	return z.Add(z, bigOne).Rsh(z, 1)
}
