package sample

import (
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
)

// Uniform is a uniform real number in [0, 1). Its binary digits are drawn only as decisions need them, in order, 64
// at a time. Digits that are not yet drawn are independent of every earlier decision. So all decisions on one
// Uniform concern one real number. The zero value is a new number.
type Uniform struct {
	known int      // the number of known blocks of 64 digits
	first uint64   // the first block
	rest  []uint64 // the other blocks, which are rarely needed
}

// digit returns the block i of 64 digits. It draws the blocks up to i if necessary.
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

// First returns the first 64 digits, as an integer.
func (u *Uniform) First(src *entropy.Source) uint64 { return u.digit(src, 0) }

// coin returns true with probability u. It decides whether a new uniform number is below u, by the first block in
// which the two differ. With probability 1 they differ somewhere.
func (u *Uniform) coin(src *entropy.Source) bool {
	for i := 0; ; i++ {
		if v, d := src.Uint64(), u.digit(src, i); v != d {
			return v < d
		}
	}
}

// Real returns an interval that contains a real number, with ends of bits bits. The intervals must become
// arbitrarily narrow as bits increases.
type Real func(bits uint) exact.Interval

// guard is the number of extra bits with which a Real is computed, beyond the compared digits, because it may lose
// some to rounding.
const guard = 96

// Below reports whether u < p. p may be outside [0, 1].
//
// If n blocks of u are known and form the integer a, u is in [a, a + 1)·2^(−64n). Then u is below p if (a +
// 1)·2^(−64n) ≤ lo, and not below p if hi ≤ a·2^(−64n), where lo and hi are the ends of p's interval. Otherwise
// more digits and a narrower interval are needed. u = p has probability 0, so the loop ends.
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

// Bernoulli is a coin with a real probability, prepared for many draws. It is immutable. It is safe for concurrent
// use if each goroutine has its own source, and if p is safe too.
type Bernoulli struct {
	p      Real
	lo, hi uint64 // first digits below lo mean true, and those from hi on mean false
}

// NewBernoulli prepares the coin with the probability p, which is in [0, 1].
func NewBernoulli(p Real) *Bernoulli {
	bound := p(64 + guard)
	scaled := func(x *big.Float) *big.Int {
		x.SetMantExp(x, 64)
		i, _ := x.Int(nil) // rounds towards 0
		return i
	}
	cut := func(i *big.Int) uint64 { // clamps to [0, 2⁶⁴); Below decides the remaining cases
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

// Draw returns true with the probability of the coin, exactly.
func (b *Bernoulli) Draw(src *entropy.Source) bool { return b.above(src, &Uniform{}) }

// above reports whether u is below the coin's probability. The first 64 digits decide, except in a few of 2⁶⁴
// draws.
func (b *Bernoulli) above(src *entropy.Source, u *Uniform) bool {
	switch first := u.First(src); {
	case first < b.lo:
		return true
	case first >= b.hi && b.hi < 1<<64-1:
		return false
	}
	return u.Below(src, b.p)
}
