package sample

import (
	"math/big"

	"dither/internal/entropy"
)

// Truncated is the discrete Laplace distribution of scale 1/ε, conditioned on |x| ≤ M, prepared for many draws. It
// is immutable. It is safe for concurrent use if each goroutine has its own source. The zero value is invalid.
type Truncated struct {
	reach, width *big.Int // M, the largest magnitude, and 2M + 1, the number of values
	epsilon      *big.Rat
	laplace      *Laplace // nil if Mε ≤ 1; Draw then proposes uniform integers
}

// NewTruncated prepares the distribution with P(x) ∝ exp(−ε|x|), |x| ≤ reach. It panics unless ε > 0 and reach ≥ 0.
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

// Draw sets z to an integer that has exactly the distribution of NewTruncated and is independent of every other
// draw. It returns z.
//
// If Mε ≤ 1, it proposes a uniform integer, and accepts it with probability exp(−ε|z|) ≥ 1/e. Otherwise it proposes
// a discrete Laplace variable, and accepts it if its magnitude is at most M. It rejects with probability
// 2b^(M+1)/(1 + b) < 2/e, where b = exp(−ε) and b^M < 1/e.
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
