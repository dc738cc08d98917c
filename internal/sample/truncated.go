package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// Truncated is the discrete Laplace distribution of scale 1/ε, conditioned on |x| ≤ M, prepared for many draws. It
// is immutable, and safe for concurrent use with one source per user. The zero value is invalid.
type Truncated struct {
	reach, width *big.Int // M and 2M + 1
	epsilon      *big.Rat
	laplace      *Laplace // nil if Mε ≤ 1
}

// NewTruncated prepares the distribution with P(x) ∝ exp(−ε|x|), |x| ≤ reach. ε is positive and reach at least
// 0; others are a programmer's error, and panic.
func NewTruncated(epsilon *big.Rat, reach *big.Int) *Truncated {
	if epsilon.Sign() <= 0 || reach.Sign() < 0 {
		panic("sample: a truncated Laplace needs an ε above 0 and a reach of at least 0")
	}
	t := &Truncated{reach: new(big.Int).Set(reach), epsilon: new(big.Rat).Set(epsilon)}
	t.width = new(big.Int).Lsh(reach, 1)
	t.width.Add(t.width, bigOne)
	if span := new(big.Rat).SetInt(reach); span.Mul(span, epsilon).Cmp(ratOne) > 0 {
		t.laplace = NewLaplace(new(big.Rat).Inv(epsilon))
	}
	return t
}

// Draw sets z to an integer with exactly the distribution of NewTruncated, independent of every other draw, and returns
// z.
//
// Where Mε ≤ 1 it is a uniform integer, accepted with exp(−ε|z|) ≥ 1/e. Else it is a discrete Laplace variable,
// accepted within M: beyond it is with 2b^(M+1)/(1 + b) < 2/e, b = exp(−ε), b^M < 1/e.
func (t *Truncated) Draw(src *entropy.Source, z *big.Int) *big.Int {
	for {
		if t.laplace != nil {
			if t.laplace.Draw(src, z).CmpAbs(t.reach) <= 0 {
				return z
			}
			continue
		}
		z.Sub(src.Below(t.width), t.reach)
		x := new(big.Rat).SetInt(new(big.Int).Abs(z))
		if BernoulliExp(src, x.Mul(x, t.epsilon)) {
			return z
		}
	}
}
