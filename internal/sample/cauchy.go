package sample

import (
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
)

// RoundedCauchy returns min(max(⌊twice/2 + s·Z + 1/2⌋, lower), upper), exactly, for a standard Cauchy variable Z,
// which has the density 1/(π(1 + z²)). That is the integer nearest to a Cauchy variable with centre twice/2,
// clamped to the bounds. The scale s > 0 is a real number. scale encloses it between positive rationals, which
// converge to s as bits grow.
//
// Z is V/U for a uniform point (U, V) in the half of the unit disc with U > 0: the part of the half disc with V/U ≤
// z is a sector with an angle of arctan z + π/2 out of π. The point is drawn uniformly in the rectangle 0 < U < 1,
// −1 < V < 1, until it lies in the disc, which has probability π/4. U and |V| are real numbers, and their binary
// digits are drawn as needed. A decision is made once the known digits and the bounds on the scale leave one
// outcome. The borderline cases are curves, on which the point lies with probability 0, so the loop ends with
// probability 1. The number of digits depends on the scale, the centre and the draw, so the running time reveals
// something about them.
func RoundedCauchy(
	src *entropy.Source, twice *big.Int, scale func(bits uint) (down, up *big.Rat), lower, upper int64,
) int64 {
	within := func(x *big.Rat) int64 { // ⌊x⌋, clamped to the bounds
		z := exact.FloorRat(x)
		if z.Cmp(big.NewInt(lower)) < 0 {
			return lower
		}
		if z.Cmp(big.NewInt(upper)) > 0 {
			return upper
		}
		return z.Int64()
	}
	shifted := new(big.Rat).SetFrac(new(big.Int).Add(twice, bigOne), big.NewInt(2))
	for {
		negative := src.Bits(1) == 1
		var u, v lazyReal
		for {
			u.reveal(src)
			v.reveal(src)
			inside, outside := u.disc(&v)
			if outside {
				break
			}
			if !inside || u.known.Sign() == 0 {
				continue
			}
			down, up := scale(u.digits + 64)
			down = new(big.Rat).Mul(down, new(big.Rat).SetFrac(&v.known, u.next()))
			up = new(big.Rat).Mul(up, new(big.Rat).SetFrac(v.next(), &u.known))
			if negative {
				down, up = up.Neg(up), down.Neg(down)
			}
			lo, hi := within(down.Add(down, shifted)), within(up.Add(up, shifted))
			if lo == hi {
				return lo
			}
		}
	}
}

// lazyReal is a uniform real number in (0, 1) of which some binary digits are known. With d known digits, it lies
// between known/2ᵈ and (known + 1)/2ᵈ. In the zero value no digit is known.
type lazyReal struct {
	known  big.Int
	digits uint
}

// reveal draws 64 more digits.
func (x *lazyReal) reveal(src *entropy.Source) {
	x.known.Lsh(&x.known, 64)
	x.known.Or(&x.known, new(big.Int).SetUint64(src.Uint64()))
	x.digits += 64
}

// next returns known + 1.
func (x *lazyReal) next() *big.Int { return new(big.Int).Add(&x.known, bigOne) }

// disc reports whether x² + y² < 1, and whether x² + y² > 1. If the known digits do not decide, both are false.
// Both numbers must have the same number of known digits.
func (x *lazyReal) disc(y *lazyReal) (inside, outside bool) {
	one := new(big.Int).Lsh(bigOne, 2*x.digits)
	squares := func(a, b *big.Int) *big.Int { return new(big.Int).Add(new(big.Int).Mul(a, a), new(big.Int).Mul(b, b)) }
	return squares(x.next(), y.next()).Cmp(one) <= 0, squares(&x.known, &y.known).Cmp(one) >= 0
}
