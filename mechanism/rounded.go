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
// It is Δ₂²/(2σ²)-zCDP, σ² = Sigma2 and Δ₂² = L2Squared. Proof: let y = x + σN, N a vector of independent
// standard normal variables. N(x, σ²) and N(x′, σ²) have a Rényi divergence of α(x − x′)²/(2σ²) for all
// α > 1, which adds up over coordinates, and rounding y to the nearest integers looks at nothing but y, so that it
// does not raise the divergence [Bun & Steinke 2016, Proposition 1.6 and Lemma 1.8]. As x is a vector of integers, the
// rounded y is x + round(σN), which is what is released. round(σN) is sampled exactly, with σ² an exact rational
// (noise.RoundedGaussian). ∎
type RoundedGaussian struct {
	L2Squared *big.Int // the square of the L2 sensitivity of the whole vector, in the values' unit; at least 1
	Sigma2    *big.Rat // above 0, in the same unit
}

// Noise is the noise's distribution; or ErrParameter.
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

// Loss is Δ₂²/(2σ²), exactly; or ErrParameter.
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

// Measure releases x with independent noise on each value. The error is ErrParameter, and depends on the parameters
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
