package mechanism

import (
	"fmt"
	"math/big"

	"dither/account"
	"dither/internal/sample"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// AnalyticGaussian is the Gaussian mechanism for a vector of integers with the least noise that is (ε, δ)-differentially
// private, by the analytic calibration [Balle & Wang 2018].
//
// Proof: let y = x + σN, N a vector of independent standard normal variables. Releasing y is (ε, δ)-differentially
// private where σ² is account.GaussianSigma2: for neighbours at most Δ₂ apart the least δ at ε is Φ(Δ₂/(2σ) − εσ/Δ₂) −
// e^ε·Φ(−Δ₂/(2σ) − εσ/Δ₂) at most [ibid., Theorem 8], and that is certified to be at most the given one. Rounding each
// coordinate of y to the nearest integer looks at nothing but y, and as x is a vector of integers it gives x + round(σN),
// which is what is released. round(σN) is sampled exactly, with σ² an exact rational (noise.RoundedGaussian). ∎
//
// It is Δ₂²/(2σ²)-zCDP as well: N(x, σ²) and N(x′, σ²) have a Rényi divergence of α(x − x′)²/(2σ²) for all α > 1, which
// adds up over coordinates, and rounding does not raise it [Bun & Steinke 2016, Proposition 1.6 and Lemma 1.8].
//
// The discrete Gaussian of the same σ² would not do: its mass is not that of any rounding, and its least δ at ε = 1 and σ =
// 1 is .14135, where the continuous one's is .12694.
//
// An AnalyticGaussian is immutable, and made by NewAnalyticGaussian, which calibrates once for any number of measurements. The
// zero value measures nothing.
type AnalyticGaussian struct {
	epsilon privacy.Epsilon
	delta   privacy.Delta
	noise   *noise.RoundedGaussian // nil in the zero value alone
	loss    privacy.Loss           // Δ₂²/(2σ²)
}

// maxCalibratedBits is of a δ that noise is calibrated to: 10⁻¹⁰⁰⁰ has fewer.
const maxCalibratedBits = 4096

// NewAnalyticGaussian calibrates noise, in some ten milliseconds. l2squared is the square of the L2 sensitivity of the whole
// vector, in squared units of the values, and at least 1; e is above 0, d above 0 and below 1. Others, or those that need
// more noise than is drawn, are ErrParameter.
func NewAnalyticGaussian(l2squared *big.Int, e privacy.Epsilon, d privacy.Delta) (AnalyticGaussian, error) {
	if err := parameter.Epsilon(e); err != nil {
		return AnalyticGaussian{}, err
	}
	if l2squared == nil || l2squared.Sign() <= 0 || l2squared.BitLen() > noise.MaxVarianceBits {
		return AnalyticGaussian{}, fmt.Errorf("%w: the Gaussian mechanism needs a squared sensitivity above 0, and below 2^%d", ErrParameter, noise.MaxVarianceBits)
	}
	if d.Rat().Denom().BitLen() > maxCalibratedBits {
		return AnalyticGaussian{}, fmt.Errorf("%w: delta is too small, or too long a fraction", ErrParameter)
	}
	sigma2, err := account.GaussianSigma2(l2squared, e, d)
	if err != nil {
		return AnalyticGaussian{}, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	dist, err := noise.NewRoundedGaussian(sigma2)
	if err != nil {
		return AnalyticGaussian{}, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	rho := new(big.Rat).SetInt(l2squared)
	loss, err := privacy.RhoOf(rho.Quo(rho, new(big.Rat).Add(sigma2, sigma2)))
	if err != nil {
		return AnalyticGaussian{}, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return AnalyticGaussian{epsilon: e, delta: d, noise: &dist, loss: privacy.ZCDPLoss(loss, privacy.Delta{})}, nil
}

func (m AnalyticGaussian) check() error {
	if m.noise == nil {
		return fmt.Errorf("%w: an analytic Gaussian that was not calibrated", ErrParameter)
	}
	return nil
}

// Noise is what each value gets; its Sigma2 is σ², a short rational. The error is ErrParameter, for the zero value.
func (m AnalyticGaussian) Noise() (noise.RoundedGaussian, error) {
	if err := m.check(); err != nil {
		return noise.RoundedGaussian{}, err
	}
	return *m.noise, nil
}

// Guarantee is the promise, for all values together: (ε, δ)-differential privacy.
func (m AnalyticGaussian) Guarantee() (privacy.Epsilon, privacy.Delta) { return m.epsilon, m.delta }

// Measure releases x with independent noise on each value. Its Loss is the zCDP that the noise has too; an accountant of
// (ε, δ) has Guarantee. The error is ErrParameter, for the zero value.
func (m AnalyticGaussian) Measure(x []Exact) (Measurement, error) {
	if err := m.check(); err != nil {
		return Measurement{}, err
	}
	return measure(x, sample.NewRoundedGaussian(m.noise.Sigma2()), *m.noise, m.loss), nil
}
