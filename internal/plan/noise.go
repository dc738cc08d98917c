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
// Under ρ, Gaussian noise has variance L2²/(2ρ) a cell; Laplace noise of scale L1/√(2ρ), whose loss ε²/2 is ρ, has 2·L1²/(2ρ),
// and L1 ≥ L2: so it is never the better one.
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
