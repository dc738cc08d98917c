package marginal

import "dither/curator"

// declare sets the parts that totals of the policy determine: the number of all rows, and the numbers of rows by an
// attribute if all its values have totals. They are public constants, so these parts have no noise. All other parts are
// orthogonal to them, so their estimates stay as they are.
func (e *Estimate) declare(of *curator.Domain) {
	all := -1.0
	by := make([]map[int]int64, len(of.Values)) // the totals by attribute and value
	for _, t := range of.Totals {
		if t.Key < 0 {
			all = float64(t.Count)
			continue
		}
		if by[t.Key] == nil {
			by[t.Key] = map[int]int64{}
		}
		by[t.Key][t.Value] = t.Count
	}
	for k, values := range of.Values {
		p, measured := e.parts[subsetOf(e.plan, k)]
		if !measured || len(p.members) == 0 {
			continue
		}
		counts, sum := make([]float64, len(values)), 0.0
		for i, n := range by[k] {
			counts[i] = float64(n)
			sum += counts[i]
		}
		if len(by[k]) < len(values) || all >= 0 && sum != all {
			continue
		}
		all = sum
		for i := range counts {
			counts[i] -= sum / float64(len(counts))
		}
		p.exact(counts)
	}
	if all >= 0 {
		e.parts[subset{}].exact([]float64{all})
	}
}

// subsetOf returns the subset of one attribute, or the empty one if it has a single value.
func subsetOf(p *Plan, k int) subset {
	if p.factors[k] == nil || p.factors[k].size == 1 {
		return subset{}
	}
	return of(k)
}

// exact makes the values of a part constants.
func (p *part) exact(values []float64) {
	if p != nil {
		p.values, p.variance, p.noise = values, 0, nil
	}
}
