package release

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/privacy"
)

// Minimum is the minimum of a convex risk over the rows, with noise that covers how far one unit moves it, the
// solver's tolerance and the grid (learning.Minimiser, where the proof stands). The two sums of its curvature are of
// bounded contributions at the coefficients that were released before them, and their noise is independent: the shares
// of the price add up.
type Minimum struct {
	numbersAlone
	*Regression // for its methods; what is carried out is data
	data        *Regression
	solver      *learning.Minimiser
	parts       []Part // the coefficients, and the two sums
}

// Solver finds the minimum.
func (m *Minimum) Solver() *learning.Minimiser { return m.solver }

// Parts are the coefficients, and the two sums.
func (m *Minimum) Parts() []Part { return slices.Clone(m.parts) }

// Portion is a part of a price: so many of so many; of none, both are 0.
type Portion struct{ Of, Parts int64 }

// Minimum is the primitive that minimises an objective over the rows of a regression. Curvature is the share of the
// price of two sums about it.
func (k *Kernel) Minimum(r *Regression, o learning.Objective, curvature Portion, by Asker) (*Minimum, error) {
	m := &Minimum{Regression: r, data: r.copied()}
	var err error
	if m.solver, err = minimiser(r, o); err != nil {
		return nil, err
	}
	if err := m.share(curvature); err != nil {
		return nil, err
	}
	cells, mechanisms := 0, []ledger.Mechanism{}
	for _, p := range m.parts {
		cells += p.cells
		mechanisms = append(mechanisms, p.recorded())
	}
	l, err := k.regressionLook(r, by, m.Price, m.describe(), mechanisms, cells, 1)
	if err != nil {
		return nil, err
	}
	l.passes = m.solver.Tries()
	m.numbersAlone = numbersAlone{l}
	return m, nil
}

// minimiser solves an objective over the rows of a regression, whose units and bounds are the plan's.
func minimiser(r *Regression, o learning.Objective) (*learning.Minimiser, error) {
	if err := fitting(o.Loss, r.Response()); err != nil {
		return nil, err
	}
	o.Response = r.Response().Reach()
	m, err := learning.NewMinimiser(
		o,
		r.Predictors(),
		r.bound,
		mechanism.Unit{Neighbours: r.Neighbours, MaxRows: r.Caps.Rows},
	)
	if err != nil {
		return nil, &ParameterError{Err: err}
	}
	return m, nil
}

// Part is a vector of integers that noise is added to.
type Part struct {
	name          string
	grid, cells   int
	l1, l2squared *big.Int
	loss          privacy.Loss
	parameter     *big.Rat // of the noise, as of a plan.Measure
	noise         plan.Noise
}

// Name says what the part is.
func (p *Part) Name() string { return p.name }

// Grid is the exponent of the unit of its numbers: they count multiples of 2^Grid.
func (p *Part) Grid() int { return p.grid }

// Cells is the number of its numbers.
func (p *Part) Cells() int { return p.cells }

// L1 is its L1 sensitivity, in grid units.
func (p *Part) L1() *big.Int { return new(big.Int).Set(p.l1) }

// L2Squared is the square of its sensitivity in L2, in grid units.
func (p *Part) L2Squared() *big.Int { return new(big.Int).Set(p.l2squared) }

// Loss is its share of the price.
func (p *Part) Loss() privacy.Loss { return p.loss }

// fitting refuses responses that a loss has no sense for.
func fitting(loss learning.LossFunction, y *bounded.Measure) error {
	lo, hi := y.Units(big.NewInt(y.Lo)), y.Units(big.NewInt(y.Hi))
	switch {
	case loss == learning.LogisticLoss && (lo.Sign() < 0 || hi.Cmp(big.NewRat(1, 1)) > 0):
		return &EndedError{
			How:     Unsupported,
			Message: "the response of a logistic loss lies between 0 and 1, by its bounds",
			Hint:    "select a condition, as in: SELECT age, 1, income > 100 FROM people",
		}
	case loss == learning.PoissonLoss && lo.Sign() < 0:
		return &EndedError{
			How:     Unsupported,
			Message: "the response of a Poisson loss is a count: not below 0, by its bounds",
			Hint:    "select GREATEST(y, 0)",
		}
	case y.Reach().Sign() == 0:
		return &EndedError{How: Unsupported, Message: "the response is 0 by its bounds", Hint: "select what varies"}
	}
	return nil
}

