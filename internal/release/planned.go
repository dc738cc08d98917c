package release

import (
	"errors"
	"fmt"
	"math/big"

	"dither/internal/plan"
	"dither/mechanism"
	"dither/noise"
	"dither/privacy"
)

// The functions below compare what a mechanism reports about itself with what was planned, charged and recorded.
// The two are computed separately: the plan's parameter from the sensitivity that the plan proves, and the
// mechanism's from its arguments. A difference is a defect. Then nothing is released: the question fails as if an
// engine had failed, and the owner gets the details.

// ErrUnplanned reports a mechanism that differs from the planned one.
var ErrUnplanned = errors.New("defect: a mechanism differs from the plan; please report it")

// measuredAsPlanned compares a measurement with its plan: the noise, its exact parameter, and the loss.
func measuredAsPlanned(m *plan.Measure, got mechanism.Measurement) error {
	var parameter *big.Rat
	switch d := got.Noise.(type) {
	case noise.DiscreteLaplace:
		if m.Noise == plan.Laplace {
			parameter = d.Scale()
		}
	case noise.DiscreteGaussian:
		if m.Noise == plan.Gaussian {
			parameter = d.Sigma2()
		}
	}
	if parameter == nil || parameter.Cmp(m.Parameter) != 0 {
		return fmt.Errorf(
			"%w: the noise of %s is %T of parameter %v, and was planned as %s of %s",
			ErrUnplanned,
			m,
			got.Noise,
			parameter,
			m.Noise,
			m.Parameter,
		)
	}
	return costsAsPlanned(got.Loss, m.Loss)
}

// symmetricAsPlanned compares a measurement of symmetric matrices with its plan. Off the diagonal, the noise must
// have half the variance.
func symmetricAsPlanned(m *plan.Measure, got mechanism.SymmetricMeasurement) error {
	d, ok := got.OffDiagonal.(noise.DiscreteGaussian)
	if half := new(big.Rat).Quo(m.Parameter, big.NewRat(2, 1)); !ok || d.Sigma2().Cmp(half) != 0 {
		return fmt.Errorf(
			"%w: the noise off the diagonal is %T, and was planned as %s of %s",
			ErrUnplanned,
			got.OffDiagonal,
			m.Noise,
			half,
		)
	}
	return measuredAsPlanned(m, got.Measurement)
}

// costsAsPlanned returns an error unless the mechanism's loss equals the planned loss.
func costsAsPlanned(got, planned privacy.Loss) error {
	if !got.Within(planned) || !planned.Within(got) {
		return fmt.Errorf("%w: it costs %s, and was planned at %s", ErrUnplanned, got, planned)
	}
	return nil
}

// addsUp returns an error if the measures and other releases of a plan together cost more than the price of the plan.
func addsUp(p *plan.Plan) error {
	// `times` counts consecutive measures with the loss `last`
	total, last, times := privacy.Loss{}, privacy.Loss{}, int64(0)
	for _, m := range append(histograms(p), p.Vectors()...) { // the measures of every grouping
		if last != m.Loss { // m.Loss is usually that of the measure before, so equal losses are added in one step
			total, last, times = total.Plus(last.Share(times, 1)), m.Loss, 0
		}
		times++
	}
	total = total.Plus(last.Share(times, 1))
	for _, of := range p.Orders() {
		for _, q := range of.Quantiles {
			total = total.Plus(q.Loss)
		}
		for _, m := range of.Modes {
			total = total.Plus(m.Loss)
		}
	}
	if p.Selection != nil {
		total = total.Plus(p.Selection.Loss)
	}
	if p.Rows != nil {
		total = total.Plus(p.Rows.Loss)
	}
	if p.Truncation != nil {
		for _, m := range p.Truncation.Measures {
			total = total.Plus(m.Loss)
		}
	}
	if !total.Within(p.Price) {
		return fmt.Errorf("%w: its parts cost %s together, and its price is %s", ErrUnplanned, total, p.Price)
	}
	return nil
}

// sharesAddUp is addsUp for sums of vectors.
func sharesAddUp(m *plan.Moments) error {
	total := privacy.Loss{}
	for _, s := range m.Sums {
		total = total.Plus(s.Loss)
	}
	if !total.Within(m.Price) {
		return fmt.Errorf("%w: its sums cost %s together, and its price is %s", ErrUnplanned, total, m.Price)
	}
	return nil
}

// scaledAsPlanned returns an error unless the mechanism's noise scale equals the recorded one.
func scaledAsPlanned(got, planned *big.Rat) error {
	if got.Cmp(planned) != 0 {
		return fmt.Errorf("%w: its scale is %s, and was planned as %s", ErrUnplanned, got, planned)
	}
	return nil
}

// paidFor returns an error unless a price pays for a mechanism. Under a pure budget, the price must equal the
// mechanism's loss. Under zCDP, the price must be at least the mechanism's ρ. That is the parameter least unless it is
// zero, since some mechanisms have a smaller ρ than their pure loss implies.
func paidFor(price, loss, least privacy.Loss) error {
	if _, pure := price.Pure(); pure {
		return costsAsPlanned(loss, price)
	}
	if least.IsZero() {
		zcdp, err := loss.In(privacy.ZCDP)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnplanned, err)
		}
		least = zcdp
	}
	if !least.Within(price) {
		return fmt.Errorf("%w: it costs %s, at a price of %s", ErrUnplanned, least, price)
	}
	return nil
}
