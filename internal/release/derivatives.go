package release

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/noise"
	"dither/privacy"
)

// Derivatives is the gradient of a logistic risk at a public θ, and its Hessian if requested, with independent noise
// (learning.Derivatives has the proof of the sensitivities). So the shares of the price add up.
type Derivatives struct {
	numbersAlone
	*Regression // embedded for its methods; the access uses data
	data        *Regression
	of          *learning.Derivatives
	parts       []NoisySum // the gradient, then the Hessian, if requested
}

// Theta returns θ.
func (m *Derivatives) Theta() []float64 { return m.of.Theta() }

// Parts returns the gradient, and then the Hessian, if requested.
func (m *Derivatives) Parts() []NoisySum { return slices.Clone(m.parts) }

// Derivatives returns the primitive that releases derivatives at θ over the rows of a regression. hessian is the share
// of the price for the Hessian; if its Parts are 0, the Hessian is not released. leverage may be nil.
func (k *Kernel) Derivatives(
	r *Regression, theta []*big.Rat, leverage *big.Rat, hessian Portion, by Asker,
) (*Derivatives, error) {
	if err := fitting(learning.LogisticLoss, r.Response()); err != nil {
		return nil, err
	}
	m := &Derivatives{Regression: r, data: r.copied()}
	var at []float64
	for _, x := range theta {
		f, _ := x.Float64()
		at = append(at, f)
	}
	var err error
	m.of, err = learning.NewDerivatives(
		at, r.bound, r.reach(), leverage, mechanism.Unit{Neighbours: r.Neighbours, MaxRows: r.Caps.Rows},
	)
	if err == nil && len(at) != r.Predictors() {
		err = fmt.Errorf("%w: θ has %d numbers, and there are %d predictors", mechanism.ErrParameter, len(at), r.Predictors())
	}
	if err != nil {
		return nil, &ParameterError{Err: err}
	}
	if err := m.share(hessian); err != nil {
		return nil, &ParameterError{Err: err, Price: true}
	}
	cells, mechanisms := 0, []ledger.Mechanism{}
	for _, p := range m.parts {
		cells += p.cells
		mechanisms = append(mechanisms, p.recorded())
	}
	l, err := k.regressionLook(r, by, m.Price, m.describe(theta, leverage), mechanisms, cells, 1)
	if err != nil {
		return nil, err
	}
	m.numbersAlone = numbersAlone{l}
	return m, nil
}

// share divides the price between the gradient and the Hessian.
func (m *Derivatives) share(hessian Portion) (err error) {
	k := m.Predictors()
	rest := m.Price
	m.parts = []NoisySum{{name: "gradient", cells: k, of: m.of.Gradient()}}
	if hessian.Parts > 0 {
		share := m.Price.Share(hessian.Of, hessian.Parts)
		m.parts = append(m.parts, NoisySum{name: "hessian", cells: k * (k + 1) / 2, of: m.of.Hessian(), loss: share})
		rest = rest.Minus(share)
	}
	m.parts[0].loss = rest
	for i := range m.parts {
		if err := m.parts[i].choose(); err != nil {
			return err
		}
	}
	return nil
}

// NoisySum is a vector of integers with noise for its largest coordinate under a pure price, and for its L2 norm under
// ρ.
type NoisySum struct {
	name      string
	cells     int
	of        learning.Summed
	loss      privacy.Loss
	noise     noise.Distribution
	parameter *big.Rat // the scale under a pure price, else σ²
}

// Name returns the name of the sum, for the ledger.
func (p *NoisySum) Name() string { return p.name }

// Cells returns the number of entries.
func (p *NoisySum) Cells() int { return p.cells }

// Grid returns the exponent of the sum's unit: its numbers are multiples of 2^Grid.
func (p *NoisySum) Grid() int { return p.of.Grid }

// LInf returns the most that a number changes between neighbours, in grid units.
func (p *NoisySum) LInf() *big.Int { return new(big.Int).Set(p.of.LInf) }

// L2Squared returns the square of the sum's L2 sensitivity, in squared grid units.
func (p *NoisySum) L2Squared() *big.Int { return new(big.Int).Set(p.of.L2Squared) }

// Loss returns the sum's share of the price.
func (p *NoisySum) Loss() privacy.Loss { return p.loss }