// share divides the price.
func (m *Minimum) share(curvature Portion) error {
	rest := m.Price
	l1, l2 := m.solver.L1(), m.solver.L2Squared()
	m.parts = []Part{{name: OutputPerturbation, grid: m.solver.Grid(), cells: m.Predictors(), l1: l1, l2squared: l2}}
	if curvature.Parts > 0 {
		each := m.Price.Share(curvature.Of, 2*curvature.Parts)
		hessian, products := m.solver.Curvatures()
		size := m.Predictors() * (m.Predictors() + 1) / 2
		m.parts = append(
			m.parts,
			Part{name: "curvature", grid: hessian.Grid, cells: size, l1: hessian.L1, l2squared: hessian.L2Squared, loss: each},
			Part{
				name:      "products of gradients",
				grid:      products.Grid,
				cells:     size,
				l1:        products.L1,
				l2squared: products.L2Squared,
				loss:      each,
			},
		)
		rest = rest.Minus(each).Minus(each)
	}
	m.parts[0].loss = rest
	for i := range m.parts {
		if err := m.parts[i].choose(); err != nil {
			return &ParameterError{Err: err, Price: true}
		}
	}
	return nil
}

// choose fixes a part's noise.
func (p *Part) choose() (err error) {
	if e, pure := p.loss.Pure(); pure {
		p.noise = plan.Laplace
		p.parameter, err = mechanism.Laplace{Sensitivity: p.l1, Epsilon: e}.Scale()
		return err
	}
	rho, _ := p.loss.ZCDP()
	p.noise = plan.Gaussian
	p.parameter, err = mechanism.Gaussian{L2Squared: p.l2squared, Rho: rho}.Sigma2()
	return err
}

// Measure is the part as a measure: what it is charged, recorded and compared as. Its numbers are copies.
func (p *Part) Measure() *plan.Measure {
	return &plan.Measure{
		Measure: bounded.Measure{Kind: bounded.CountRows}, L1: p.L1(), L2Squared: p.L2Squared(), Loss: p.loss, Noise: p.noise,
		Parameter: new(big.Rat).Set(p.parameter),
	}
}

func (p *Part) recorded() ledger.Mechanism {
	out := measureMechanism(p.Measure(), p.cells)
	out.Name = p.name + ": " + out.Name
	return out
}

// describe writes what a minimum depends on, beside its rows.
func (m *Minimum) describe() string {
	o := m.solver.Objective()
	width := ""
	if o.Width != nil {
		width = " width=" + exact.FormatRat(o.Width)
	}
	text := fmt.Sprintf(
		"%s %s%s radius=%s regularise=%s rows=%d tolerance=%g passes=%d",
		OutputPerturbation,
		o.Loss,
		width,
		exact.FormatRat(o.Radius),
		exact.FormatRat(o.Regularise),
		o.Rows,
		m.solver.Tolerance(),
		m.solver.Passes(),
	)
	for _, p := range m.parts {
		text += fmt.Sprintf(
			"\n%s grid=%d l1=%s l2squared=%s %s %s %s",
			p.name,
			p.grid,
			p.l1,
			p.l2squared,
			p.noise,
			p.parameter.RatString(),
			p.loss,
		)
	}
	return text
}

// access implements primitive.
func (m *Minimum) access(ctx context.Context, from reader) (out Values, err error) {
	rows, err := from.vectors(ctx, m.data)
	if err != nil {
		return out, err
	}
	defer func() { _ = rows.Close() }() // it has no name: nothing is left of it
	release := func(p *Part, x []mechanism.Exact) ([]*big.Int, error) {
		noisy, err := noisily(p.Measure(), x)
		if err == nil {
			err = measuredAsPlanned(p.Measure(), noisy)
		}
		for _, v := range noisy.Values {
			out.Numbers = append(out.Numbers, []*big.Int{v})
		}
		return noisy.Values, err
	}
	x, err := m.solver.Minimum(ctx, rows)
	if err != nil {
		return out, err
	}
	minimum, err := release(&m.parts[0], x)
	if err != nil || len(m.parts) == 1 {
		return out, err
	}
	hessian, products, err := m.solver.Curve(ctx, rows, units(minimum, m.parts[0].grid))
	if err == nil {
		_, err = release(&m.parts[1], hessian)
	}
	if err == nil {
		_, err = release(&m.parts[2], products)
	}
	return out, err
}

// units are integers of a grid as numbers.
func units(values []*big.Int, grid int) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		f, _ := new(big.Float).SetInt(v).Float64()
		out[i] = math.Ldexp(f, grid)
	}
	return out
}
