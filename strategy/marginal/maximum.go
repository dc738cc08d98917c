package marginal

import (
	"errors"
	"fmt"
	"math"
)

// The search for the least maximum ends at gapWanted, or after workMaximum steps of one term each.
const (
	gapWanted   = 1e-6
	workMaximum = 400_000_000
)

// Minimax returns ResidualPlanner's plan for the least [Plan.Maximum], with Gaussian noise. The second result is a
// certified lower bound on the Maximum of all plans that measure subsets of attributes as ResidualPlanner does. Weights
// have no influence on the shares. All attributes must have plain [Values].
//
// With multipliers λ_W that add up to 1, the largest variance is at least Σ λ_W·Var(W), and the least of that
// over all shares is (Σ √L_A)², as for a weighted sum: this is the lower bound. The search multiplies each λ_W by its
// marginal's variance relative to the mean, until bound and maximum agree to 1e-6. Marginals that a symmetry of the
// workload maps to each other share one λ, because the maximum is convex in the shares.
//
// Source: Xiao, He, Zhang and Kifer, NeurIPS 2023, whose solver this replaces.
func (w *Workload) Minimax() (*Plan, float64, error) {
	for _, it := range w.items {
		for _, m := range it.members {
			if a := w.domain.attributes[m]; a.Queries != Values {
				return nil, 0, fmt.Errorf(
					"marginal: the least maximum needs plain values, and attribute %q has %v: use the decomposition",
					a.Name, a.Queries,
				)
			}
		}
	}
	p := &Plan{limits: releaseLimits, Name: "residual planner (maximum)", factors: w.factors(flat), residuals: w.residuals()}
	s := newSearch(p)
	terms := 0
	for _, t := range p.residuals.terms {
		terms += len(t)
	}
	for range max(100, workMaximum/terms) {
		if s.step(); s.least <= s.bound*(1+gapWanted) {
			break
		}
	}
	if s.shares == nil {
		return nil, 0, errors.New("marginal: the sizes differ by too much for arithmetic in floating point")
	}
	p.shares = s.shares
	p.evaluate(p.loads())
	return p, math.Sqrt(s.bound) * (1 - slack), nil
}

// search is the state of the search for the least maximum.
type search struct {
	count        []float64 // of the subsets, by class
	terms        [][]term  // by item
	base         []float64 // by item: the product of the squared means
	ratio        []float64 // by class
	lambda       []float64 // by item: the multiplier of all its marginals together
	loads        []float64 // by class: of all its subsets together
	bound, least float64   // the best so far
	shares       []float64 // those with the least maximum so far
}

// newSearch begins with equal multipliers.
func newSearch(p *Plan) *search {
	r := p.residuals
	spread := func(m int) float64 { return p.factors[m].front[0].spread }
	mean := func(m int) float64 { return p.factors[m].front[0].mean }
	s := &search{
		count: r.count, terms: r.terms, ratio: r.ratios(spread, mean), least: math.Inf(1), loads: make([]float64, len(r.count)),
	}
	for _, it := range r.workload.items {
		base := 1.0
		for _, m := range it.members {
			base *= mean(m)
		}
		s.base = append(s.base, base)
		s.lambda = append(s.lambda, 1/float64(len(r.workload.items)))
	}
	return s
}

// step computes the bound of the multipliers and the maximum of the shares that attain it. Then it updates the
// multipliers.
func (s *search) step() {
	clear(s.loads)
	for i, terms := range s.terms {
		for _, t := range terms {
			s.loads[t.class] += s.lambda[i] * t.count * s.base[i] * s.ratio[t.class]
		}
	}
	total := 0.0
	shares := make([]float64, len(s.loads))
	for class, l := range s.loads {
		shares[class] = math.Sqrt(l / s.count[class])
		total += s.count[class] * shares[class]
	}
	for class := range shares {
		shares[class] /= total
	}
	bound, most, sum := total*total, 0.0, 0.0
	for i, terms := range s.terms {
		variance := 0.0
		for _, t := range terms {
			variance += t.count * s.base[i] * s.ratio[t.class] / shares[t.class]
		}
		most = max(most, variance)
		s.lambda[i] = max(s.lambda[i]*variance/bound, 1e-100)
		sum += s.lambda[i]
	}
	for i := range s.lambda {
		s.lambda[i] /= sum
	}
	s.bound = max(s.bound, bound)
	if most < s.least {
		s.least, s.shares = most, shares
	}
}
