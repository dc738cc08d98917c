package account

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// GDP is a loss under Gaussian differential privacy [Dong, Roth & Su 2022]. A mechanism is μ-GDP if distinguishing
// neighbours is at least as hard as distinguishing N(0, 1) from N(μ, 1). That is, a test with type I error α has a
// type II error of at least f(α) = Φ(Φ⁻¹(1−α) − μ), where Φ is the standard normal distribution function. Gaussian
// noise of standard deviation σ is μ-GDP with μ = Δ/σ, for the L₂ sensitivity Δ. GDP holds μ² exactly. The zero
// value is no loss.
type GDP struct {
	mu2 *big.Rat // μ² ≥ 0; nil means 0; never changed
}

// GDPOf returns the loss with the given μ². It returns privacy.ErrSensitivity if mu2 is nil or negative.
func GDPOf(mu2 *big.Rat) (GDP, error) {
	if mu2 == nil || mu2.Sign() < 0 {
		return GDP{}, fmt.Errorf("%w: mu squared must be at least 0", privacy.ErrSensitivity)
	}
	return GDP{new(big.Rat).Set(mu2)}, nil
}

// GDPFor returns a GDP loss that is (e, d)-differentially private. It is the largest such loss, apart from the
// rounding of GaussianSigma2. GDPFor returns the errors of GaussianSigma2.
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

// Mu2 returns a copy of μ².
func (g GDP) Mu2() *big.Rat { return new(big.Rat).Set(g.rat()) }

// Mu returns μ, rounded up.
func (g GDP) Mu() float64 {
	_, up := exact.IntervalOf(g.rat(), gaussianBits).Sqrt().Floats()
	return up
}

// Plus returns the composition of two losses, √(μ₁² + μ₂²) [Dong, Roth & Su 2022, Corollary 3.3].
func (g GDP) Plus(h GDP) GDP { return GDP{new(big.Rat).Add(g.rat(), h.rat())} }

// Times returns the loss of n mechanisms that each have loss g. If g is μ-GDP, the result is √n·μ. A negative n
// counts as 0.
func (g GDP) Times(n int64) GDP {
	return GDP{new(big.Rat).Mul(g.rat(), new(big.Rat).SetInt64(max(n, 0)))}
}

// Group returns the loss for k people together of a mechanism that has loss g for one person. If g is μ-GDP, the
// result is kμ [Dong, Roth & Su 2022, Theorem 2.14]. A negative k counts as 0.
func (g GDP) Group(k int64) GDP { return g.Times(k).Times(k) }

// Delta returns an upper bound of the least δ at which a mechanism of loss g is (e, δ)-differentially private. It
// is the δ of Gaussian noise [Dong, Roth & Su 2022, Corollary 2.13].
func (g GDP) Delta(e privacy.Epsilon) float64 {
	_, upper := GaussianDelta(g.rat(), e)
	return upper
}

// Epsilon returns an upper bound of the least ε at which a mechanism of loss g is (ε, d)-differentially private. It
// is the ε of Gaussian noise.
func (g GDP) Epsilon(d privacy.Delta) float64 {
	_, upper := GaussianEpsilon(g.rat(), d)
	return upper
}

// Renyi returns the loss as Rényi differential privacy, αμ²/2 at order α [Dong, Roth & Su 2022, Corollary B.6].
func (g GDP) Renyi() Renyi { return RenyiGaussian(g.rat()) }

// TradeOff returns a lower bound, within 10⁻¹⁵, of the type II error of any test between neighbours whose type I
// error is at most alpha. The bound is Φ(Φ⁻¹(1−α) − μ), where α is alpha and Φ the standard normal distribution
// function. It is 0 if alpha is NaN or outside [0, 1].
//
// The value used for Φ⁻¹(1−α) is certified to be too small, because Φ of it is at most 1−α.
func (g GDP) TradeOff(alpha float64) float64 {
	if !(alpha >= 0 && alpha < 1) {
		return 0
	}
	const edge = 40 // the normal tail 1−Φ(40) is below the least float
	error1 := new(big.Rat).SetFloat64(alpha)
	aim := exact.IntervalOf(error1, gaussianBits).Hi()
	low, high := -float64(edge), float64(edge)
	for range 70 { // invariant: 1−Φ(low) ≥ α, or low is −40
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

// TradeOff returns a lower bound of the type II error of any test between neighbours whose type I error is at most
// alpha, for an (e, d)-differentially private mechanism. With ε = e and δ = d, the bound is max(0, 1−δ−e^ε·α,
// e^(−ε)(1−δ−α)) [Wasserman & Zhou 2010; Dong, Roth & Su 2022, Proposition 2.5]. The second and the third term are
// equal where the two errors are equal. The bound is 0 if alpha is NaN or outside [0, 1].
//
// GDP cannot describe a pure loss better. The curve of this bound has a corner, and every Gaussian curve lies below
// it somewhere, unless δ(ε) is 0 for its μ, which means μ = 0.
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
