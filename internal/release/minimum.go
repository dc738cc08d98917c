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

// Minimum is the minimum of a convex risk over the rows, with noise. The noise covers the largest change by one
// unit, the solver's tolerance and the rounding to the grid (learning.Minimiser has the proof). The two sums for
// the curvature are bounded contributions, evaluated at the coefficients already released, with independent noise.
// So the shares of the price add up.
type Minimum struct {
	numbersAlone
	*Regression // embedded for its methods; the access uses data
	data        *Regression
	solver      *learning.Minimiser
	parts       []Part // the coefficients, then the two sums for the curvature, if requested
}

// Solver returns the solver that finds the minimum.
func (m *Minimum) Solver() *learning.Minimiser { return m.solver }

// Parts returns the coefficients, and then the two sums for the curvature, if requested.
func (m *Minimum) Parts() []Part { return slices.Clone(m.parts) }

// Portion is the fraction Of/Parts of a price. Both are 0 for no share.
type Portion struct{ Of, Parts int64 }

// Minimum returns the primitive that minimises an objective over the rows of a regression. curvature is the share
// of the price for the two sums that intervals need.
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

// minimiser returns a solver for an objective over the rows of a regression. The units and bounds are those of the
// plan.
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

// Part is a vector of integers to which noise is added.
type Part struct {
	name          string
	grid, cells   int
	l1, l2squared *big.Int
	loss          privacy.Loss
	parameter     *big.Rat // the noise parameter, as in plan.Measure
	noise         plan.Noise
}

// Name returns the name of the vector p of the release, for the ledger.
func (p *Part) Name() string { return p.name }

// Grid returns the exponent of the vector's unit: its numbers are multiples of 2^Grid.
func (p *Part) Grid() int { return p.grid }

// Cells returns the number of entries of the vector.
func (p *Part) Cells() int { return p.cells }

// L1 returns the vector's L1 sensitivity, in grid units.
func (p *Part) L1() *big.Int { return new(big.Int).Set(p.l1) }

// L2Squared returns the square of the vector's L2 sensitivity, in squared grid units.
func (p *Part) L2Squared() *big.Int { return new(big.Int).Set(p.l2squared) }

// Loss returns the vector's share of the price.
func (p *Part) Loss() privacy.Loss { return p.loss }

// fitting refuses a response that is outside the domain of a loss function, by its bounds.
func fitting(loss learning.LossFunction, y *bounded.Measure) error {
	lo, hi := y.Units(big.NewInt(y.Lo)), y.Units(big.NewInt(y.Hi))
	switch {
	case loss == learning.LogisticLoss && (lo.Sign() < 0 || hi.Cmp(big.NewRat(1, 1)) > 0):
		return &EndedError{
			How:     Unsupported,
			Message: "a logistic loss needs a response with bounds between 0 and 1",
			Hint:    "select a condition, such as SELECT age, 1, income > 100 FROM people",
		}
	case loss == learning.PoissonLoss && lo.Sign() < 0:
		return &EndedError{
			How:     Unsupported,
			Message: "a Poisson loss needs a response with a lower bound of at least 0",
			Hint:    "select GREATEST(y, 0)",
		}
	case y.Reach().Sign() == 0:
		return &EndedError{How: Unsupported, Message: "by its bounds, the response is always " +
			"0", Hint: "select a column that varies"}
	}
	return nil
}

// share divides the price among the parts: the coefficients, and the two sums for the curvature.
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

// choose sets the noise of a part from its loss and sensitivity.
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

// Measure returns the part in the form in which measures are charged, recorded and compared. Its numbers are
// copies.
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

// describe returns the public parameters that the release depends on, as text for the replay key.
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

// access implements [Primitive].
func (m *Minimum) access(ctx context.Context, from reader) (out Values, err error) {
	rows, err := from.vectors(ctx, m.data)
	if err != nil {
		return out, err
	}
	defer func() { _ = rows.Close() }() // the file has no name, so closing it deletes it
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

// units converts multiples of 2^grid to doubles.
func units(values []*big.Int, grid int) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		f, _ := new(big.Float).SetInt(v).Float64()
		out[i] = math.Ldexp(f, grid)
	}
	return out
}
