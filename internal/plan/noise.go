package plan

import (
	"fmt"
	"math/big"

	"dither/noise"
	"dither/privacy"
)

// chosen are measures whose noise is chosen. A measure with the same share and sensitivities as one of them gets
// pointers to the same numbers, which nobody changes. A question with hundreds of aggregates has few different
// ones.
type chosen []*Measure

// mostChosen bounds the number of measures that are compared.
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

// Noise is the kind of noise on each cell (group) of a measure.
type Noise string

// The kinds of noise.
const (
	Laplace  Noise = "discrete laplace"
	Gaussian Noise = "discrete gaussian"
)

// Distribution returns the noise of this kind with a parameter: the scale of Laplace noise, or the variance of
// Gaussian noise. It returns an error for an invalid parameter or an unknown kind.
func (n Noise) Distribution(parameter *big.Rat) (noise.Distribution, error) {
	switch n {
	case Laplace:
		return noise.NewDiscreteLaplace(parameter)
	case Gaussian:
		return noise.NewDiscreteGaussian(parameter)
	}
	return nil, fmt.Errorf("%q is no kind of noise", string(n))
}

// Calibrated returns the sensitivity to which noise of this kind is calibrated.
func (n Noise) Calibrated(l1, l2Squared *big.Int) *big.Int {
	if n == Gaussian {
		return l2Squared
	}
	return l1
}

// choose sets the noise of least variance that the share of the price pays for. Under a pure ε, only Laplace noise
// has a finite loss. Under ρ, Gaussian noise has variance L2²/(2ρ) a cell. Laplace noise of scale L1/√(2ρ), which
// costs ε²/2 = ρ, has variance of about 2·L1²/(2ρ). L1 ≥ L2, so Gaussian noise is better at all usual prices.
// (Laplace noise could be better at a tighter zCDP bound for large ε.) The analytic calibration of the continuous
// Gaussian mechanism proves nothing about discrete noise, and is not used.
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
