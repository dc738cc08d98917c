package curator

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/derive"
	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/learning"
	"dither/noise"
	"dither/privacy"
)

// Loss functions that a Minimisation may name.
const (
	LogisticLoss = string(learning.LogisticLoss) // of a response from 0 to 1
	PoissonLoss  = string(learning.PoissonLoss)  // of a count; Radius × Bound is 30 at most
	HuberLoss    = string(learning.HuberLoss)    // squares as far as Width, and straight beyond
)

// OutputPerturbation is the mechanism of a Minimum.
const OutputPerturbation = "output perturbation"

// Minimisation asks for the coefficients θ that minimise a regularised empirical risk over the rows of a question: SELECT x1, x2, …, y
// FROM t WHERE …. Rows in which an item is NULL do not count. Decimals are texts.
type Minimisation struct {
	Question
	Loss       string // one of the loss functions
	Width      string // of HuberLoss
	Bound      string // of the predictors' L2 norm: a longer vector is scaled down to it; "" is what the items' own ranges give
	Radius     string // of the ball that θ is in
	Regularise string // Λ: the larger, the less noise, and the nearer to 0 θ is; it is added to the risk of all rows together
	// Rows is about how many rows there are: declared by the policy (0), or released before. Where there are more of them, Λ grows in
	// proportion. It is a parameter that no promise rests on.
	Rows int64
	// Curvature is the share of the price, a decimal below 1, of the two sums that intervals are computed from; "" for neither.
	Curvature string
}

// Minimum is a released minimum, in which noise of a known distribution is added to each coefficient.
type Minimum struct {
	ID           string
	Names        []string // of the predictors
	Coefficients Vector
	// Hessian and Products are the sums over rows of ℓ″·xxᵀ and of (ℓ′)²·xxᵀ at the released coefficients (those of Theta), without the
	// regulariser: of each the lower triangle, by row. nil where they were not asked for.
	Hessian, Products *Vector
	// Sensitivity is how far the minima of neighbours are apart at most, Tolerance how far from the true minimum the solver may be:
	// both in L2, and functions of public parameters. Regularise and Radius are as given; Bound is that of the norm.
	Sensitivity, Tolerance    float64
	Regularise, Radius, Bound float64
	Price, Remaining          Loss
	Replayed                  bool
}

// Theta are the released coefficients, in their own units, brought into the ball: post-processing.
func (m *Minimum) Theta() []float64 {
	unit, _ := m.Coefficients.Unit.Float64()
	out, length := make([]float64, len(m.Coefficients.Values)), 0.0
	for i, v := range m.Coefficients.Values {
		f, _ := new(big.Float).SetInt(v).Float64()
		out[i] = f * unit
		length = math.Hypot(length, out[i])
	}
	if length > m.Radius {
		for i := range out {
			out[i] *= m.Radius / length
		}
	}
	return out
}

// minimising is a Minimisation, decided.
type minimising struct {
	*regression
	solver *learning.Minimiser
	parts  []part // the coefficients, and the two sums
}

// part is a vector of integers that noise is added to.
type part struct {
	name          string
	grid, cells   int
	l1, l2squared *big.Int
	loss          privacy.Loss
	parameter     *big.Rat // of the noise, as of a plan.Measure
	noise         plan.Noise
}

// Minimize is the kernel's primitive for convex risks: the minimum over the rows, with noise that covers how far one unit moves it,
// the solver's tolerance and the grid (learning.Minimiser, where the proof stands). The two sums are of bounded contributions at the
// coefficients that were released before them, and their noise is independent: the shares of the price add up.
func (c *Curator) Minimize(ctx context.Context, q Minimisation) (*Minimum, error) {
	ctx = c.arrives(ctx)
	m, l, err := c.minimisation(q)
	if err != nil {
		return nil, c.public(err)
	}
	s, err := c.take(ctx, l, func(ctx context.Context, from engine.Sealed) ([][]*big.Int, error) { return c.minimum(ctx, m, from) })
	if err != nil {
		return nil, err
	}
	return c.minimised(m, s)
}

// ExplainMinimize tells what Minimize would give, free: everything but the values, the ID and what remains. Replayed says that it was released before.
func (c *Curator) ExplainMinimize(_ context.Context, q Minimisation) (*Minimum, error) {
	m, l, err := c.minimisation(q)
	if err != nil {
		return nil, c.public(err)
	}
	s := &seen{}
	if s.replayed, err = c.explicable(l); err != nil {
		return nil, err
	}
	out, err := c.told(m, s)
	if err != nil {
		return nil, c.public(err)
	}
	out.ID = ""
	return out, nil
}

