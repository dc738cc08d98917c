package marginal

import "math"

// Candidate is a strategy with its expected errors, in the units of [Plan].
type Candidate struct {
	Name    string
	RMSE    float64
	Maximum float64
	Plan    *Plan // nil for a strategy that is listed only for comparison
}

// Choice is a comparison of strategies for a workload.
type Choice struct {
	Candidates []Candidate
	Chosen     Candidate // the one with the least RMSE
	Bound      float64   // a lower bound on the RMSE of every strategy: see [Workload.Bound]
	// Least is a lower bound on the Maximum of every plan for plain values: see [Workload.Minimax]. 0 if there is none
	Least float64
}

// Choose compares the strategies that this package knows. It reads nothing and spends nothing. A strategy whose error
// no floating-point number can hold is left out, such as the full table of 400 attributes.
func (w *Workload) Choose(price Price) *Choice {
	sum := w.Sum(price)
	c := &Choice{Bound: w.bound(sum.factors, sum.residuals)}
	c.add(w.whole(sum.factors))
	c.add(w.direct(price, sum.factors))
	c.add(Candidate{sum.Name, sum.RMSE, sum.Maximum, sum})
	if price == Rho && w.ordinary() {
		if p, least, err := w.Minimax(); err == nil {
			c.add(Candidate{p.Name, p.RMSE, p.Maximum, p})
			c.Least = least
		}
	}
	best := sum
	if !w.ordinary() {
		best = w.Decomposition(price)
	}
	c.add(Candidate{"decomposition", best.RMSE, best.Maximum, best})
	for _, k := range c.Candidates {
		// The tolerance prefers the earlier of equal strategies.
		if k.Plan != nil && (c.Chosen.Plan == nil || k.RMSE < c.Chosen.RMSE*(1-1e-9)) {
			c.Chosen = k
		}
	}
	for _, k := range c.Candidates {
		if k.RMSE < c.Chosen.RMSE*(1-1e-9) {
			c.Chosen = k
		}
	}
	return c
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

// whole returns the candidate that measures each cell of the full table. A query's variance is its number of cells.
func (w *Workload) whole(factors []*factor) Candidate {
	sum, most := 0.0, 0.0
	for _, it := range w.items {
		total, widest := 1.0, 1.0
		in := of(it.members...)
		for m, f := range factors {
			if in.has(m) {
				total *= f.cells
				widest *= f.widest
			} else {
				total *= float64(f.size)
				widest *= float64(f.size)
			}
		}
		sum += it.weight * it.count * total
		most = max(most, widest)
	}
	return Candidate{Name: "identity", RMSE: math.Sqrt(sum / w.weights(factors)), Maximum: math.Sqrt(most)}
}

// direct returns the candidate that measures each cell of each marginal, with the shares of the price that are best for
// the sum of squared errors, and answers each marginal from its own measurement.
func (w *Workload) direct(price Price, factors []*factor) Candidate {
	loads := make([]float64, len(w.items))
	total := 0.0
	for i, it := range w.items {
		loads[i] = it.weight
		for _, m := range it.members {
			loads[i] *= factors[m].cells
		}
		total += it.count * share(price, loads[i])
	}
	sum, most := 0.0, 0.0
	for i, it := range w.items {
		unit := total / share(price, loads[i])
		if price == Epsilon {
			unit *= unit
		}
		sum += it.count * loads[i] * unit
		widest := 1.0
		for _, m := range it.members {
			widest *= factors[m].widest
		}
		most = max(most, widest*unit)
	}
	return Candidate{Name: "marginals", RMSE: math.Sqrt(sum / w.weights(factors)), Maximum: math.Sqrt(most)}
}

// share returns a number to which the best share of a part is proportional, from the part's sum of squared errors at
// the whole price.
func share(price Price, load float64) float64 {
	if price == Epsilon {
		return math.Cbrt(load)
	}
	return math.Sqrt(load)
}
