package mechanism

import (
	"fmt"
	"math/big"

	"dither/account"
	"dither/internal/sample"
	"dither/noise"
	"dither/privacy"
)

// AnalyticGaussian is the Gaussian mechanism for a vector of integers with the least noise that is (Epsilon,
// Delta)-differentially private, by the analytic calibration [Balle & Wang 2018].
//
// Proof: let y = x + σN, N a vector of independent standard normal variables. Releasing y is (Epsilon,
// Delta)-differentially private where σ² is account.GaussianSigma2: for neighbours at most Δ₂ = √L2Squared apart the least
// δ at an ε is Φ(Δ₂/(2σ) − εσ/Δ₂) − e^ε·Φ(−Δ₂/(2σ) − εσ/Δ₂) at most [ibid., Theorem 8], and that is certified to be at most
// Delta. Rounding each coordinate of y to the nearest integer looks at nothing but y, and as x is a vector of integers it
// gives x + round(σN), which is what is released. round(σN) is sampled exactly, with σ² an exact rational
// (noise.RoundedGaussian). ∎
//
// It is Δ₂²/(2σ²)-zCDP as well: N(x, σ²) and N(x′, σ²) have a Rényi divergence of α(x − x′)²/(2σ²) for all α > 1, which
// adds up over coordinates, and rounding does not raise it [Bun & Steinke 2016, Proposition 1.6 and Lemma 1.8].
//
// The discrete Gaussian of the same σ² would not do: its mass is not that of any rounding, and its least δ at ε = 1 and σ =
// 1 is .14135, where the continuous one's is .12694.
type AnalyticGaussian struct {
	L2Squared *big.Int        // the square of the L2 sensitivity of the whole vector, in the values' unit; at least 1
	Epsilon   privacy.Epsilon // above 0
	Delta     privacy.Delta   // above 0 and below 1
}

// maxCalibratedBits is of a δ that noise is calibrated to: 10⁻¹⁰⁰⁰ has fewer.
const maxCalibratedBits = 4096

// Sigma2 is σ², in squared units, a short rational; or ErrParameter.
func (m AnalyticGaussian) Sigma2() (*big.Rat, error) {
	if err := checkEpsilon(m.Epsilon); err != nil {
		return nil, err
	}
	if m.L2Squared == nil || m.L2Squared.Sign() <= 0 || m.L2Squared.BitLen() > noise.MaxVarianceBits {
		return nil, fmt.Errorf("%w: the Gaussian mechanism needs a squared sensitivity above 0, and below 2^%d", ErrParameter, noise.MaxVarianceBits)
	}
	if m.Delta.Rat().Denom().BitLen() > maxCalibratedBits {
		return nil, fmt.Errorf("%w: delta is too small, or too long a fraction", ErrParameter)
	}
	sigma2, err := account.GaussianSigma2(m.L2Squared, m.Epsilon, m.Delta)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return sigma2, nil
}

// Guarantee is the promise, for all values together: (Epsilon, Delta)-differential privacy.
func (m AnalyticGaussian) Guarantee() (privacy.Epsilon, privacy.Delta) { return m.Epsilon, m.Delta }

// Measure releases x with independent noise on each value. Its Loss is the zCDP that the noise has too; an accountant of
// (ε, δ) has Guarantee. The error is ErrParameter, and a function of the parameters alone.
func (m AnalyticGaussian) Measure(x []Exact) (Measurement, error) {
	sigma2, err := m.Sigma2()
	if err != nil {
		return Measurement{}, err
	}
	dist, err := noise.NewRoundedGaussian(sigma2)
	if err != nil {
		return Measurement{}, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	rho := new(big.Rat).SetInt(m.L2Squared)
	loss, err := privacy.RhoOf(rho.Quo(rho, new(big.Rat).Add(sigma2, sigma2)))
	if err != nil {
		return Measurement{}, err
	}
	return measure(x, sample.NewRoundedGaussian(sigma2), dist, privacy.ZCDPLoss(loss, privacy.Delta{})), nil
}
