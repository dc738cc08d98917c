package plan

import (
	"fmt"
	"math/big"

	"dither/noise"
	"dither/privacy"
)

// chosen are measures whose noise was chosen. One of the same share and the same sensitivities as an earlier one has the very same numbers, which
// are nobody's to change: a question of hundreds of aggregates has few of them.
type chosen []*Measure

// mostChosen bounds how many are compared.
const mostChosen = 64

func (c *chosen) choose(m *Measure) error {
	for _, o := range *c {
		if o.Loss == m.Loss && o.L1.Cmp(m.L1) == 0 && o.L2Squared.Cmp(m.L2Squared) == 0 {
			m.L1, m.L2Squared, m.Noise, m.Parameter = o.L1, o.L2Squared, o.Noise, o.Parameter
			return nil
		}
	}
	if err := m.choose(); err != nil {
		return err
	}
	if *c = append(*c, m); len(*c) > mostChosen {
		*c = (*c)[1:]
	}
	return nil
}

// Noise is what is added to each cell of a measure.
type Noise string

// The kinds of noise, by the field's names.
const (
	Laplace  Noise = "discrete laplace"
	Gaussian Noise = "discrete gaussian"
)

// Distribution is the noise of this kind with a parameter: a scale, or a variance. The error is that of the parameter, or
// of a kind that is none.
func (n Noise) Distribution(parameter *big.Rat) (noise.Distribution, error) {
	switch n {
	case Laplace:
		return noise.NewDiscreteLaplace(parameter)
	case Gaussian:
		return noise.NewDiscreteGaussian(parameter)
	}
	return nil, fmt.Errorf("%q is no kind of noise", string(n))
}

// Calibrated is the sensitivity that noise of this kind is calibrated to.
func (n Noise) Calibrated(l1, l2Squared *big.Int) *big.Int {
	if n == Gaussian {
		return l2Squared
	}
	return l1
}

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