// Noise returns the distribution of the noise on each number, in grid units.
func (p *NoisySum) Noise() noise.Distribution { return p.noise }

// choose sets the noise of the sum from its loss and sensitivity.
func (p *NoisySum) choose() (err error) {
	if e, pure := p.loss.Pure(); pure {
		d, err := mechanism.Cube{Sensitivity: p.of.LInf, Epsilon: e}.Noise(p.cells)
		if err != nil {
			return err
		}
		p.noise, p.parameter = d, d.Scale()
		return nil
	}
	rho, _ := p.loss.ZCDP()
	if p.parameter, err = (mechanism.Gaussian{L2Squared: p.of.L2Squared, Rho: rho}).Sigma2(); err == nil {
		p.noise, err = noise.NewDiscreteGaussian(p.parameter)
	}
	return err
}

// Names of the noise of a NoisySum in the ledger.
const (
	cubeNoise     = "discrete cube"
	gaussianNoise = "discrete gaussian"
)

func (p *NoisySum) recorded() ledger.Mechanism {
	name, sensitivity := gaussianNoise, p.of.L2Squared
	if _, pure := p.loss.Pure(); pure {
		name, sensitivity = cubeNoise, p.of.LInf
	}
	return ledger.Mechanism{
		Name: p.name + ": " + name, Sensitivity: sensitivity.String(), Scale: exact.FormatRat(p.parameter), Cells: p.cells,
	}
}

// measure adds the noise, and checks that it is the noise that was planned.
func (p *NoisySum) measure(x []mechanism.Exact) (got mechanism.Measurement, err error) {
	if e, pure := p.loss.Pure(); pure {
		got, err = mechanism.Cube{Sensitivity: p.of.LInf, Epsilon: e}.Measure(x)
	} else {
		rho, _ := p.loss.ZCDP()
		got, err = mechanism.Gaussian{L2Squared: p.of.L2Squared, Rho: rho}.Measure(x)
	}
	if err != nil {
		return got, err
	}
	var parameter *big.Rat
	switch d := got.Noise.(type) {
	case noise.DiscreteCube:
		if planned, ok := p.noise.(noise.DiscreteCube); ok && planned.Dimension() == d.Dimension() {
			parameter = d.Scale()
		}
	case noise.DiscreteGaussian:
		if _, ok := p.noise.(noise.DiscreteGaussian); ok {
			parameter = d.Sigma2()
		}
	}
	if parameter == nil || parameter.Cmp(p.parameter) != 0 {
		return got, fmt.Errorf("%w: the noise of the %s is %T of parameter %v, and was planned as %T of %s",
			ErrUnplanned, p.name, got.Noise, parameter, p.noise, p.parameter)
	}
	return got, costsAsPlanned(got.Loss, p.loss)
}

// describe returns the public parameters that the release depends on, as text for the replay key.
func (m *Derivatives) describe(theta []*big.Rat, leverage *big.Rat) string {
	var b strings.Builder
	b.WriteString(NewtonStep)
	for _, x := range theta {
		b.WriteString(" " + exact.FormatRat(x))
	}
	if leverage != nil {
		b.WriteString("\nleverage " + exact.FormatRat(leverage))
	}
	for i := range m.parts {
		p := &m.parts[i]
		fmt.Fprintf(&b, "\n%s grid=%d linf=%s l2squared=%s %s %s",
			p.name, p.of.Grid, p.of.LInf, p.of.L2Squared, p.parameter.RatString(), p.loss)
	}
	return b.String()
}

// access implements [Primitive].
func (m *Derivatives) access(ctx context.Context, from reader) (out Values, err error) {
	rows, err := from.vectors(ctx, m.data)
	if err != nil {
		return out, err
	}
	defer func() { _ = rows.Close() }() // the file has no name, so closing it deletes it
	gradient, hessian, err := m.of.Sums(ctx, rows)
	if err != nil {
		return out, err
	}
	for i, x := range [][]mechanism.Exact{gradient, hessian}[:len(m.parts)] {
		noisy, err := m.parts[i].measure(x)
		if err != nil {
			return Values{}, err
		}
		out.append(noisy.Values)
	}
	return out, nil
}
