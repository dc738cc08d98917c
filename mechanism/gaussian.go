package mechanism

import (
	"fmt"
	"math/big"

	"dither/internal/sample"
	"dither/noise"
	"dither/privacy"
)

// Gaussian is the discrete Gaussian mechanism for a vector of integers [Canonne, Kamath & Steinke 2020].
//
// Claim: the mechanism is Rho-zCDP. Proof: let x and x′ be the vectors of neighbouring datasets. Then ‖x − x′‖₂² ≤
// L2Squared =: Δ₂². Let σ² = Δ₂²/(2ρ). The noise on each coordinate is independent, with mass proportional to
// exp(−z²/(2σ²)) over the integers. For one coordinate and an integer shift m, D_α(N + m ‖ N) ≤ αm²/(2σ²) for all α
// > 1. This is Proposition 5 of the paper: the sum over the integers of exp(−(z − αm)²/(2σ²)) is greatest when its
// centre is an integer, and then it cancels with the normaliser. Rényi divergences of independent coordinates add
// up: D_α ≤ α·Σm_i²/(2σ²) ≤ αΔ₂²/(2σ²) = αρ. The sampler draws exact integers, and σ² is an exact rational, so no
// step of the argument is rounded. ∎
type Gaussian struct {
	L2Squared *big.Int    // the squared L2 sensitivity of the whole vector, in squared units of the values; at least 1
	Rho       privacy.Rho // the loss of the whole vector
}

// Sigma2 returns the noise's parameter σ² = L2Squared/(2·Rho), exactly. It returns ErrParameter if L2Squared or Rho
// is not above 0.
func (m Gaussian) Sigma2() (*big.Rat, error) {
	if m.L2Squared == nil || m.L2Squared.Sign() <= 0 || m.Rho.IsZero() {
		return nil, fmt.Errorf("%w: the Gaussian mechanism needs a sensitivity and a rho above 0", ErrParameter)
	}
	return privacy.GaussianSigma2(m.L2Squared, m.Rho)
}

// Measure releases x with independent noise on each value. An error depends on the parameters alone: it is
// ErrParameter or comes from package noise.
func (m Gaussian) Measure(x []Exact) (Measurement, error) {
	sigma2, err := m.Sigma2()
	if err != nil {
		return Measurement{}, err
	}
	dist, err := noise.NewDiscreteGaussian(sigma2)
	if err != nil {
		return Measurement{}, err
	}
	return measure(x, sample.NewGaussian(sigma2), dist, privacy.ZCDPLoss(m.Rho, privacy.Delta{})), nil
}
