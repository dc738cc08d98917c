package quantile

import (
	"math"
	"math/big"

	"dither/internal/entropy"
)

// scaled is a number m·2ᵉ ≥ 0: a float with a 64-bit exponent, so that nothing underflows. m is in [1, 2), or 0.
//
// Every operation on scaled numbers is a product, a quotient or a sum of positive numbers. Its result is within a
// factor of 1 ± 2⁻⁵³ of the exact one. Nothing cancels, so relative errors add up to a bound that is known in
// advance.
type scaled struct {
	m float64
	e int64
}

// scaledOf returns the positive float f.
func scaledOf(f float64) scaled {
	m, e := math.Frexp(f)
	return scaled{2 * m, int64(e) - 1}
}

func (a scaled) times(b scaled) scaled {
	if p := a.m * b.m; p >= 2 {
		return scaled{p / 2, a.e + b.e + 1}
	} else if p > 0 {
		return scaled{p, a.e + b.e}
	}
	return scaled{}
}

// over returns a/b, for b > 0.
func (a scaled) over(b scaled) scaled {
	if q := a.m / b.m; q >= 1 {
		return scaled{q, a.e - b.e}
	} else if q > 0 {
		return scaled{2 * q, a.e - b.e - 1}
	}
	return scaled{}
}

// halves[d] is 2⁻ᵈ.
var halves = func() (h [61]float64) {
	for d := range h {
		h[d] = math.Ldexp(1, -d)
	}
	return h
}()

// plus returns a + b. If b is less than 2⁻⁶⁰·a, it returns a.
func (a scaled) plus(b scaled) scaled {
	if a.m == 0 || b.m != 0 && b.e > a.e {
		a, b = b, a
	}
	d := a.e - b.e
	if b.m == 0 || d >= int64(len(halves)) {
		return a
	}
	if s := a.m + b.m*halves[d]; s >= 2 {
		return scaled{s / 2, a.e + 1}
	} else {
		return scaled{s, a.e}
	}
}

// wins returns true with probability t/(t + s), exactly, for t > 0.
//
// It reports whether a uniform real number U is below t/(t + s). First it draws 64 binary digits of U. Floats
// decide if they can: 53 digits and the quotient are precise to 2⁻⁵⁰. Otherwise integers decide, with as many
// digits of U as necessary. If s ≥ 2ᵈ·t, the first d digits of U must be 0, so nothing is computed until they have
// been drawn.
func (t scaled) wins(src *entropy.Source, s scaled) bool {
	switch {
	case s.m == 0:
		return true
	case s.e < t.e:
		return !s.wins(src, t)
	}
	d := s.e - t.e
	word := src.Uint64()
	if d < 1000 {
		p := t.m / (t.m + math.Ldexp(s.m, int(d)))
		down := float64(word>>11) * 0x1p-53
		if down > p*(1+0x1p-50) {
			return false
		}
		if down+0x1p-53 < p*(1-0x1p-50) {
			return true
		}
	}
	return t.winsExactly(src, s, d, word)
}

// winsExactly decides whether U < t/(t + s), as wins does, if floats cannot. word holds the digits of U drawn so
// far, and d = s.e − t.e. t/(t + s) < 2/2ᵈ.
func (t scaled) winsExactly(src *entropy.Source, s scaled, d int64, word uint64) bool {
	digits, known := new(big.Int).SetUint64(word), int64(64)
	read := func() { digits.Lsh(digits, 64).Or(digits, new(big.Int).SetUint64(src.Uint64())); known += 64 }
	for ; known < d-1 && digits.Sign() == 0; read() {
	}
	if known < d && digits.Sign() != 0 {
		return false // U ≥ 2^−known ≥ 2/2ᵈ
	}
	num, rest := mantissa(t.m), mantissa(s.m)
	rest.Lsh(rest, uint(d)).Add(rest, num)
	for ; ; read() {
		sought := new(big.Int).Lsh(num, uint(known))
		at := new(big.Int).Mul(digits, rest)
		if at.Cmp(sought) >= 0 {
			return false
		}
		if at.Add(at, rest).Cmp(sought) <= 0 {
			return true
		}
	}
}

// mantissa returns m·2⁵² as an integer, for the mantissa m of a scaled number.
func mantissa(m float64) *big.Int { return big.NewInt(int64(m * 0x1p52)) }

// lottery draws one term of a sequence, in proportion to the terms. Each term replaces the chosen one with the
// probability of its share of the sum so far. The sum is rounded. After r terms, each term has its probability up
// to a factor between (1 − 2⁻⁵³)²ʳ and (1 + 2⁻⁵³)²ʳ.
//
// Proof: let T_k be term k and S_k the rounded sum of the terms up to T_k. Then S_k = (S_{k−1} + T_k)(1 + δ_k),
// |δ_k| ≤ 2⁻⁵³. Term i is drawn and stays with probability T_i/(S_{i−1} + T_i)·∏_{k>i} S_{k−1}/(S_{k−1} + T_k) =
// T_i·∏_{i≤k<r}(1 + δ_k)/(S_{r−1} + T_r), and the last sum is within r roundings of ΣT.
type lottery struct {
	src    *entropy.Source
	sum    scaled
	chosen int
}

func (c *lottery) offer(i int, term scaled) {
	if term.m == 0 {
		return
	}
	if term.wins(c.src, c.sum) {
		c.chosen = i
	}
	c.sum = c.sum.plus(term)
}

// powers holds powers of a base b, 0 < b ≤ 1, to 256 bits.
type powers struct {
	squares [63]*big.Float // the mantissas of b^(2ᵏ)
	shifts  [63]int64      // the exponents of b^(2ᵏ)
}

func powersOf(b *big.Float) *powers {
	p, x, shift := new(powers), new(big.Float).SetPrec(256).Set(b), int64(0)
	for k := range p.squares {
		shift += int64(x.MantExp(x))
		p.squares[k], p.shifts[k] = new(big.Float).Set(x), shift
		x.Mul(x, x)
		shift *= 2
	}
	return p
}

// at returns bⁿ, 0 ≤ n < 2⁶², rounded. The result is within a factor of 1 ± 2⁻⁵², because the 256-bit arithmetic
// makes at most 2n + 62 rounding errors.
func (p *powers) at(n int64) scaled {
	x, shift := new(big.Float).SetPrec(256).SetInt64(1), int64(0)
	for k := 0; n > 0; k, n = k+1, n>>1 {
		if n&1 == 1 {
			x.Mul(x, p.squares[k])
			shift += p.shifts[k] + int64(x.MantExp(x))
		}
	}
	f, _ := x.Float64()
	out := scaledOf(f)
	out.e += shift
	return out
}
