package account

import (
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// Curve is a loss as (ε, δ)-differential privacy at every ε: a bound δ(ε), and its inverse. Both are rounded up,
// and so true: the mechanism is (e, Delta(e))-differentially private, and (Epsilon(d), d). Epsilon is +Inf if no ε
// satisfies the δ. Renyi and GDP are curves.
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

// LossCurve is the curve of a loss under either accountant of package privacy: PromisedCurve for a pure loss, the
// conversion for a zCDP loss.
func LossCurve(l privacy.Loss) Curve {
	if e, ok := l.Pure(); ok {
		return PromisedCurve(e, privacy.Delta{})
	}
	r, d := l.ZCDP()
	return concentrated{r, d}
}

// PromisedCurve is the curve of any (e, d)-differentially private mechanism: at another ε′ below e
//
//	δ(ε′) = δ + (1−δ)(e^ε − e^ε′)/(1 + e^ε).
//
// It is the curve of the mechanism that reveals everything with probability δ, and is otherwise randomized response
// between two answers. Every such mechanism is a post-processing of this one [Kairouz, Oh & Viswanath 2017, Theorem 2.1
// and Section 3, at one query].
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

// concentrated is approximate zCDP.
type concentrated struct {
	rho   privacy.Rho
	delta privacy.Delta
}

// Delta is δ + (1−δ)·δ′, δ′ that of ρ: the proof is at privacy.Loss.EpsilonAt.
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

// DiscreteGaussianCurve is the curve of discrete Gaussian noise of parameter sigma2 on one integer of sensitivity
// units: that of DiscreteGaussianDelta.
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
