package account

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// GDP is a loss under Gaussian differential privacy [Dong, Roth & Su 2022]: a mechanism is μ-GDP if no test between
// neighbours does better than one between N(0, 1) and N(μ, 1): of type I error α, its type II error is at least f(α)
// = Φ(Φ⁻¹(1−α) − μ). Gaussian noise is μ-GDP with μ = Δ/σ. It is exact, as μ². The zero value is no
// loss.
type GDP struct {
	mu2 *big.Rat // μ²; nil is 0; never negative, never changed
}

// GDPOf takes μ². A nil or negative one is privacy.ErrSensitivity.
func GDPOf(mu2 *big.Rat) (GDP, error) {
	if mu2 == nil || mu2.Sign() < 0 {
		return GDP{}, fmt.Errorf("%w: mu squared must be at least 0", privacy.ErrSensitivity)
	}
	return GDP{new(big.Rat).Set(mu2)}, nil
}

// GDPFor is a GDP loss that is (e, d)-differentially private: the largest one, apart from the rounding of
// GaussianSigma2, whose errors it returns.
func GDPFor(e privacy.Epsilon, d privacy.Delta) (GDP, error) {
	sigma2, err := GaussianSigma2(big.NewInt(1), e, d)
	if err != nil {
		return GDP{}, err
	}
	return GDP{sigma2.Inv(sigma2)}, nil
}

func (g GDP) rat() *big.Rat {
	if g.mu2 == nil {
		return new(big.Rat)
	}
	return g.mu2
}

// Mu2 is a copy of μ².
func (g GDP) Mu2() *big.Rat { return new(big.Rat).Set(g.rat()) }

// Mu is μ, rounded up.
func (g GDP) Mu() float64 {
	_, up := exact.IntervalOf(g.rat(), gaussianBits).Sqrt().Floats()
	return up
}

// Plus is composition: √(μ₁² + μ₂²) [Dong, Roth & Su 2022, Corollary 3.3].
func (g GDP) Plus(h GDP) GDP { return GDP{new(big.Rat).Add(g.rat(), h.rat())} }

// Times is the loss of n mechanisms of loss g each, √n·μ. A negative n counts as 0.
func (g GDP) Times(n int64) GDP {
	return GDP{new(big.Rat).Mul(g.rat(), new(big.Rat).SetInt64(max(n, 0)))}
}

// Group is group privacy: the promise of a mechanism with loss g to k people together, kμ [Dong, Roth & Su 2022,
// Theorem 2.14]. A negative k counts as 0.
func (g GDP) Group(k int64) GDP { return g.Times(k).Times(k) }

// Delta bounds the least δ at which a mechanism of loss g is (e, δ)-differentially private: that of Gaussian noise
// [Dong, Roth & Su 2022, Corollary 2.13].
func (g GDP) Delta(e privacy.Epsilon) float64 {
	_, upper := GaussianDelta(g.rat(), e)
	return upper
}

// Epsilon bounds the least ε at which a mechanism of loss g is (ε, d)-differentially private, likewise.
func (g GDP) Epsilon(d privacy.Delta) float64 {
	_, upper := GaussianEpsilon(g.rat(), d)
	return upper
}

// Renyi is the loss as Rényi's, αμ²/2 [Dong, Roth & Su 2022, Corollary B.6].
func (g GDP) Renyi() Renyi { return RenyiGaussian(g.rat()) }

// TradeOff is a lower bound, within 10⁻¹⁵, on the type II error of any test between neighbours whose type I error
// is at most alpha: Φ(Φ⁻¹(1−α) − μ). It is 0 if alpha is NaN or outside [0, 1].
//
// The Φ⁻¹(1−α) found is certified to be too small: Φ of it is at most 1−α.
func (g GDP) TradeOff(alpha float64) float64 {
	if !(alpha >= 0 && alpha < 1) {
		return 0
	}
	const edge = 40 // 1−Φ(40) is below the least float
	error1 := new(big.Rat).SetFloat64(alpha)
	aim := exact.IntervalOf(error1, gaussianBits).Hi()
	low, high := -float64(edge), float64(edge)
	for range 70 { // 1−Φ(low) ≥ α throughout, or low is −40
		middle := low + (high-low)/2
		if exact.PointOf(big.NewFloat(middle), 128).NormalTail().Lo().Cmp(aim) >= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	if low == -edge {
		return 0
	}
	mu := exact.IntervalOf(g.rat(), 128).Sqrt()
	lower, _ := exact.PointOf(big.NewFloat(low), 128).Sub(mu).NormalCDF().Floats()
	return lower
}

// TradeOff is a lower bound on the type II error of any test between neighbours whose type I error is at most alpha,
// for a mechanism that is (e, d)-differentially private [Wasserman & Zhou 2010; Dong, Roth & Su 2022, Proposition 2.5]:
// max(0, 1−δ−e^ε·α, e^(−ε)(1−δ−α)), the last two meeting where both errors are alike. It is 0 where
// alpha is NaN or outside [0, 1].
//
// A pure loss is no better described by GDP: the curve has a corner, and is within that of a Gaussian only at a μ
// whose δ(ε) is 0.
func TradeOff(e privacy.Epsilon, d privacy.Delta, alpha float64) float64 {
	if !(alpha >= 0 && alpha <= 1) {
		return 0
	}
	rest := exact.FloatDown(new(big.Rat).Sub(big.NewRat(1, 1), d.Rat()))
	epsilon := exact.FloatUp(e.Rat())
	steep := exact.SubDown(rest, exact.MulUp(exact.ExpUp(epsilon), alpha))
	if alpha == 0 {
		steep = rest
	}
	flat := exact.MulDown(exact.ExpDown(-epsilon), max(0, exact.SubDown(rest, alpha)))
	return max(0, steep, flat)
}
