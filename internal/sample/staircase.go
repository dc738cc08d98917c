package sample

import (
	"math/big"

	"dither/internal/entropy"
	"dither/internal/exact"
)

// Expm1 returns an interval around eˣ − 1, for a rational 0 < x ≤ 2²⁰. Its relative precision is about bits bits,
// however small x is.
func Expm1(x *big.Rat, bits uint) exact.Interval {
	lost := max(0, x.Denom().BitLen()-x.Num().BitLen()+1) // eˣ − 1 ≥ x > 2^(−lost)
	wide := bits + uint(lost)
	return exact.IntervalOf(x, wide).Exp().Sub(exact.IntervalOf(ratOne, wide))
}

var ratOne = big.NewRat(1, 1) // must not be changed

// Staircase is the staircase distribution over the integers, prepared for many draws. It is immutable. It is safe
// for concurrent use if each goroutine has its own source. The zero value is invalid.
type Staircase struct {
	length, step *big.Int   // Δ, the length of a stair, and r, the step
	middle       *Bernoulli // a coin that decides whether the magnitude is below r
	stairs       *Laplace   // discrete Laplace of scale 1/ε, for the number of the stair
}

// NewStaircase prepares the distribution with P(x) proportional to exp(−εs), s = ⌊(|x| + Δ − r)/Δ⌋. Its stairs have
// length Δ, except that the middle one covers |x| < r. Each stair is lower than the one before by a factor of
// exp(−ε). length is Δ and step is r. It panics unless 1 ≤ r ≤ Δ and 0 < ε ≤ 2²⁰.
func NewStaircase(length, step *big.Int, epsilon *big.Rat) *Staircase {
	if step.Sign() <= 0 || step.Cmp(length) > 0 || epsilon.Sign() <= 0 || epsilon.Cmp(big.NewRat(1<<20, 1)) > 0 {
		panic("sample: a staircase needs 1 ≤ r ≤ Δ and an ε above 0")
	}
	g := &Staircase{
		length: new(big.Int).Set(length), step: new(big.Int).Set(step),
		stairs: NewLaplace(new(big.Rat).Inv(epsilon)),
	}
	epsilon, shape := new(big.Rat).Set(epsilon), new(big.Rat).SetFrac(step, length)
	// The weights of the stairs are r, Δ·exp(−ε), Δ·exp(−2ε), …. All except the first sum to Δ/(exp(ε) − 1).
	g.middle = NewBernoulli(func(bits uint) exact.Interval {
		one, odds := exact.IntervalOf(ratOne, bits), exact.IntervalOf(shape, bits).Mul(Expm1(epsilon, bits))
		return one.Sub(one.Quo(one.Add(odds))) // r(e^ε − 1)/(r(e^ε − 1) + Δ)
	})
	return g
}

// Draw sets z to an integer that has exactly the distribution of NewStaircase and is independent of every other
// draw. It returns z.
//
// With the probability of the middle stair, the magnitude is uniform in it. Otherwise it is r + sΔ + j, with j
// uniform below Δ and P(s) ∝ exp(−εs). A discrete Laplace of scale 1/ε has that distribution, given that it is not
// negative. The sign is a fair coin. −0 is rejected so that 0 is not counted twice, which has probability at most
// ½.
func (g *Staircase) Draw(src *entropy.Source, z *big.Int) *big.Int {
	for {
		if g.middle.Draw(src) {
			z.Set(src.Below(g.step))
		} else {
			for g.stairs.Draw(src, z).Sign() < 0 {
				continue
			}
			z.Mul(z, g.length).Add(z, src.Below(g.length)).Add(z, g.step)
		}
		negative := src.Bits(1) == 1
		if negative && z.Sign() == 0 {
			continue // reject −0
		}
		if negative {
			z.Neg(z)
		}
		return z
	}
}
