package marginal

import (
	"context"
	"fmt"
	"math"

	"dither/curator"
	"dither/mechanism/linear"
)

// maxWeight is the largest weight of a part's share of the price.
const maxWeight = 1 << 40

// DomainOf returns the domain of a question for [Plan.Measure]: SELECT COUNT(*) FROM t WHERE … GROUP BY k1, k2, …, or
// with SUM(x) in place of COUNT(*). The keys must be known. The i-th attribute has the i-th name, and the known values
// of the i-th key, in increasing order. It spends nothing and reads no row.
func DomainOf(ctx context.Context, s *curator.Session, r curator.Request, names ...string) (*Domain, error) {
	of, err := s.Domain(ctx, r)
	if err != nil {
		return nil, err
	}
	return From(s, of, r, names...)
}

// From returns the domain of a question as [DomainOf] does, from the curator's description of its keys. Plans over it do not
// ask for this description again.
func From(s *curator.Session, of *curator.Domain, r curator.Request, names ...string) (*Domain, error) {
	if len(names) != len(of.Values) {
		return nil, fmt.Errorf("marginal: the question has %d keys and %d names: name each key", len(of.Values), len(names))
	}
	attributes := make([]Attribute, len(names))
	for i, name := range names {
		attributes[i] = Attribute{Name: name, Size: len(of.Values[i])}
	}
	d, err := NewDomain(attributes...)
	if err == nil {
		d.session, d.asked, d.request = s, of, r
	}
	return d, err
}

// described returns the curator's description of a question's keys, which the domain has if it is the question's own.
func (d *Domain) described(ctx context.Context, s *curator.Session, r curator.Request) (*curator.Domain, error) {
	r.Fresh = d.request.Fresh // a description is the same for a fresh measurement
	if d.session == s && d.request == r {
		return d.asked, nil
	}
	return s.Domain(ctx, r)
}

// Strategies returns the requests that measure the plan, each of which is one release. Most plans need one. The i-th
// key of the question is the i-th attribute of the domain. The shares of the price are integers of the plan's shares,
// rounded to a relative precision of at least 2⁻⁴⁰ of the largest.
//
// A plan of more than 2²² numbers, or 2²³ cells, has several releases. If the numbers are so long that fewer fit into a
// release, a plan of more than 2²⁰ numbers has several. Their prices are the shares of the request's price, rounded
// down to 18 digits. So they add up to at most the price.
//
// It returns an error if the sizes of the domain are not those of the question, so nothing is spent on a plan for other
// data.
func (p *Plan) Strategies(ctx context.Context, s *curator.Session, r curator.Request) ([]curator.Strategy, error) {
	d := p.Domain()
	asked, err := d.described(ctx, s, r)
	if err != nil {
		return nil, err
	}
	if len(asked.Values) != len(d.attributes) {
		return nil, fmt.Errorf(
			"marginal: the question has %d keys, and the domain %d attributes", len(asked.Values), len(d.attributes),
		)
	}
	for i, a := range d.attributes {
		if n := len(asked.Values[i]); n != a.Size {
			return nil, fmt.Errorf(
				"marginal: key %d of the question has %d known values, and attribute %q has %d", i+1, n, a.Name, a.Size,
			)
		}
	}
	parts, err := p.measured()
	if err != nil {
		return nil, err
	}
	all, err := releasesOf(ctx, s, r, asked.Price, parts, p.limits)
	for i := range all {
		all[i].Choice = p.kept
	}
	return all, err
}

