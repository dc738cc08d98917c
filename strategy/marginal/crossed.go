package marginal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"dither/curator"
	"dither/mechanism/linear"
	"dither/noise"
	"dither/strategy"
	"dither/strategy/product"
)

// ErrCrossed reports a workload for which [Workload.Crossed] has no plan.
var ErrCrossed = errors.New("marginal: no products of matrices for these marginals")

// Crossed measures marginals by products of a matrix for each attribute, such as p-identity. For a price in ε and attributes
// with prefixes or ranges, it is often far better than the plans of [Workload.Choose], whose matrices are for Gaussian
// noise.
type Crossed struct {
	*product.Choice
	Plan     *product.Plan // what is measured: the best plan in which all marginals agree with each other
	workload *Workload
	of       *product.Workload
	terms    map[subset]int // the term of each marginal
	unit     strategy.Unit
}

// Crossed compares plans by products. It returns ErrCrossed if no measurement can release one, or if the marginals are too
// many. If the session is not nil, it returns the choice that [Crossed.Measure] recorded in the home.
func (w *Workload) Crossed(s *curator.Session, u strategy.Unit) (*Crossed, error) {
	if w.Count() > product.MaxTerms || len(w.domain.attributes) > product.MaxColumns {
		return nil, ErrCrossed
	}
	asked, totals, err := w.domain.factors()
	if err != nil {
		return nil, err
	}
	c, terms := &Crossed{workload: w, terms: map[subset]int{}, unit: u}, []product.Term(nil)
	most, weights := 1e6, map[subset]float64{} // package product has weights up to 10⁶. Only their ratios count
	for _, it := range w.items {
		most = max(most, it.weight)
	}
	for _, it := range w.items {
		weights[of(it.members...)] = min(it.weight*(1e6/most), 1e6)
	}
	w.each(func(members []int) {
		t := product.Term{Factors: slices.Clone(totals), Weight: weights[w.canonical(of(members...))]}
		for _, m := range members {
			t.Factors[m] = asked[m]
		}
		c.terms[of(members...)] = len(terms)
		terms = append(terms, t)
	})
	if c.of, err = product.NewWorkload(terms...); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCrossed, err)
	}
	if c.Choice, err = product.Choose(c.of, u); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCrossed, err)
	}
	if c.Plan = c.Agreeing; c.Plan == nil {
		return nil, ErrCrossed
	}
	if s != nil {
		if kept, err := product.Restore(c.of, u, s.Choice(c.text())); err == nil && kept.Name == c.Plan.Name {
			c.Plan = kept
		}
	}
	return c, nil
}

// factors returns, for each attribute, its questions and its total.
func (d *Domain) factors() (asked, totals []product.Factor, err error) {
	for _, a := range d.attributes {
		if a.Size > product.MaxValues {
			return nil, nil, ErrCrossed
		}
		f := product.Values(a.Size)
		if a.Queries != Values {
			queries := strategy.Prefixes
			if a.Queries == Ranges {
				queries = strategy.Ranges
			}
			w, err := queries(a.Size)
			if err != nil {
				return nil, nil, fmt.Errorf("%w: %w", ErrCrossed, err)
			}
			f = product.Of(w)
		}
		asked, totals = append(asked, f), append(totals, product.Total(a.Size))
	}
	return asked, totals, nil
}

// text determines the workload and the unit, for the home.
func (c *Crossed) text() string {
	return fmt.Sprintf("crossed marginals 1\nunit %d\n%s", c.unit, c.of.Digest())
}

// request returns the measurement of the plan.
func (c *Crossed) request(r curator.Request) (out curator.Strategy, err error) {
	parts, err := c.Plan.Parts()
	if err != nil {
		return out, err
	}
	out.Request = r
	for _, p := range parts {
		queries, err := linear.NewStrategy(p.Queries)
		if err != nil {
			return out, err
		}
		out.Parts = append(out.Parts, curator.StrategyPart{Keys: p.Columns, Queries: queries, Weight: p.Weight})
	}
	if data, err := c.Plan.Record(); err == nil {
		out.Choice = curator.Choice{Of: c.text(), Data: data}
	}
	return out, nil
}

// Explain states the price and the noise of [Crossed.Measure], at no cost.
func (c *Crossed) Explain(ctx context.Context, s *curator.Session, r curator.Request) (*curator.StrategyExplanation, error) {
	q, err := c.request(r)
	if err != nil {
		return nil, err
	}
	return s.ExplainStrategy(ctx, q)
}

// Measure measures the plan. The question is as for [Plan.Measure]. Totals that the policy declares are not used.
func (c *Crossed) Measure(ctx context.Context, s *curator.Session, r curator.Request) (*CrossedEstimate, error) {
	q, err := c.request(r)
	if err != nil {
		return nil, err
	}
	m, err := s.MeasureStrategy(ctx, q)
	if err != nil {
		return nil, err
	}
	e := &CrossedEstimate{Release: m, of: c}
	for _, p := range m.Parts {
		unit, _ := p.Unit.Float64()
		values := make([]float64, len(p.Values))
		for i, v := range p.Values {
			values[i], _ = v.Float64()
			values[i] *= unit
		}
		e.values, e.units = append(e.values, values), append(e.units, unit)
	}
	return e, nil
}

// CrossedEstimate has the estimates of a measured [Crossed] plan. They are unbiased, and sums of the same measurements. So they
// agree with each other.
type CrossedEstimate struct {
	Release *curator.StrategyMeasurement
	of      *Crossed
	values  [][]float64 // by part
	units   []float64
}

// Answer returns the estimate of a query whose attributes are those of a marginal of the workload, the standard deviation of
// its noise, and an interval of the given confidence, between 0 and 1. The half-width bounds a quantile of the exact
// distribution of the noise (noise.Combination).
func (e *CrossedEstimate) Answer(q Query, confidence float64) (value, deviation, low, high float64, err error) {
	fail := func(format string, args ...any) (float64, float64, float64, float64, error) {
		return 0, 0, 0, 0, fmt.Errorf("marginal: "+format, args...)
	}
	if !(confidence > 0 && confidence < 1) {
		return fail("the confidence must be between 0 and 1, and is %v", confidence)
	}
	d := e.of.workload.domain
	query, members := make([][]float64, len(d.attributes)), []int(nil)
	for name, coefficients := range q {
		i, known := d.position[name]
		if !known || len(coefficients) != d.attributes[i].Size {
			return fail("the query has %d coefficients for attribute %q", len(coefficients), name)
		}
		query[i], members = coefficients, append(members, i)
	}
	term, known := e.of.terms[of(members...)]
	if !known {
		return fail("no marginal of the workload has the attributes %s", strings.Join(d.names(members), ", "))
	}
	shares, err := e.of.Plan.Estimate(term, query)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	var off noise.Combination
	for _, share := range shares {
		times := map[float64]float64{}
		for i, row := range share.Rows {
			value += share.Weights[i] * e.values[share.Part][row]
			times[math.Abs(share.Weights[i])]++
		}
		sizes := make([]float64, 0, len(times))
		for size := range times {
			sizes = append(sizes, size)
		}
		slices.Sort(sizes)
		for _, size := range sizes {
			off.Add(size*e.units[share.Part]*(1+1e-12), e.Release.Parts[share.Part].Noise, times[size])
		}
	}
	half := off.Quantile(1 - confidence)
	return value, off.StdDev(), value - half, value + half, nil
}

// names returns the names of attributes.
func (d *Domain) names(members []int) (out []string) {
	for _, m := range members {
		out = append(out, d.attributes[m].Name)
	}
	slices.Sort(out)
	return out
}
