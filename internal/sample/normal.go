package sample

import (
	"math/big"
	"math/bits"

	"dither/internal/entropy"
)

// RoundedGaussian is the distribution of the integer nearest to σN, where N is a standard normal variable. It is
// prepared for many draws. It is immutable. It is safe for concurrent use if each goroutine has its own source. The
// zero value is invalid.
//
// Its parameter is σ² = n/d, and σ may be irrational.
type RoundedGaussian struct {
	n4, d *big.Int // 4n and d, where σ² = n/d
	fixed pair     // ⌊σ·2⁶⁴⌋, if words is true
	words bool     // whether σ < 2³²; fixed then decides nearly all roundings
	first uint     // the number of blocks of digits with which nearest begins, enough for most roundings
}

// NewRoundedGaussian prepares the rounded Gaussian with the rational parameter σ² > 0. It panics for other
// parameters.
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

// Fill sets each integer of dst to an independent draw. None of them may be nil.
func (g *RoundedGaussian) Fill(src *entropy.Source, dst []*big.Int) {
	for _, z := range dst {
		g.Draw(src, z)
	}
}

// Draw sets z to the integer nearest to σN, exactly, where N is standard normal and independent of every other
// draw. It returns z. It allocates nothing if z has room and σ is below 2³², except once in more than 2²⁸ draws.
//
// half draws the magnitude |N| = k + x, with an integer k and a fraction x of which only the necessary digits are
// drawn. The nearest integer to σ(k + x) is ⌊σ(k + x) + ½⌋, because a tie has probability 0. It is decided if both
// ends of the known range of x give the same integer. Otherwise 64 more digits of x are drawn. The sign is a fair
// coin. A result of 0 is 0 with either sign.
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
// Normal Distribution", Algorithm N]. It sets x and returns k.
//
// (i) k ≥ 0 has probability proportional to exp(−k/2) and is accepted with probability exp(−k(k − 1)/2). So an
// accepted k has probability proportional to exp(−k²/2). (ii) x is uniform, and accepted with probability exp(−x(2k
// + x)/2). Since k² + x(2k + x) = (k + x)², an accepted k + x has a density proportional to exp(−(k + x)²/2). A
// round is accepted with probability √(π/2)·(1 − exp(−½)) > .49.
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

// keepFraction returns true with probability exp(−x(2k + x)/2). It is the product of k + 1 coins of probability
// exp(−γ), where γ = x(2k + x)/(2k + 2) is at most 1. Each coin is drawn as in small64: draw A_K ~ Bernoulli(γ/K)
// for K = 1, 2, … until the first 0, and return whether that K is odd. A_K is the product of Bernoulli(1/K),
// Bernoulli(x) and Bernoulli((2k + x)/(2k + 2)). For the last, draw a uniform j below 2k + 2. The result is true if
// j < 2k, or if j = 2k and another Bernoulli(x) is true.
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

// nearest64 rounds σ(k + x) on words, from the first 64 digits of x. It returns false if these digits and those of
// σ do not decide.
//
// Let S = ⌊σ·2⁶⁴⌋ and y = ⌊(k + x)·2⁶⁴⌋. Then σ(k + x)·2¹²⁸ is at least S·y and below (S + 1)(y + 1) = S·y + (S + y
// + 1). If both bounds round to the same integer, σ(k + x) rounds to it too.
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

// product returns a·b, which must be below 2²⁵⁵.
func (a pair) product(b pair) wide {
	w, upper := a.times(b.lo, pair{}), a.times(b.hi, pair{})
	var carry uint64
	w[1], carry = bits.Add64(w[1], upper[0], 0)
	w[2], carry = bits.Add64(w[2], upper[1], carry)
	w[3] = upper[2] + carry
	return w
}

// plus returns w + a, which must be below 2²⁵⁶.
func (w wide) plus(a pair) wide {
	var carry uint64
	w[0], carry = bits.Add64(w[0], a.lo, 0)
	w[1], carry = bits.Add64(w[1], a.hi, carry)
	w[2], carry = bits.Add64(w[2], 0, carry)
	w[3] += carry
	return w
}

// rounded returns ⌊w/2¹²⁸ + ½⌋, which must be below 2¹²⁸.
func (w wide) rounded() pair {
	lo, carry := bits.Add64(w[2], w[1]>>63, 0)
	return pair{w[3] + carry, lo}
}

// nearest rounds σ(k + x) for a σ of any size, with as many digits of x as necessary.
//
// If n blocks of x are known, k + x is in [a, a + 1)·2^(−64n). For b = 2^(−64n)·a and m ≥ 1, m ≤ σb + ½ if and only
// if 2m − 1 ≤ 2σb. So ⌊σb + ½⌋ = ⌊(r + 1)/2⌋ with r = ⌊2σb⌋ = ⌊√⌊4n·a²/(d·2^(128n))⌋⌋. (The n in 4n and d are those
// of σ² = n/d.)
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