// minimisation decides all that is public, and the look.
func (c *Curator) minimisation(q Minimisation) (*minimising, *look, error) {
	m, err := c.minimising(q)
	if err != nil {
		return nil, nil, err
	}
	cells, mechanisms := 0, []ledger.Mechanism{}
	for _, p := range m.parts {
		cells += p.cells
		mechanisms = append(mechanisms, p.recorded())
	}
	l, err := c.decided(m.regression, q.Question, m.Price, m.describe(), mechanisms, [2]int{cells, 1})
	if err != nil {
		return nil, nil, err
	}
	l.question, l.passes = OutputPerturbation+", "+q.Loss+": "+q.SQL, m.solver.Tries()
	if released, err := c.releasedBefore(l); err != nil || released {
		return m, l, err
	}
	return m, l, c.timely(m.solver, m.predictors())
}

// minimising decides what does not depend on sealed versions.
func (c *Curator) minimising(q Minimisation) (*minimising, error) {
	r, err := c.regress(q.Question, q.Bound)
	if err != nil {
		return nil, err
	}
	o := learning.Objective{Loss: learning.LossFunction(q.Loss), Response: r.response().Reach()}
	if o.Rows, err = c.aboutRows(r, q.Rows); err != nil {
		return nil, err
	}
	if o.Radius, err = positive("the radius", q.Radius); err != nil {
		return nil, err
	}
	if o.Regularise, err = positive("the regulariser", q.Regularise); err != nil {
		return nil, err
	}
	if q.Loss == HuberLoss {
		if o.Width, err = positive("the width", q.Width); err != nil {
			return nil, err
		}
	} else if q.Width != "" {
		return nil, &Error{Code: CodeUsage, Message: "a width is that of " + HuberLoss, Hint: "leave it out"}
	}
	if err := fitting(q.Loss, r.response()); err != nil {
		return nil, err
	}
	m := &minimising{regression: r}
	m.solver, err = learning.NewMinimiser(o, r.predictors(), r.bound, mechanism.Unit{Neighbours: r.Neighbours, MaxRows: r.Caps.Rows})
	if err != nil {
		return nil, &Error{Code: CodePolicy, Message: err.Error(), cause: err}
	}
	return m, m.share(q.Curvature)
}

// numbersPerSecond is how many predictors of rows a pass reads in a second, about.
const numbersPerSecond = 1e8

// timely refuses a minimum that may take longer than an answer may: that would be charged, and told as a failure. Newton's method takes a few passes for the smooth losses; Huber's it may
// fail for, and then so many accelerated steps as public parameters say are taken.
func (c *Curator) timely(m *learning.Minimiser, predictors int) error {
	o := m.Objective()
	timeout := c.timeout()
	if o.Loss != learning.HuberLoss || float64(m.Tries())*float64(o.Rows)*float64(predictors+1) <= numbersPerSecond*timeout.Seconds() {
		return nil
	}
	return &Error{
		Code: CodePolicy, Message: fmt.Sprintf("over %d rows so weak a regulariser and so narrow a width may take %d passes, which is more than the %s that an answer may take", o.Rows, m.Tries(), timeout),
		Hint: "make Regularise or Width larger, Bound smaller, or say that there are fewer Rows",
	}
}

// fitting refuses responses that a loss has no sense for.
func fitting(loss string, y *bounded.Measure) error {
	lo, hi := y.Units(big.NewInt(y.Lo)), y.Units(big.NewInt(y.Hi))
	switch {
	case loss == LogisticLoss && (lo.Sign() < 0 || hi.Cmp(big.NewRat(1, 1)) > 0):
		return &Error{Code: CodePolicy, Message: "the response of a logistic loss lies between 0 and 1, by its bounds", Hint: "select a condition, as in: SELECT age, 1, income > 100 FROM people"}
	case loss == PoissonLoss && lo.Sign() < 0:
		return &Error{Code: CodePolicy, Message: "the response of a Poisson loss is a count: not below 0, by its bounds", Hint: "select GREATEST(y, 0)"}
	case y.Reach().Sign() == 0:
		return &Error{Code: CodePolicy, Message: "the response is 0 by its bounds", Hint: "select what varies"}
	}
	return nil
}

