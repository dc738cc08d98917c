package release

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/mechanism"
	"dither/mechanism/learning"
)

// Perturbed is the minimum of a logistic risk with noise inside the objective (learning.Perturbed has the proof), and
// the Hessian at the released coefficients if requested, with independent noise. So the shares of the price add up.
type Perturbed struct {
	numbersAlone
	*Regression // embedded for its methods; the access uses data
	data        *Regression
	solver      *learning.Perturbed
	each        *big.Rat   // the bound on each predictor
	parts       []NoisySum // the coefficients, then the Hessian, if requested
}

// Solver returns the solver that finds the minimum.
func (m *Perturbed) Solver() *learning.Perturbed { return m.solver }

// Parts returns the coefficients, and then the Hessian, if requested.
func (m *Perturbed) Parts() []NoisySum { return slices.Clone(m.parts) }

// Perturbed returns the primitive that minimises a perturbed objective over the rows of a regression. hessian is the
// share of the price for the Hessian; if its Parts are 0, the Hessian is not released.
func (k *Kernel) Perturbed(r *Regression, o learning.Objective, hessian Portion, by Asker) (*Perturbed, error) {
	if err := fitting(o.Loss, r.Response()); err != nil {
		return nil, err
	}
	price, pure := r.Price.Pure()
	if !pure {
		return nil, &EndedError{
			How: Unsupported, Message: "noise inside the objective has a price in ε alone", Hint: "ask for a Minimum, or for Derivatives",
		}
	}
	m := &Perturbed{Regression: r, data: r.copied(), each: r.reach()}
	unit := mechanism.Unit{Neighbours: r.Neighbours, MaxRows: r.Caps.Rows}
	var share NoisySum
	if hessian.Parts > 0 {
		d, err := learning.NewDerivatives(make([]float64, r.Predictors()), r.bound, m.each, nil, unit)
		if err != nil {
			return nil, &ParameterError{Err: err}
		}
		size := r.Predictors() * (r.Predictors() + 1) / 2
		share = NoisySum{name: "hessian", cells: size, of: d.Hessian(), loss: r.Price.Share(hessian.Of, hessian.Parts)}
		paid, _ := share.loss.Pure()
		price = price.Minus(paid)
	}
	o.Response = r.Response().Reach()
	var err error
	if m.solver, err = learning.NewPerturbed(o, r.Predictors(), r.bound, m.each, unit, price); err != nil {
		return nil, &ParameterError{Err: err, Price: true}
	}
	m.parts = []NoisySum{{name: "coefficients", cells: r.Predictors(), of: m.solver.Output(), loss: m.solver.OutputLoss()}}
	if hessian.Parts > 0 {
		m.parts = append(m.parts, share)
	}
	cells := 0
	mechanisms := []ledger.Mechanism{{
		Name: ObjectivePerturbation + ": cube", Sensitivity: exact.FormatRat(m.solver.Sensitivity()),
		Scale: exact.FormatRat(m.solver.Scale()), Cells: r.Predictors(),
	}}
	for i := range m.parts {
		if err := m.parts[i].choose(); err != nil {
			return nil, &ParameterError{Err: err, Price: true}
		}
		cells += m.parts[i].cells
		mechanisms = append(mechanisms, m.parts[i].recorded())
	}
	l, err := k.regressionLook(r, by, m.Price, m.describe(), mechanisms, cells, 1)
	if err != nil {
		return nil, err
	}
	l.passes = m.solver.Tries()
	m.numbersAlone = numbersAlone{l}
	return m, nil
}

// reach returns a bound on the magnitude of every predictor.
func (r *Regression) reach() *big.Rat {
	each := new(big.Rat)
	for _, of := range r.Measures[:r.Predictors()] {
		if reach := of.Reach(); reach.Cmp(each) > 0 {
			each = reach
		}
	}
	return each
}

// describe returns the public parameters that the release depends on, as text for the replay key.
func (m *Perturbed) describe() string {
	o := m.solver.Objective()
	text := fmt.Sprintf("%s %s radius=%s regularise=%s rows=%d tolerance=%g passes=%d scale=%s %s",
		ObjectivePerturbation, o.Loss, exact.FormatRat(o.Radius), exact.FormatRat(o.Regularise), o.Rows,
		m.solver.Tolerance(), m.solver.Passes(), m.solver.Scale().RatString(), m.solver.Loss())
	for i := range m.parts {
		p := &m.parts[i]
		text += fmt.Sprintf("\n%s grid=%d linf=%s %s %s", p.name, p.of.Grid, p.of.LInf, p.parameter.RatString(), p.loss)
	}
	return text
}

// access implements [Primitive].
func (m *Perturbed) access(ctx context.Context, from reader) (out Values, err error) {
	total := m.solver.Loss()
	for i := range m.parts {
		total = total.Plus(m.parts[i].loss)
	}
	if err := costsAsPlanned(total, m.data.Price); err != nil {
		return out, err
	}
	rows, err := from.vectors(ctx, m.data)
	if err != nil {
		return out, err
	}
	defer func() { _ = rows.Close() }() // the file has no name, so closing it deletes it
	x, err := m.solver.Minimum(ctx, rows)
	if err != nil {
		return out, err
	}
	released, err := m.parts[0].measure(x)
	if err != nil {
		return out, err
	}
	out.append(released.Values)
	if len(m.parts) == 1 {
		return out, nil
	}
	theta := units(released.Values, m.parts[0].of.Grid)
	m.solver.Within(theta)
	unit := mechanism.Unit{Neighbours: m.data.Neighbours, MaxRows: m.data.Caps.Rows}
	d, err := learning.NewDerivatives(theta, m.data.bound, m.each, nil, unit)
	if err != nil {
		return Values{}, err
	}
	if h := d.Hessian(); h.Grid != m.parts[1].of.Grid || h.LInf.Cmp(m.parts[1].of.LInf) != 0 {
		return Values{}, fmt.Errorf("%w: the sensitivity of the Hessian depends on the coefficients", ErrUnplanned)
	}
	_, hessian, err := d.Sums(ctx, rows)
	if err != nil {
		return Values{}, err
	}
	noisy, err := m.parts[1].measure(hessian)
	if err != nil {
		return Values{}, err
	}
	out.append(noisy.Values)
	return out, nil
}

// append adds rows of one number each.
func (v *Values) append(numbers []*big.Int) {
	for _, x := range numbers {
		v.Numbers = append(v.Numbers, []*big.Int{x})
	}
}
