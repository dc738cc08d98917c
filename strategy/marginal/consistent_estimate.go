package marginal

import (
	"math"
	"slices"

	"dither/noise"
)

// measuredTable is a table that a consistent plan measured.
type measuredTable struct {
	members  []int
	variance float64 // of each cell
	noise    noise.Distribution
	unit     float64
	values   []float64
}

// weight returns what the table says of part b beside the part's information: 1/(v·n(A∖B)).
func (t *measuredTable) weight(p *Plan, b subset) float64 {
	n := t.variance
	for _, m := range t.members {
		if !b.has(m) {
			n *= float64(p.factors[m].size)
		}
	}
	return 1 / n
}

// within reports whether a part is one of the table's.
func (t *measuredTable) within(b subset) bool {
	all := of(t.members...)
	for i := range b {
		if b[i]&^all[i] != 0 {
			return false
		}
	}
	return true
}

// settle sets the parts from all tables, as [Workload.Consistent] explains.
func (e *Estimate) settle() {
	parts := e.plan.parts()
	for _, members := range parts {
		cells := 1
		for _, m := range members {
			cells *= e.plan.factors[m].size
		}
		e.parts[of(members...)] = &part{members: members, values: make([]float64, cells)}
	}
	known := map[subset]float64{}
	for _, t := range e.tables {
		add := func(b subset) {
			p := e.parts[b]
			if p == nil || !t.within(b) {
				return
			}
			w := t.weight(e.plan, b)
			known[b] += w
			for i, v := range t.onto(e.plan, b, len(p.values)) {
				p.values[i] += w * v
			}
		}
		if len(t.members) < 20 && 1<<len(t.members) < len(parts) {
			subsets(t.members, add)
			continue
		}
		for _, members := range parts {
			add(of(members...))
		}
	}
	for b, p := range e.parts {
		// solve divides by the size of each attribute, and a part's variance is that before, as for c·I − 11ᵀ
		size := float64(len(p.values))
		for i := range p.values {
			p.values[i] *= size / known[b]
		}
		p.values, p.variance = e.plan.solve(p.members, p.values), size*size/known[b]
	}
}

// onto returns the counts by the attributes of b: the table, summed over its other attributes.
func (t *measuredTable) onto(p *Plan, b subset, cells int) []float64 {
	steps, step := make([]int, len(t.members)), 1
	for i := len(t.members) - 1; i >= 0; i-- {
		if b.has(t.members[i]) {
			steps[i] = step
			step *= p.factors[t.members[i]].size
		}
	}
	out := make([]float64, cells)
	at, index := make([]int, len(t.members)), 0
	for _, v := range t.values {
		out[index] += v
		for i := len(at) - 1; i >= 0; i-- {
			size := p.factors[t.members[i]].size
			at[i]++
			index += steps[i]
			if at[i] < size {
				break
			}
			index -= steps[i] * size
			at[i] = 0
		}
	}
	return out
}

// consistentMargin is [Estimate.margin] for a consistent plan.
func (e *Estimate) consistentMargin(members []int, q Query, alpha float64) (float64, error) {
	var off noise.Combination
	terms := 0
	for i := range e.tables {
		r := e.readingOf(&e.tables[i], members, q)
		if terms += r.combinations; terms > mostTerms {
			v, err := e.Covariance(q, q)
			return math.Sqrt(v/alpha) * (1 + 1e-9), err
		}
		r.each(func(size, times float64) { off.Add(size*r.table.unit*(1+1e-12), r.table.noise, times) })
	}
	return off.Quantile(alpha), nil
}

// reading is what a query reads of a table: of a cell, the sum over the parts B of the table of what the table says of
// B, relative to all that is known of B, times the deviations of the query's coefficients from their means in B's
// attributes, times their means in the query's other attributes.
type reading struct {
	table        *measuredTable
	weights      []float64  // by part: bit k stands for the k-th attribute that the query and the table share
	values       [][]valued // the query's coefficients of these attributes
	means        []float64
	outside      float64 // the product of the query's other means
	rest         float64 // how many cells differ in the table's other attributes alone
	combinations int     // of values
}

func (e *Estimate) readingOf(t *measuredTable, members []int, q Query) reading {
	r := reading{table: t, outside: 1, rest: 1, combinations: 1}
	var shared []int
	for _, m := range members {
		of := q[e.plan.Domain().attributes[m].Name]
		if !slices.Contains(t.members, m) {
			r.outside *= mean(of)
			continue
		}
		shared = append(shared, m)
		r.values, r.means = append(r.values, alike(of)), append(r.means, mean(of))
		r.combinations = min(r.combinations*len(r.values[len(shared)-1]), mostTerms+1)
	}
	for _, m := range t.members {
		if !slices.Contains(members, m) {
			r.rest *= float64(e.plan.factors[m].size)
		}
	}
	r.weights = e.weightsOf(t, shared)
	return r
}

// each calls f with the magnitude of each coefficient, and with how many cells have it.
func (r reading) each(f func(size, times float64)) {
	at := make([]int, len(r.values))
	for range r.combinations {
		size, times := 0.0, r.rest
		for mask, c := range r.weights {
			for k, i := range at {
				if mask>>k&1 == 1 {
					c *= r.values[k][i].value - r.means[k]
				} else {
					c *= r.means[k]
				}
			}
			size += c
		}
		for k, i := range at {
			times *= r.values[k][i].times
		}
		f(math.Abs(size*r.outside), times)
		for k := range at {
			if at[k]++; at[k] < len(r.values[k]) {
				break
			}
			at[k] = 0
		}
	}
}

// weightsOf returns what table t says of each part within shared, relative to all that is known of it. Bit k of the
// index stands for the k-th of shared.
func (e *Estimate) weightsOf(t *measuredTable, shared []int) []float64 {
	out := make([]float64, 1<<len(shared))
	for mask := range out {
		var b subset
		squares := 1.0
		for k, m := range shared {
			if mask>>k&1 == 1 {
				b[m/64] |= 1 << (m % 64)
				squares *= float64(e.plan.factors[m].size) * float64(e.plan.factors[m].size)
			}
		}
		out[mask] = t.weight(e.plan, b) * e.parts[b].variance / squares
	}
	return out
}

// valued is a coefficient of a query that several values of an attribute have.
type valued struct{ value, times float64 }

// alike returns the different coefficients of a query, with their numbers.
func alike(of []float64) (out []valued) {
	seen := map[float64]int{}
	for _, v := range of {
		i, known := seen[v]
		if !known {
			i, seen[v] = len(out), len(out)
			out = append(out, valued{v, 0})
		}
		out[i].times++
	}
	return out
}

func mean(of []float64) float64 {
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	return sum / float64(len(of))
}
