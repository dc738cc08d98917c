package sample

import (
	"math/big"
	"math/bits"

	"dither/internal/entropy"
)

// path is the arithmetic that a sampler uses.
type path uint8

const (
	path64  path = iota // the parameters are words
	path128             // the parameters are pairs of words
	pathBig
)

// Laplace is a discrete Laplace distribution prepared for many draws. It is immutable, and safe for concurrent use with
// one source per user. The zero value is invalid.
type Laplace struct {
	path   path
	t, s16 uint64 // the scale is t/s in lowest terms, and s16 is 16s
	t2     pair   // the same as pairs
	s2     pair
	tBig   *big.Int // and as integers of any size
	sBig   *big.Int
}

// NewLaplace prepares the discrete Laplace with a scale, any positive rational. Another scale is a programmer's error,
// and panics.
func NewLaplace(scale *big.Rat) *Laplace {
	if scale.Sign() <= 0 {
		panic("sample: a discrete Laplace needs a positive scale")
	}
	l := &Laplace{path: pathBig, tBig: new(big.Int).Set(scale.Num()), sBig: new(big.Int).Lsh(scale.Denom(), 4)}
	if size := max(l.tBig.BitLen(), l.sBig.BitLen()); size <= 64 {
		l.path, l.t, l.s16 = path64, l.tBig.Uint64(), l.sBig.Uint64()
	} else if size <= 128 {
		l.path, l.t2, l.s2 = path128, toPair(l.tBig), toPair(l.sBig)
	}
	return l
}

// DiscreteLaplace returns an integer x with probability
//
//	P(x) = (1 − p)/(1 + p) · p^|x|,  p = exp(−1/scale),
//
// proportional to exp(−|x|/scale), exactly, for any positive rational scale. Another scale is a programmer's error,
// and panics. Time and the number of bits consumed depend on the draw. Use NewLaplace for more than one draw.
func DiscreteLaplace(src *entropy.Source, scale *big.Rat) *big.Int {
	t, s := scale.Num(), scale.Denom()
	if scale.Sign() > 0 && t.IsUint64() && s.BitLen() <= 60 { // as in NewLaplace, without the fields of the other paths
		l := Laplace{path: path64, t: t.Uint64(), s16: s.Uint64() << 4}
		return l.draw64(src, new(big.Int))
	}
	return NewLaplace(scale).Draw(src, new(big.Int))
}

// Fill sets each of dst, none of them nil, to a draw of its own.
func (l *Laplace) Fill(src *entropy.Source, dst []*big.Int) {
	for _, z := range dst {
		l.Draw(src, z)
	}
}

// Draw sets z to an integer with exactly the distribution of DiscreteLaplace, independent of every other draw, and
// returns z. It allocates nothing where z has room and the scale's numerator and 16 times its denominator are below
// 2¹²⁸.
//
// Algorithm 2 in steps of 1/16, for scale = t/s in lowest terms. (i) u uniform in [0, t), accepted with probability
// exp(−u/(16t)), and v ~ Geometric(1 − exp(−1/16)): w = u + t·v has P(w) ∝ exp(−u/(16t))·exp(−v/16) =
// exp(−w/(16t)), and w runs over every integer ≥ 0 once. (ii) m = ⌊w/(16s)⌋: P(m) ∝ Σ_{16ms ≤ w <
// 16(m+1)s} exp(−w/(16t)) ∝ exp(−m·s/t) = exp(−m/scale). (iii) A fair sign, with −0 rejected so that 0 is
// not counted twice: P(x) ∝ exp(−|x|/scale). A round of (i) is accepted with probability at least exp(−1/16), and
// (iii) rejects at most every other round.
func (l *Laplace) Draw(src *entropy.Source, z *big.Int) *big.Int {
	switch l.path {
	case path64:
		return l.draw64(src, z)
	case path128:
		return l.draw128(src, z)
	default:
		return l.drawBig(src, z)
	}
}

// draw64 is Draw for t, 16s < 2⁶⁴. Only its intermediate u + t·v takes more than 64 bits.
func (l *Laplace) draw64(src *entropy.Source, z *big.Int) *big.Int {
	for {
		coins := src.Bits(5) // a nibble and the sign
		v := geometric(src)
		u := src.Below64(l.t)
		if !small64(src, coins&15, u, l.t) {
			continue
		}
		w := step64(l.t, u, v)
		if l.s16 == 16 {
			w = pair{w.hi >> 4, w.hi<<60 | w.lo>>4}
		} else {
			rest := w.hi % l.s16
			w.hi /= l.s16
			w.lo, _ = bits.Div64(rest, w.lo, l.s16)
		}
		negative := coins&16 != 0
		if negative && w.hi|w.lo == 0 {
			continue // −0
		}
		return set(z, wide{w.lo, w.hi}, negative)
	}
}

// step64 is u + t·v, u < t: at most t·(v + 1) − 1 < 2¹²⁸.
func step64(t, u, v uint64) pair {
	hi, lo := bits.Mul64(t, v)
	lo, carry := bits.Add64(lo, u, 0)
	return pair{hi + carry, lo}
}

// draw128 is Draw for t, 16s < 2¹²⁸; u + t·v is below 2¹⁹².
func (l *Laplace) draw128(src *entropy.Source, z *big.Int) *big.Int {
	for {
		coins := src.Bits(5)
		v := geometric(src)
		u := below128(src, l.t2)
		if !small128(src, coins&15, u, l.t2) {
			continue
		}
		m, _ := l.t2.times(v, u).divide(l.s2)
		negative := coins&16 != 0
		if negative && m == (wide{}) {
			continue // −0
		}
		return set(z, m, negative)
	}
}

// drawBig is Draw for t and s of any size.
func (l *Laplace) drawBig(src *entropy.Source, z *big.Int) *big.Int {
	for {
		coins := src.Bits(5)
		z.SetUint64(geometric(src))
		u := src.Below(l.tBig)
		if !smallBig(src, coins&15, u, l.tBig) {
			continue
		}
		z.Mul(z, l.tBig).Add(z, u).Quo(z, l.sBig)
		negative := coins&16 != 0
		if negative && z.Sign() == 0 {
			continue // −0
		}
		if negative {
			z.Neg(z)
		}
		return z
	}
}
