package plan

import "dither/privacy"

// Noise is what is added to each cell of a measure.
type Noise string

// The kinds of noise, by the field's names.
const (
	Laplace  Noise = "discrete laplace"
	Gaussian Noise = "discrete gaussian"
)

// choose takes the noise of least variance that the share of the price pays for. Under a pure ε only Laplace noise has a loss.
// Under ρ, Gaussian noise has variance L2²/(2ρ) a cell, and Laplace noise of scale L1/√(2ρ), charged ε²/2 = ρ, about 2·L1²/(2ρ);
// L1 ≥ L2, so at no usual price is it the better one. (Charged less than ε²/2, as zCDP of large ε would allow, it could be.) The
// analytic calibration of a continuous Gaussian certifies no discrete one, and is not used.
func (m *Measure) choose() (err error) {
	if e, pure := m.Loss.Pure(); pure {
		m.Noise = Laplace
		m.Parameter, err = privacy.LaplaceScale(m.L1, e)
		return err
	}
	rho, _ := m.Loss.ZCDP()
	m.Noise = Gaussian
	m.Parameter, err = privacy.GaussianSigma2(m.L2Squared, rho)
	return err
}
