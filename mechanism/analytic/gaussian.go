// Package analytic holds the Gaussian mechanism with the least noise that is (ε, δ)-differentially private. Package
// account calibrates its noise. The kernel's own mechanisms may not use account, so this package stands beside them.
package analytic

import (
	"fmt"
	"math/big"

	"dither/account"
	"dither/mechanism"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// Gaussian is the Gaussian mechanism for a vector of integers with the least noise that is (ε, δ)-differentially
// private, by the analytic calibration [Balle & Wang 2018].
//
// It releases what mechanism.RoundedGaussian does, with σ² = account.GaussianSigma2. Proof: let y = x + σN, N a
// vector of independent standard normal variables. For neighbours at most Δ₂ apart the least δ at ε of y is
// Φ(Δ₂/(2σ) − εσ/Δ₂) − e^ε·Φ(−Δ₂/(2σ) − εσ/Δ₂) at most [ibid., Theorem 8], and that is
// certified to be at most the given one, in interval arithmetic and for the very rational σ² that is sampled.
// Rounding y is post-processing. ∎
//
// The discrete Gaussian of the same σ² would not suffice: its mass is not that of any rounding, and its least δ at
// ε = 1 and σ = 1 is .14135, compared with .12694 for the continuous one.
//
// A Gaussian is immutable. NewGaussian makes it, and calibrates once for any number of measurements. The zero value
// measures nothing.
type Gaussian struct {
	epsilon privacy.Epsilon
	delta   privacy.Delta
	rounded mechanism.RoundedGaussian // without a variance in the zero value alone
}

// maxCalibratedBits bounds the δ for which noise is calibrated: 10⁻¹⁰⁰⁰ has fewer bits.
const maxCalibratedBits = 4096

// NewGaussian calibrates noise, in some ten milliseconds. l2squared is the square of the L2 sensitivity of the whole
// vector, in squared units of the values, and at least 1; e is above 0, d above 0 and below 1. Others, or those that
// need more noise than can be drawn, are mechanism.ErrParameter.
func NewGaussian(l2squared *big.Int, e privacy.Epsilon, d privacy.Delta) (Gaussian, error) {
	if err := parameter.Epsilon(e); err != nil {
		return Gaussian{}, err
	}
	if l2squared == nil || l2squared.Sign() <= 0 || l2squared.BitLen() > noise.MaxVarianceBits {
		return Gaussian{}, fmt.Errorf("%w: the Gaussian mechanism needs a squared sensitivity above 0, and below 2^%d",
			mechanism.ErrParameter, noise.MaxVarianceBits)
	}
	if d.Rat().Denom().BitLen() > maxCalibratedBits {
		return Gaussian{}, fmt.Errorf("%w: delta is too small, or too long a fraction", mechanism.ErrParameter)
	}
	sigma2, err := account.GaussianSigma2(l2squared, e, d)
	if err != nil {
		return Gaussian{}, fmt.Errorf("%w: %w", mechanism.ErrParameter, err)
	}
	m := mechanism.RoundedGaussian{L2Squared: new(big.Int).Set(l2squared), Sigma2: sigma2}
	if _, err := m.Loss(); err != nil {
		return Gaussian{}, err
	}
	return Gaussian{epsilon: e, delta: d, rounded: m}, nil
}

func (m Gaussian) check() error {
	if m.rounded.Sigma2 == nil {
		return fmt.Errorf("%w: an analytic Gaussian that was not calibrated", mechanism.ErrParameter)
	}
	return nil
}

// Noise is the distribution of each value's noise; its Sigma2 is σ², a short rational. The error is
// mechanism.ErrParameter, for the zero value.
func (m Gaussian) Noise() (noise.RoundedGaussian, error) {
	if err := m.check(); err != nil {
		return noise.RoundedGaussian{}, err
	}
	return m.rounded.Noise()
}

// Guarantee is the promise, for all values together: (ε, δ)-differential privacy.
func (m Gaussian) Guarantee() (privacy.Epsilon, privacy.Delta) { return m.epsilon, m.delta }

// Measure releases x with independent noise on each value. Its Loss is the zCDP of the noise; an accountant of (ε, δ)
// has Guarantee. The error is mechanism.ErrParameter, for the zero value.
func (m Gaussian) Measure(x []mechanism.Exact) (mechanism.Measurement, error) {
	if err := m.check(); err != nil {
		return mechanism.Measurement{}, err
	}
	return m.rounded.Measure(x)
}
