package quantile

import (
	"math"
	"math/big"

	"dither/internal/entropy"
)

// scaled is the number m·2ᵉ of at least 0: a float whose exponent has 64 bits, so that nothing underflows. m is in
// [1, 2), or 0.
//
// Every operation on scaled numbers here is a product, a quotient or a sum of positive ones, with a result within a
// factor of 1 ± 2⁻⁵³ of the exact one: nothing cancels, and relative errors add up to what can be said
// beforehand.
type scaled struct {
	m float64
	e int64
}

// scaledOf takes a positive float.
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

// over is a/b, b > 0.
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

// plus is a + b; where b is less than 2⁻⁶⁰ of a it is a.
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

// wins is true with probability t/(t + s), exactly; t > 0.
//
// It is whether a uniform real number U, of which 64 binary digits are drawn first, is below that. Floats decide where
// they can: of 53 digits and of the quotient they are sure but for 2⁻⁵⁰. Else integers do, of t and s, with as
// many digits of U as it takes. Where s is 2ᵈ times t or more, the first d digits must all be 0, and nothing is
// computed before they are.
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

// winsExactly goes on where floats left it open. t/(t + s) < 2/2ᵈ.
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

// mantissa is m·2⁵², an integer.
func mantissa(m float64) *big.Int { return big.NewInt(int64(m * 0x1p52)) }

// lottery draws one of a sequence of terms, in proportion to them: each takes the place of the one before with the
// probability that it has of all up to it. The sum so far is rounded, so that after r terms each has its probability
// but for a factor between (1 − 2⁻⁵³)²ʳ and (1 + 2⁻⁵³)²ʳ.
//
// Proof: let S_k = (S_{k−1} + T_k)(1 + δ_k). Term i is drawn and stays with probability T_i/(S_{i−1} +
// T_i)·∏_{k>i} S_{k−1}/(S_{k−1} + T_k) = T_i·∏_{i≤k<r}(1 + δ_k)/(S_{r−1} + T_r), and the last sum is
// within r roundings of ΣT.
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

// powers are those of a base b, 0 < b ≤ 1, given to 256 bits.
type powers struct {
	squares [63]*big.Float // of b^(2ᵏ), the mantissas
	shifts  [63]int64      // and the exponents
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

// at is bⁿ, 0 ≤ n < 2⁶², rounded: within a factor of 1 ± 2⁻⁵², for the 256 bits lose at most 2n + 62
// roundings.
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
