// Package analytic contains the (ε, δ)-differentially private Gaussian mechanism with the least noise. Package
// account calibrates the noise. Package mechanism may not import account, so this mechanism has its own package.
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

// Gaussian is the Gaussian mechanism for a vector of integers, with the least noise that is (ε, δ)-differentially
// private. The noise follows the analytic calibration [Balle & Wang 2018].
//
// A Gaussian draws its release from mechanism.RoundedGaussian with σ² = account.GaussianSigma2. Claim: the release
// is (ε, δ)-differentially private. Proof: let y = x + σN, where N is a vector of independent standard normal
// variables. For neighbours at distance at most Δ₂, the least δ of y at ε is at most Φ(Δ₂/(2σ) − εσ/Δ₂) −
// e^ε·Φ(−Δ₂/(2σ) − εσ/Δ₂) [ibid., Theorem 8]. Interval arithmetic certifies that this expression is at most the
// given δ, for the same rational σ² that is sampled. Rounding y is post-processing. ∎
//
// The discrete Gaussian with the same σ² would need a larger δ, because its mass is not that of a rounded Gaussian.
// At ε = 1 and σ = 1 its least δ is .14135, compared with .12694 for the continuous one.
//
// A Gaussian is immutable. NewGaussian calibrates it once, for any number of measurements. Measuring with the zero
// value is an error.
type Gaussian struct {
	epsilon privacy.Epsilon
	delta   privacy.Delta
	rounded mechanism.RoundedGaussian // Sigma2 is nil only in the zero value
}

// maxCalibratedBits is the most bits that δ's denominator may have. The denominator of 10⁻¹⁰⁰⁰ has fewer.
const maxCalibratedBits = 4096

// NewGaussian calibrates the noise, which takes some ten milliseconds. l2squared is the squared L2 sensitivity of
// the whole vector, in squared units of the values. NewGaussian returns mechanism.ErrParameter unless l2squared ≥
// 1, e > 0 and 0 < d < 1, and if the noise would be too large to draw.
func NewGaussian(l2squared *big.Int, e privacy.Epsilon, d privacy.Delta) (Gaussian, error) {
	if err := parameter.Epsilon(e); err != nil {
		return Gaussian{}, err
	}
	if l2squared == nil || l2squared.Sign() <= 0 || l2squared.BitLen() > noise.MaxVarianceBits {
		return Gaussian{}, fmt.Errorf(
			"%w: the squared sensitivity of the Gaussian mechanism must be above 0 and below 2^%d",
			mechanism.ErrParameter, noise.MaxVarianceBits)
	}
	if d.Rat().Denom().BitLen() > maxCalibratedBits {
		return Gaussian{}, fmt.Errorf("%w: delta is too small, or its fraction is too long", mechanism.ErrParameter)
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
		return fmt.Errorf("%w: the analytic Gaussian mechanism is not calibrated", mechanism.ErrParameter)
	}
	return nil
}

// Noise returns the distribution of each value's noise. Its Sigma2 is σ², a short rational. The zero value returns
// mechanism.ErrParameter.
func (m Gaussian) Noise() (noise.RoundedGaussian, error) {
	if err := m.check(); err != nil {
		return noise.RoundedGaussian{}, err
	}
	return m.rounded.Noise()
}

// Guarantee returns ε and δ: all values of one measurement together are (ε, δ)-differentially private.
func (m Gaussian) Guarantee() (privacy.Epsilon, privacy.Delta) { return m.epsilon, m.delta }

// Measure releases x with independent noise on each value. The measurement's Loss is in zCDP. An accountant of (ε,
// δ) uses Guarantee instead. The zero value returns mechanism.ErrParameter.
func (m Gaussian) Measure(x []mechanism.Exact) (mechanism.Measurement, error) {
	if err := m.check(); err != nil {
		return mechanism.Measurement{}, err
	}
	return m.rounded.Measure(x)
}