// share divides the price.
func (m *minimising) share(curvature string) error {
	rest := m.Price
	l1, l2 := m.solver.L1(), m.solver.L2Squared()
	m.parts = []part{{name: OutputPerturbation, grid: m.solver.Grid(), cells: m.predictors(), l1: l1, l2squared: l2}}
	if curvature != "" {
		of, parts, err := shareOf("the share of the curvature", curvature)
		if err != nil {
			return err
		}
		each := m.Price.Share(of, 2*parts)
		hessian, products := m.solver.Curvatures()
		size := m.predictors() * (m.predictors() + 1) / 2
		m.parts = append(m.parts,
			part{name: "curvature", grid: hessian.Grid, cells: size, l1: hessian.L1, l2squared: hessian.L2Squared, loss: each},
			part{name: "products of gradients", grid: products.Grid, cells: size, l1: products.L1, l2squared: products.L2Squared, loss: each})
		rest = rest.Minus(each).Minus(each)
	}
	m.parts[0].loss = rest
	for i := range m.parts {
		if err := m.parts[i].choose(); err != nil {
			return unusable(err)
		}
	}
	return nil
}

// choose fixes a part's noise.
func (p *part) choose() (err error) {
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

// measure is the part as a measure: what it is charged, recorded and compared as.
func (p *part) measure() *plan.Measure {
	return &plan.Measure{Measure: bounded.Measure{Kind: bounded.CountRows}, L1: p.l1, L2Squared: p.l2squared, Loss: p.loss, Noise: p.noise, Parameter: p.parameter}
}

func (p *part) recorded() ledger.Mechanism {
	out := measureMechanism(p.measure(), p.cells)
	out.Name = p.name + ": " + out.Name
	return out
}

// describe writes what a minimum depends on, beside its rows.
func (m *minimising) describe() string {
	o := m.solver.Objective()
	width := ""
	if o.Width != nil {
		width = " width=" + exact.FormatRat(o.Width)
	}
	text := fmt.Sprintf("%s %s%s radius=%s regularise=%s rows=%d tolerance=%g passes=%d", OutputPerturbation, o.Loss, width,
		exact.FormatRat(o.Radius), exact.FormatRat(o.Regularise), o.Rows, m.solver.Tolerance(), m.solver.Passes())
	for _, p := range m.parts {
		text += fmt.Sprintf("\n%s grid=%d l1=%s l2squared=%s %s %s %s", p.name, p.grid, p.l1, p.l2squared, p.noise, p.parameter.RatString(), p.loss)
	}
	return text
}

// minimum looks at the rows.
func (c *Curator) minimum(ctx context.Context, m *minimising, from engine.Sealed) (out [][]*big.Int, err error) {
	rows, err := c.stream(ctx, m.regression, from)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // it has no name: nothing is left of it
	release := func(p *part, x []mechanism.Exact) ([]*big.Int, error) {
		noisy, err := noisily(p.measure(), x)
		if err == nil {
			err = measuredAsPlanned(p.measure(), noisy)
		}
		for _, v := range noisy.Values {
			out = append(out, []*big.Int{v})
		}
		return noisy.Values, err
	}
	x, err := m.solver.Minimum(ctx, rows)
	if err != nil {
		return nil, err
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

// minimised reads what was released.
func (c *Curator) minimised(m *minimising, s *seen) (*Minimum, error) {
	out, err := c.told(m, s)
	if err != nil {
		return nil, c.after(s, err)
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// told puts numbers, where there are any, beside all that is public of them.
func (c *Curator) told(m *minimising, s *seen) (*Minimum, error) {
	out := &Minimum{ID: s.name(), Names: m.Names[:m.predictors()], Price: c.loss(m.Price), Replayed: s.replayed, Sensitivity: m.solver.Sensitivity(), Tolerance: m.solver.Tolerance()}
	out.Regularise, _ = m.solver.Objective().Regularise.Float64()
	out.Radius, _ = m.solver.Objective().Radius.Float64()
	out.Bound, _ = m.bound.Float64()
	numbers := s.numbers
	for i, p := range m.parts {
		d, err := derive.NoiseOf(p.measure())
		if err != nil {
			return nil, err
		}
		var own [][]*big.Int
		if len(numbers) > 0 {
			own, numbers = numbers[:p.cells], numbers[p.cells:]
		}
		v := p.vector(d, own)
		v.Loss = c.loss(p.loss)
		switch i {
		case 0:
			out.Coefficients = v
		case 1:
			out.Hessian = &v
		default:
			out.Products = &v
		}
	}
	return out, nil
}

func (p *part) vector(d noise.Distribution, rows [][]*big.Int) Vector {
	unit := bounded.GridUnit(p.grid)
	v := Vector{Name: p.name, Unit: unit, Centre: new(big.Rat), Noise: d}
	for _, row := range rows {
		v.Values = append(v.Values, row[0])
	}
	return v
}
