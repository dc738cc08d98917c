package sample

import (
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
)

// Uniform is a uniform real number in [0, 1). Its binary digits are drawn only as decisions need them, 64 at a time
// from the first on. Digits that are not yet drawn are independent of every earlier decision, so all decisions on one
// Uniform concern one real number. The zero value is a new number.
type Uniform struct {
	known int      // how many blocks of 64 digits are known
	first uint64   // the first of them
	rest  []uint64 // the other blocks, which are rarely needed
}

// digit is the i-th block of 64 digits, drawn if it was not.
func (u *Uniform) digit(src *entropy.Source, i int) uint64 {
	for ; u.known <= i; u.known++ {
		if u.known == 0 {
			u.first = src.Uint64()
		} else {
			u.rest = append(u.rest, src.Uint64())
		}
	}
	if i == 0 {
		return u.first
	}
	return u.rest[i-1]
}

// First is the first 64 digits, as the integer they make.
func (u *Uniform) First(src *entropy.Source) uint64 { return u.digit(src, 0) }

// coin returns true with probability u: it decides whether a new uniform number is below u, by the first digits in
// which they differ. They do differ, with probability 1.
func (u *Uniform) coin(src *entropy.Source) bool {
	for i := 0; ; i++ {
		if v, d := src.Uint64(), u.digit(src, i); v != d {
			return v < d
		}
	}
}

// Real is a real number enclosed by intervals with ends of bits bits. The intervals must become arbitrarily narrow with
// more bits.
type Real func(bits uint) exact.Interval

// guard is how many more bits than the compared digits a Real is computed to, because it may lose some.
const guard = 96

// Below decides whether u < p. p may lie outside of [0, 1].
//
// Where n blocks are known to make the integer a, u is in [a, a + 1)·2^(−64n): all of it is below p if (a +
// 1)·2^(−64n) ≤ lo, and none if hi ≤ a·2^(−64n). Else more digits and a narrower interval are taken. Since u
// = p has probability 0, that ends.
func (u *Uniform) Below(src *entropy.Source, p Real) bool {
	a := new(big.Int)
	for n := 0; ; n++ {
		next := new(big.Int).SetUint64(u.digit(src, n))
		a.Lsh(a, 64).Add(a, next)
		bits := uint(64*(n+1) + guard)
		bound := p(bits)
		end := func(a *big.Int) *big.Float { // a·2^(−64(n+1)), exactly
			f := new(big.Float).SetPrec(bits).SetInt(a)
			return f.SetMantExp(f, -64*(n+1))
		}
		if end(a).Cmp(bound.Hi()) >= 0 {
			return false
		}
		if end(next.Add(a, big.NewInt(1))).Cmp(bound.Lo()) <= 0 {
			return true
		}
	}
}

// Bernoulli is a coin with a real probability, prepared for many draws. It is immutable, and safe for concurrent use
// with one source per user if p is.
type Bernoulli struct {
	p      Real
	lo, hi uint64 // first digits below lo make it true, and those from hi on false
}

// NewBernoulli prepares the coin of probability p, in [0, 1].
func NewBernoulli(p Real) *Bernoulli {
	bound := p(64 + guard)
	scaled := func(x *big.Float) *big.Int {
		x.SetMantExp(x, 64)
		i, _ := x.Int(nil) // towards 0
		return i
	}
	cut := func(i *big.Int) uint64 { // to [0, 2⁶⁴), which leaves the rest to Below
		switch {
		case i.Sign() <= 0:
			return 0
		case !i.IsUint64():
			return 1<<64 - 1
		}
		return i.Uint64()
	}
	hi := scaled(bound.Hi())
	return &Bernoulli{p: p, lo: cut(scaled(bound.Lo())), hi: cut(hi.Add(hi, big.NewInt(1)))}
}

// Draw returns true with probability p, exactly.
func (b *Bernoulli) Draw(src *entropy.Source) bool { return b.above(src, &Uniform{}) }

// above decides whether u < p. The first 64 digits do but for a few in 2⁶⁴ draws.
func (b *Bernoulli) above(src *entropy.Source, u *Uniform) bool {
	switch first := u.First(src); {
	case first < b.lo:
		return true
	case first >= b.hi && b.hi < 1<<64-1:
		return false
	}
	return u.Below(src, b.p)
}
