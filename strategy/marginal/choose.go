package marginal

import (
	"math"

	"dither/strategy"
)

// Candidate is a strategy with its expected errors, in the units of [Plan].
type Candidate struct {
	Name    string
	RMSE    float64
	Maximum float64
	Plan    *Plan // nil for a strategy that is listed only for comparison
	errors  func() []Errors
}

// Errors returns the expected errors of the workload's marginals. Marginals that a symmetry maps to each other have one
// entry, with the attributes of one of them.
func (c Candidate) Errors() []Errors { return c.errors() }

// candidate returns a plan as a candidate.
func (p *Plan) candidate() Candidate { return Candidate{p.Name, p.RMSE, p.Maximum, p, p.Errors} }

// Choice is a comparison of strategies for a workload.
type Choice struct {
	Candidates []Candidate
	Chosen     Candidate // the one with the least RMSE, or with the least Maximum ([Workload.ByMaximum])
	Plan       *Plan     // the plan with the least one. Chosen may have none under a price in ε
	Bound      float64   // a lower bound on the RMSE of every strategy: see [Workload.Bound]
	// Least is a lower bound on the Maximum of every plan for plain values: see [Workload.Minimax]. 0 if there is none
	Least float64
}

// Choose compares the strategies that this package knows. It reads nothing and spends nothing. A strategy whose error
// no floating-point number can hold is left out, such as the full table of 400 attributes.
func (w *Workload) Choose(u strategy.Unit) *Choice {
	sum := w.Sum(u)
	c := &Choice{Bound: w.bound(sum.factors, sum.residuals)}
	c.add(w.whole(sum.factors))
	c.add(w.direct(u, sum.factors))
	c.add(sum.candidate())
	if u == strategy.Rho && w.ordinary() {
		if p, least, err := w.Minimax(); err == nil {
			c.add(p.candidate())
			c.Least = least
		}
	}
	best := sum
	if !w.ordinary() {
		best = w.Decomposition(u)
	}
	last := best.candidate()
	last.Name = "decomposition"
	c.add(last)
	if u == strategy.Epsilon {
		if p, err := w.Consistent(); err == nil {
			c.add(p.candidate())
		}
	}
	for _, k := range c.Candidates {
		// The tolerance prefers the earlier of equal strategies.
		if k.Plan != nil && (c.Chosen.Plan == nil || w.error(k) < w.error(c.Chosen)*(1-1e-9)) {
			c.Chosen, c.Plan = k, k.Plan
		}
	}
	for _, k := range c.Candidates {
		if w.error(k) < w.error(c.Chosen)*(1-1e-9) {
			c.Chosen = k
		}
	}
	return c
}

// error returns the error that decides.
func (w *Workload) error(k Candidate) float64 {
	if w.byMaximum {
		return k.Maximum
	}
	return k.RMSE
}

func (c *Choice) add(k Candidate) {
	if !math.IsInf(k.RMSE, 0) && !math.IsInf(k.Maximum, 0) && !math.IsNaN(k.RMSE) {
		c.Candidates = append(c.Candidates, k)
	}
}

// ordinary reports whether every attribute of the workload has plain values.
func (w *Workload) ordinary() bool {
	for _, it := range w.items {
		for _, m := range it.members {
			if w.domain.attributes[m].Queries != Values {
				return false
			}
		}
	}
	return true
}

// compared returns a candidate without a plan, from the sum of the variances of each marginal's queries and the largest
// of them.
func (w *Workload) compared(name string, of func(i int, it item) (sum, most float64)) Candidate {
	sum, most, total := 0.0, 0.0, 0.0
	for i, it := range w.items {
		s, m := of(i, it)
		sum += it.weight * it.count * s
		total += it.weight * it.count * w.domain.queries(it.members)
		most = max(most, m)
	}
	return Candidate{name, math.Sqrt(sum / total), math.Sqrt(most), nil, func() []Errors {
		out := make([]Errors, len(w.items))
		for i, it := range w.items {
			s, m := of(i, it)
			out[i] = w.errors(it)
			out[i].RMSE, out[i].Maximum = math.Sqrt(s/out[i].Queries), math.Sqrt(m)
		}
		return out
	}}
}

// whole returns the candidate that measures each cell of the full table. A query's variance is its number of cells.
func (w *Workload) whole(factors []*factor) Candidate {
	return w.compared("identity", func(_ int, it item) (sum, most float64) {
		sum, most = 1, 1
		in := of(it.members...)
		for m, f := range factors {
			if in.has(m) {
				sum *= f.cells
				most *= f.widest
			} else {
				sum *= float64(f.size)
				most *= float64(f.size)
			}
		}
		return sum, most
	})
}

// direct returns the candidate that measures each cell of each marginal, with the shares of the price that are best for
// the sum of squared errors, and answers each marginal from its own measurement.
func (w *Workload) direct(u strategy.Unit, factors []*factor) Candidate {
	cells := make([]float64, len(w.items))
	total := 0.0
	for i, it := range w.items {
		cells[i] = 1
		for _, m := range it.members {
			cells[i] *= factors[m].cells
		}
		total += it.count * share(u, it.weight*cells[i])
	}
	return w.compared("marginals", func(i int, it item) (sum, most float64) {
		most = total / share(u, it.weight*cells[i])
		if u == strategy.Epsilon {
			most *= most
		}
		sum = cells[i] * most
		for _, m := range it.members {
			most *= factors[m].widest
		}
		return sum, most
	})
}

// share returns a number to which the best share of a part is proportional, from the part's sum of squared errors at
// the whole price.
func share(u strategy.Unit, load float64) float64 {
	if u == strategy.Epsilon {
		return math.Cbrt(load)
	}
	return math.Sqrt(load)
}
