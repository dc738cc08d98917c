package sample

import (
	"math/big"
	"math/bits"

	"dither/internal/entropy"
)

// path is the kind of integers that a sampler uses.
type path uint8

const (
	path64  path = iota // the parameters fit in 64-bit words
	path128             // the parameters fit in pairs of words
	pathBig
	pathFixed // fixed-point numbers in words that bracket the exact ones; only a Gaussian has it
)

// Laplace is a discrete Laplace distribution that is prepared for many draws. It is immutable. It is safe for
// concurrent use if each goroutine has its own source. The zero value is invalid.
type Laplace struct {
	path   path
	t, s16 uint64 // the scale is t/s in lowest terms, and s16 is 16s
	t2     pair   // t and 16s as pairs
	s2     pair
	tBig   *big.Int // t and 16s as big integers
	sBig   *big.Int
}

// NewLaplace prepares the discrete Laplace with the given rational scale above 0. It panics for other scales.
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
// exactly, for a rational scale above 0. It panics for other scales. The running time and the number of consumed
// bits depend on the draw. For more than one draw, use NewLaplace.
func DiscreteLaplace(src *entropy.Source, scale *big.Rat) *big.Int {
	t, s := scale.Num(), scale.Denom()
	// as NewLaplace does, without the fields of the other paths
	if scale.Sign() > 0 && t.IsUint64() && s.BitLen() <= 60 {
		l := Laplace{path: path64, t: t.Uint64(), s16: s.Uint64() << 4}
		return l.draw64(src, new(big.Int))
	}
	return NewLaplace(scale).Draw(src, new(big.Int))
}

// Fill sets each integer of dst to an independent draw. None of them may be nil.
func (l *Laplace) Fill(src *entropy.Source, dst []*big.Int) {
	for _, z := range dst {
		l.Draw(src, z)
	}
}

// Draw sets z to an integer that has exactly the distribution of DiscreteLaplace and is independent of every other
// draw. It returns z. It allocates nothing if z has room, and the scale's numerator and 16 times its denominator
// are below 2¹²⁸.
//
// It is Algorithm 2 of Canonne, Kamath & Steinke 2020 in steps of 1/16, for scale = t/s in lowest terms. (i) Draw u
// uniform in [0, t), accepted with probability exp(−u/(16t)), and v ~ Geometric(1 − exp(−1/16)). Then w = u + t·v
// has P(w) ∝ exp(−u/(16t))·exp(−v/16) = exp(−w/(16t)). Each integer w ≥ 0 arises from one pair (u, v). (ii) Let m =
// ⌊w/(16s)⌋. Then P(m) ∝ Σ_{16ms ≤ w < 16(m+1)s} exp(−w/(16t)) ∝ exp(−m·s/t) = exp(−m/scale). (iii) Draw a fair
// sign. Reject −0, so that 0 is not counted twice. Then P(x) ∝ exp(−|x|/scale). Step (i) accepts with probability
// at least exp(−1/16), and step (iii) rejects with probability at most ½.
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

// draw64 is Draw on 64-bit words, for t, 16s < 2⁶⁴, with the symbols of [Laplace.Draw]. Only the intermediate
// result u + t·v needs more than 64 bits.
func (l *Laplace) draw64(src *entropy.Source, z *big.Int) *big.Int {
	for {
		coins := src.Bits(5) // a nibble for small64, and the sign
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
			continue // reject −0
		}
		return set(z, wide{w.lo, w.hi}, negative)
	}
}

// step64 returns u + t·v for u < t, which is at most t·(v + 1) − 1 < 2¹²⁸.
func step64(t, u, v uint64) pair {
	hi, lo := bits.Mul64(t, v)
	lo, carry := bits.Add64(lo, u, 0)
	return pair{hi + carry, lo}
}

// draw128 is Draw on pairs of words, for t, 16s < 2¹²⁸, with the symbols of [Laplace.Draw]. The intermediate result
// u + t·v is below 2¹⁹².
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
			continue // reject −0
		}
		return set(z, m, negative)
	}
}

// drawBig is Draw for a scale t/s of any size.
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
			continue // reject −0
		}
		if negative {
			z.Neg(z)
		}
		return z
	}
}
