package model

import "math"

// gap returns a proved bound on how far the loss is above its least value. It overwrites the weights of the tree.
//
// Proof. The loss L is convex, so L(ν) ≥ L(μ) + ⟨g, ν − μ⟩ for the gradient g at the model's marginals μ and all
// marginals ν of a distribution with the same total. Thus L(μ) − L(ν) ≤ ⟨g, μ⟩ − min ⟨g, ν⟩. The minimum of a linear
// function over distributions is attained by one that has all rows in one allowed cell of the domain, so it is the
// total times the least sum of gradients of a cell. Passing least sums up the junction tree finds it, because each
// factor is in one clique, and a clique's message takes the minimum over the attributes that its parent lacks. L is
// not negative either, so L(μ) is a bound too. ∎
func (s *solver) gap(loss float64) float64 {
	m := s.model
	t := m.tree
	inner := 0.0
	for i := len(t.cliques) - 1; i >= 0; i-- {
		c := t.cliques[i]
		clear(c.weight)
		for i, at := range c.terms {
			if f := m.factors[at]; f.fixed {
				c.places[i].Add(c.weight, f.potential)
			} else {
				// The old marginal is free between steps.
				for i, g := range f.gradient {
					inner += g * f.marginal[i]
					f.oldMarginal[i] = -g
				}
				c.places[i].Add(c.weight, f.oldMarginal)
			}
		}
		for i, child := range c.children {
			c.down[i].Add(c.weight, t.cliques[child].message)
		}
		for b := range c.message {
			most := math.Inf(-1)
			for _, v := range c.weight[b*c.block:][:c.block] {
				most = max(most, v)
			}
			c.message[b] = most
		}
		c.changed = true
	}
	return max(0, min(loss, inner+m.total*t.cliques[0].message[0]))
}
