package model

import "math"

// propagate computes the marginals of all cliques from the factors' potentials, for a total. Potentials are logarithms;
// −∞ forbids a cell. It returns the logarithm of the sum of the exponentials of all cells' potentials.
//
// On the way up, the weights of a block are divided by its largest, so that no sum overflows and none is 0 unless all
// its cells are forbidden. On the way down, a block is multiplied by the marginal of its separator's cell. So each cell
// takes one exponential. A clique without a change in it or below keeps its weights.
func (t *tree) propagate(factors []*factor, total float64) float64 {
	for i := len(t.cliques) - 1; i >= 0; i-- {
		c := t.cliques[i]
		for _, f := range c.terms {
			c.changed = c.changed || factors[f].changed
		}
		if c.changed {
			t.up(c, factors)
			if c.parent >= 0 {
				t.cliques[c.parent].changed = true
			}
			c.changed = false
		}
	}
	for _, f := range factors {
		f.changed = false
	}
	t.cliques[0].above[0] = total
	for _, c := range t.cliques {
		for b, mass := range c.mass {
			ratio := 0.0
			if mass > 0 {
				ratio = c.above[b] / mass
			}
			from, to := c.weight[b*c.block:][:c.block], c.marginal[b*c.block:][:c.block]
			for i, w := range from {
				to[i] = w * ratio
			}
		}
		for i, child := range c.children {
			c.down[i].Sum(t.cliques[child].above, c.marginal)
		}
	}
	return t.cliques[0].message[0]
}

// up computes the weights and the message of a clique from the messages of its children.
func (t *tree) up(c *clique, factors []*factor) {
	clear(c.weight)
	for i, f := range c.terms {
		c.places[i].Add(c.weight, factors[f].potential)
	}
	for i, child := range c.children {
		c.down[i].Add(c.weight, t.cliques[child].message)
	}
	for b := range c.mass {
		block := c.weight[b*c.block:][:c.block]
		most := math.Inf(-1)
		for _, v := range block {
			if v > most {
				most = v
			}
		}
		mass := 0.0
		if most > math.Inf(-1) {
			for i, v := range block {
				e := math.Exp(v - most)
				block[i] = e
				mass += e
			}
		} else {
			clear(block)
		}
		c.mass[b] = mass
		c.message[b] = most + math.Log(mass)
	}
}
