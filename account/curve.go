package account

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// Curve is a loss as (ε, δ)-differential privacy at every ε. Delta returns the δ for an ε, and Epsilon the ε for a
// δ. Both are rounded up, so the mechanism is (e, Delta(e))-differentially private and (Epsilon(d),
// d)-differentially private. Epsilon is +Inf if no ε suffices.
type Curve interface {
	Delta(e privacy.Epsilon) float64
	Epsilon(d privacy.Delta) float64
}

var (
	_ Curve = Renyi(nil)
	_ Curve = GDP{}
	_ Curve = promised{}
	_ Curve = concentrated{}
	_ Curve = discrete{}
)

// LossCurve returns the curve of a loss of package privacy: PromisedCurve for a pure loss, or the conversion of a
// zCDP loss.
func LossCurve(l privacy.Loss) Curve {
	if e, ok := l.Pure(); ok {
		return PromisedCurve(e, privacy.Delta{})
	}
	r, d := l.ZCDP()
	return concentrated{r, d}
}

// PromisedCurve returns the curve that holds for every (e, d)-differentially private mechanism. With ε = e and δ =
// d, at an ε′ below ε it is
//
//	δ(ε′) = δ + (1−δ)(e^ε − e^ε′)/(1 + e^ε),
//
// and δ from ε on. It is the curve of the mechanism that reveals everything with probability δ, and otherwise gives
// one of two answers by randomized response. Every (e, d)-differentially private mechanism is a post-processing of
// this one [Kairouz, Oh & Viswanath 2017, Theorem 2.1 and Section 3, for one query].
func PromisedCurve(e privacy.Epsilon, d privacy.Delta) Curve { return promised{e, d} }

type promised struct {
	epsilon privacy.Epsilon
	delta   privacy.Delta
}

func (p promised) Delta(e privacy.Epsilon) float64 {
	least := exact.FloatUp(p.delta.Rat())
	if e.Cmp(p.epsilon) >= 0 {
		return least
	}
	// (e^ε − e^ε′)/(1 + e^ε) = (1 − e^(ε′−ε))/(1 + e^(−ε))
	gap := exact.FloatUp(p.epsilon.Minus(e).Rat())
	share := exact.DivUp(-exact.Expm1Down(-gap), exact.AddDown(1, exact.ExpDown(-exact.FloatUp(p.epsilon.Rat()))))
	rest := exact.FloatUp(new(big.Rat).Sub(big.NewRat(1, 1), p.delta.Rat()))
	return min(1, exact.AddUp(least, exact.MulUp(rest, share)))
}

func (p promised) Epsilon(d privacy.Delta) float64 {
	if d.Cmp(p.delta) < 0 {
		return math.Inf(1)
	}
	own := exact.FloatUp(p.epsilon.Rat())
	if d.Rat().Cmp(big.NewRat(1, 1)) == 0 {
		return 0
	}
	// With s = (d−δ)/(1−δ): e^(ε′−ε) = 1 − s(1 + e^(−ε)).
	rest := new(big.Rat).Sub(big.NewRat(1, 1), p.delta.Rat())
	share := exact.FloatDown(rest.Quo(d.Minus(p.delta).Rat(), rest))
	left := exact.SubUp(1, exact.MulDown(share, exact.AddDown(1, exact.ExpDown(-own))))
	if left <= 0 {
		return 0
	}
	return max(0, min(own, exact.AddUp(own, exact.LogUp(left))))
}

// concentrated is the curve of an approximate zCDP loss.
type concentrated struct {
	rho   privacy.Rho
	delta privacy.Delta
}

// Delta returns δ + (1−δ)·δ′, where δ′ is the conversion of ρ at e. The proof is at privacy.Loss.EpsilonAt.
func (c concentrated) Delta(e privacy.Epsilon) float64 {
	rest := new(big.Rat).Sub(big.NewRat(1, 1), c.delta.Rat())
	rest.Mul(rest, c.rho.DeltaAt(e).Rat())
	return exact.FloatUp(rest.Add(rest, c.delta.Rat()))
}

func (c concentrated) Epsilon(d privacy.Delta) float64 {
	e, err := privacy.ZCDPLoss(c.rho, c.delta).EpsilonAt(d)
	if err != nil {
		return math.Inf(1)
	}
	return exact.FloatUp(e.Rat())
}

// DiscreteGaussianCurve returns the curve of discrete Gaussian noise with parameter sigma2 on one integer of
// sensitivity units. Its values are those of DiscreteGaussianDelta.
func DiscreteGaussianCurve(sigma2 *big.Rat, units *big.Int) Curve { return discrete{sigma2, units} }

type discrete struct {
	sigma2 *big.Rat
	units  *big.Int
}

func (d discrete) Delta(e privacy.Epsilon) float64 {
	_, upper := DiscreteGaussianDelta(d.sigma2, d.units, e)
	return upper
}

func (d discrete) Epsilon(f privacy.Delta) float64 {
	return DiscreteGaussianEpsilon(d.sigma2, d.units, f)
}