// measured returns the parts that the plan measures.
func (p *Plan) measured() (out []curator.StrategyPart, err error) {
	largest := 0.0
	if p.tables != nil {
		tables, weights := p.tables.measured(p)
		for _, w := range weights {
			largest = max(largest, w)
		}
		for i, members := range tables {
			part := curator.StrategyPart{Keys: members, Weight: int64(max(1, math.Round(weights[i]/largest*maxWeight)))}
			if part.Queries, err = linear.NewStrategy(p.cellByCell(members)); err != nil {
				return nil, err
			}
			out = append(out, part)
		}
		return out, nil
	}
	for _, share := range p.shares {
		largest = max(largest, share)
	}
	matrices := map[*factor]linear.Matrix{}
	for _, members := range p.parts() {
		class, _ := p.residuals.class(of(members...))
		part := curator.StrategyPart{
			Keys: members, Weight: int64(max(1, math.Round(p.shares[class]/largest*maxWeight))),
		}
		product := linear.Product{}
		for _, m := range members {
			matrix, known := matrices[p.factors[m]]
			if !known {
				if matrix, err = p.factors[m].integers(); err != nil {
					return nil, err
				}
				matrices[p.factors[m]] = matrix
			}
			product = append(product, matrix)
		}
		if len(members) == 0 {
			product = linear.Product{linear.Identity(1)}
		}
		if part.Queries, err = linear.NewStrategy(product); err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}

// parts returns the subsets that are measured, each once.
func (p *Plan) parts() (out [][]int) {
	seen := map[subset]bool{}
	p.residuals.workload.each(func(members []int) {
		var split []int
		for _, m := range members {
			if p.factors[m].size > 1 {
				split = append(split, m)
			}
		}
		subsets(split, func(s subset) {
			if !seen[s] {
				seen[s] = true
				out = append(out, s.members())
			}
		})
	})
	return out
}

// integers returns R.
func (f *factor) integers() (linear.Matrix, error) {
	if f.rows == nil {
		return linear.Centred(f.size), nil
	}
	return linear.Dense(f.rows)
}

// Explain states the price and the noise of [Plan.Measure], at no cost. The price is that of all releases.
func (p *Plan) Explain(
	ctx context.Context, s *curator.Session, r curator.Request,
) (*curator.StrategyExplanation, error) {
	all, err := p.Strategies(ctx, s, r)
	if err != nil {
		return nil, err
	}
	x, _, err := explained(ctx, s, r, all)
	return x, err
}

// Measure measures the plan for the price of the request, and returns estimates of all marginals that it determines.
// The question is as for [DomainOf]. Its keys are the attributes of the plan's domain, in order.
//
// The loss is at most the price: the kernel divides it among the parts, and proves the sensitivity of each integer
// matrix. The request for a plan in ρ should have a price in ρ, and one in ε a price in ε. Otherwise the shares are not
// the best ones, but the estimates and their variances are right, because they use the noise that was drawn.
//
// A large plan takes several releases (see [Plan.Strategies]). Measure plans all of them, and compares the price of
// those that were not released before with the remaining budget. Only then it measures the first. If it is interrupted,
// or if other questions spend the budget meanwhile, the releases until then stay recorded and charged. The same call
// replays them free and pays for the others alone, unless the request is Fresh.
//
// If the policy declares totals of the question's table, and the question counts all its rows, the estimates have them
// without error. [Plan.Errors] leaves them out.
func (p *Plan) Measure(ctx context.Context, s *curator.Session, r curator.Request) (*Estimate, error) {
	all, err := p.Strategies(ctx, s, r)
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		x, unpaid, err := explained(ctx, s, r, all)
		if err != nil {
			return nil, err
		}
		if !x.Affordable {
			return nil, &curator.Error{
				Code: curator.CodeExhausted,
				Message: fmt.Sprintf("the plan needs %d more releases for %s together, and %s remains", unpaid, x.Price.Amount(),
					x.Remaining.Amount()),
				Hint: "lower the price, or measure fewer marginals; nothing was measured",
			}
		}
	}
	e := &Estimate{plan: p, parts: map[subset]*part{}}
	for i, q := range all {
		m, err := s.MeasureStrategy(ctx, q)
		if err != nil && len(all) > 1 {
			return nil, fmt.Errorf("marginal: release %d of %d (ask again: those before it are replayed free): %w", i+1, len(all), err)
		}
		if err != nil {
			return nil, err
		}
		e.add(m)
		for i := range m.Parts {
			if len(all) > 1 {
				m.Parts[i].Values = nil
			}
		}
	}
	if p.tables != nil {
		e.settle()
	}
	of, err := p.Domain().described(ctx, s, r)
	if err != nil {
		return nil, err
	}
	e.declare(of)
	return e, nil
}

// add reconstructs the parts of a release.
func (e *Estimate) add(m *curator.StrategyMeasurement) {
	e.Releases = append(e.Releases, m)
	for _, measured := range m.Parts {
		unit, _ := measured.Unit.Float64()
		t := &part{
			members: measured.Keys, variance: measured.Noise.Variance() * unit * unit, noise: measured.Noise, unit: unit,
		}
		values := make([]float64, len(measured.Values))
		for i, v := range measured.Values {
			values[i], _ = v.Float64()
			values[i] *= unit
		}
		if e.plan.tables != nil {
			e.tables = append(e.tables, measuredTable{t.members, t.variance, t.noise, t.unit, values})
			continue
		}
		t.values = e.plan.solve(t.members, values)
		e.parts[of(t.members...)] = t
	}
}
