package mechanism

import (
	"fmt"
	"math/big"

	"dither/internal/sample"
	"dither/noise"
	"dither/privacy"
)

// RoundedGaussian is the continuous Gaussian mechanism for a vector of integers, rounded to integers.
//
// Claim: the mechanism is Δ₂²/(2σ²)-zCDP, where σ² = Sigma2 and Δ₂² = L2Squared. Proof: let y = x + σN, where N is
// a vector of independent standard normal variables. For one coordinate, the Rényi divergence between N(x, σ²) and
// N(x′, σ²) is α(x − x′)²/(2σ²) for all α > 1. Divergences add up over the coordinates. Rounding y to the nearest
// integers is post-processing, which does not raise the divergence [Bun & Steinke 2016, Proposition 1.6 and Lemma
// 1.8]. Since x is a vector of integers, the rounded y equals x + round(σN), which is the release. round(σN) is
// sampled exactly, and σ² is an exact rational (see noise.RoundedGaussian). ∎
type RoundedGaussian struct {
	L2Squared *big.Int // the squared L2 sensitivity of the whole vector, in squared units of the values; at least 1
	Sigma2    *big.Rat // σ², the variance before rounding, in squared units of the values; above 0
}

// Noise returns the noise's distribution. It returns ErrParameter if L2Squared or Sigma2 is not above 0, or if
// Sigma2 is beyond the limits of package noise.
func (m RoundedGaussian) Noise() (noise.RoundedGaussian, error) {
	if m.L2Squared == nil || m.L2Squared.Sign() <= 0 || m.Sigma2 == nil || m.Sigma2.Sign() <= 0 {
		return noise.RoundedGaussian{},
			fmt.Errorf("%w: the rounded Gaussian mechanism needs a sensitivity and a variance above 0", ErrParameter)
	}
	dist, err := noise.NewRoundedGaussian(m.Sigma2)
	if err != nil {
		return noise.RoundedGaussian{}, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return dist, nil
}

// Loss returns the loss under zCDP, L2Squared/(2·Sigma2), exactly, or ErrParameter.
func (m RoundedGaussian) Loss() (privacy.Loss, error) {
	if _, err := m.Noise(); err != nil {
		return privacy.Loss{}, err
	}
	rho := new(big.Rat).SetInt(m.L2Squared)
	loss, err := privacy.RhoOf(rho.Quo(rho, new(big.Rat).Add(m.Sigma2, m.Sigma2)))
	if err != nil {
		return privacy.Loss{}, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	return privacy.ZCDPLoss(loss, privacy.Delta{}), nil
}

// Measure releases x with independent noise on each value. An error is ErrParameter, and depends on the parameters
// alone.
func (m RoundedGaussian) Measure(x []Exact) (Measurement, error) {
	dist, err := m.Noise()
	if err != nil {
		return Measurement{}, err
	}
	loss, err := m.Loss()
	if err != nil {
		return Measurement{}, err
	}
	return measure(x, sample.NewRoundedGaussian(dist.Sigma2()), dist, loss), nil
}
