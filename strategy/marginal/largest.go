package marginal

import "math"

// maxPoints is the largest number of queries of one marginal whose variances are compared one by one.
const maxPoints = 20_000

// largest returns the largest variance of a query of a marginal, and whether it is exact. A query is a product of one
// query for each attribute, and its variance is the sum over the subsets A of the product of qᵀX⁺q over A and of the
// squared means over the rest, times the variance of A's
// measurement. So it grows with each attribute's point, and only the queries in
// the fronts compete. If there are too many, the points of the attributes with the longest fronts are replaced by one
// that exceeds them all.
func (p *Plan) largest(members []int) (variance float64, exact bool) {
	fronts := make([][]point, len(members))
	total := 1.0
	for i, m := range members {
		fronts[i] = p.factors[m].front
		total *= float64(len(fronts[i]))
	}
	exact = true
	for total > maxPoints/math.Ldexp(1, len(members)) {
		longest := 0
		for i := range fronts {
			if len(fronts[i]) > len(fronts[longest]) {
				longest = i
			}
		}
		if len(fronts) == 0 || len(fronts[longest]) == 1 {
			break
		}
		total /= float64(len(fronts[longest]))
		fronts[longest] = []point{above(fronts[longest])}
		exact = false
	}
	var split []int // the attributes with a part of their own
	for i, m := range members {
		if p.factors[m].size > 1 {
			split = append(split, i)
		}
	}
	units := make([]float64, 1<<len(split))
	for mask := range units {
		var s subset
		for j, i := range split {
			if mask>>j&1 == 1 {
				m := members[i]
				s[m/64] |= 1 << (m % 64)
			}
		}
		class := p.residuals.index[p.residuals.workload.canonical(s)]
		units[mask] = p.units[class]
	}
	chosen := make([]point, len(members))
	var choose func(i int)
	choose = func(i int) {
		if i < len(members) {
			for _, chosen[i] = range fronts[i] {
				choose(i + 1)
			}
			return
		}
		// products over the subsets, doubled attribute by attribute
		parts := make([]float64, 1, len(units))
		parts[0] = 1
		for _, k := range split {
			n := len(parts)
			for j := range n {
				parts = append(parts, parts[j]*chosen[k].spread)
				parts[j] *= chosen[k].mean
			}
		}
		sum := 0.0
		for mask, part := range parts {
			sum += part * units[mask]
		}
		variance = max(variance, sum)
	}
	choose(0)
	return variance, exact
}

// above returns the least point that no point of a front exceeds.
func above(front []point) point {
	out := point{}
	for _, f := range front {
		out.spread = max(out.spread, f.spread)
		out.mean = max(out.mean, f.mean)
	}
	return out
}
