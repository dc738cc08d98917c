package posterior

import "math"

// prior is the parameter of all Dirichlet priors: Jeffreys' for one multinomial distribution.
const prior = 0.5

// target is the posterior density of the variables: for each cell, the logarithm of its share relative to that of the
// likeliest cell of its block, and last, the logarithm of the number of rows.
type target struct {
	tree     []*clique
	evidence []*evidence
	scale    float64 // the number of rows at variable 0
}

// counts sets the shares and the counts of all cells.
func (t *target) counts(at []float64) {
	for _, c := range t.tree {
		if c.parent < 0 {
			c.size[0] = t.scale * math.Exp(at[len(at)-1])
		} else {
			clear(c.size)
			for i, n := range t.tree[c.parent].count {
				c.size[c.above[i]] += n
			}
		}
		for b, n := range c.size {
			from := b * c.block
			z, share := at[c.first+from:][:c.block], c.share[from:][:c.block]
			most := math.Inf(-1)
			for _, v := range z {
				most = max(most, v)
			}
			sum := 0.0
			for i, v := range z {
				share[i] = math.Exp(v - most)
				sum += share[i]
			}
			count := c.count[from:][:c.block]
			for i := range share {
				share[i] /= sum
				count[i] = n * share[i]
			}
		}
	}
}

// density returns the logarithm of the density at a point, up to a constant, and sets its gradient.
func (t *target) density(at, gradient []float64) float64 {
	t.counts(at)
	sum := 0.0
	for _, c := range t.tree {
		clear(c.slope)
	}
	for _, e := range t.evidence {
		c := t.tree[e.clique]
		clear(e.sums)
		for i, n := range c.count {
			e.sums[e.place[i]] += n
		}
		for i, v := range e.values {
			r := e.sums[i] - v
			if e.laplace { // of the variance 2b²
				b := math.Sqrt(e.variance / 2)
				sum -= math.Abs(r) / b
				e.sums[i] = -math.Copysign(1/b, r)
			} else {
				sum -= r * r / (2 * e.variance)
				e.sums[i] = -r / e.variance
			}
		}
		for i := range c.slope {
			c.slope[i] += e.sums[e.place[i]]
		}
	}
	last := len(at) - 1
	for k := len(t.tree) - 1; k >= 0; k-- {
		c := t.tree[k]
		for b, n := range c.size {
			from := b * c.block
			share, slope := c.share[from:][:c.block], c.slope[from:][:c.block]
			mean := 0.0
			for i, q := range share {
				mean += q * slope[i]
			}
			c.total[b] = mean
			g := gradient[c.first+from:][:c.block]
			for i, q := range share {
				g[i] = n*q*(slope[i]-mean) + prior*(1-float64(c.block)*q)
				sum += prior * math.Log(max(q, 1e-300))
			}
			g[c.likely[b]] = 0
		}
		if c.parent >= 0 {
			up := t.tree[c.parent].slope
			for i := range up {
				up[i] += c.total[c.above[i]]
			}
		}
	}
	root := t.tree[0]
	gradient[last] = root.size[0]*root.total[0] + 1 // a flat prior of the number of rows
	return sum + at[last]
}
