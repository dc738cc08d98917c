package model

import (
	"fmt"
	"math"

	"dither/synth/internal/layout"
)

// table is a table over a few attributes, ascending.
type table struct {
	set    set
	values []float64
}

// Marginal returns the model's number of rows in each cell of a marginal, of which the last attribute changes fastest.
// The attributes must be ascending. They need not be in one clique, but then the sum over the others may need tables
// that are larger than the marginal: it returns an error if one has more than [MaxCells] cells.
func (m *Model) Marginal(attributes ...int) ([]float64, error) {
	of, err := m.domain.read(attributes)
	if err != nil {
		return nil, err
	}
	if cells := m.domain.only(of); cells > MaxCells {
		return nil, fmt.Errorf(
			"model: the marginal of %v has %.0f cells: at most %d can be computed", attributes, cells, MaxCells,
		)
	}
	if home := m.tree.home(of); home >= 0 {
		c := m.tree.cliques[home]
		out := make([]float64, int(m.domain.only(of)))
		w := layout.New(m.domain.sizes, c.members, attributes)
		w.Sum(out, c.marginal)
		return out, nil
	}
	t, err := m.eliminate(of)
	if err != nil {
		return nil, err
	}
	for i := range t.values {
		t.values[i] *= m.total
	}
	return t.values, nil
}

// eliminate returns the probabilities of a marginal. Each clique of the smallest subtree that has the attributes sends
// its parent a table: the probability of the wanted attributes at and below it, given its separator.
func (m *Model) eliminate(of set) (*table, error) {
	t := m.tree
	// needed[i]: the i-th clique, or one below it, is the highest with a wanted attribute.
	needed, below := make([]bool, len(t.cliques)), make([]int, len(t.cliques))
	for i := len(t.cliques) - 1; i >= 0; i-- {
		c := t.cliques[i]
		below[i] += of.and(c.set.without(c.separator)).count()
		needed[i] = below[i] > 0
		if c.parent >= 0 {
			below[c.parent] += below[i]
		}
	}
	top := 0 // the lowest clique below which all wanted attributes are new
	for i := range t.cliques {
		if below[i] == of.count() {
			top = i
		}
	}
	messages := make([]*table, len(t.cliques))
	for i := len(t.cliques) - 1; i >= top; i-- {
		c := t.cliques[i]
		if !needed[i] {
			continue
		}
		keep, given := of, c.separator
		if i == top {
			given = set{}
		}
		keep = keep.or(given)
		// Attributes that no child and no result needs are summed out first.
		first := keep
		for _, k := range c.children {
			if messages[k] != nil {
				first = first.or(t.cliques[k].separator)
			}
		}
		message := m.conditional(c, first.and(c.set), i == top)
		for _, k := range c.children {
			if messages[k] == nil {
				continue
			}
			var err error
			if message, err = m.join(message, messages[k]); err != nil {
				return nil, err
			}
			messages[k] = nil
		}
		messages[i] = m.onto(message, message.set.and(keep))
		if i == top {
			break
		}
	}
	return messages[top], nil
}

// conditional returns the probabilities of attributes of a clique, given its separator unless whole.
func (m *Model) conditional(c *clique, of set, whole bool) *table {
	values := make([]float64, len(c.weight))
	for b, mass := range c.mass {
		scale := 0.0
		if mass > 0 {
			scale = 1 / mass
		}
		if whole {
			scale *= c.above[b] / m.total
		}
		for i, w := range c.weight[b*c.block:][:c.block] {
			values[b*c.block+i] = w * scale
		}
	}
	out := &table{of, make([]float64, int(m.domain.only(of)))}
	w := layout.New(m.domain.sizes, c.members, of.members())
	w.Sum(out.values, values)
	return out
}

// onto returns the sums of a table over the attributes outside a set.
func (m *Model) onto(t *table, of set) *table {
	if t.set == of {
		return t
	}
	out := &table{of, make([]float64, int(m.domain.only(of)))}
	w := layout.New(m.domain.sizes, t.set.members(), of.members())
	w.Sum(out.values, t.values)
	return out
}

// join returns the product of two tables, over the attributes of both.
func (m *Model) join(a, b *table) (*table, error) {
	out := &table{set: a.set.or(b.set)}
	members := out.set.members()
	if cells := m.domain.only(out.set); cells > MaxCells {
		return nil, fmt.Errorf(
			"model: the marginal needs a table over attributes %v, which has %.0f cells: at most %d can be computed", members, cells, MaxCells,
		)
	}
	out.values = make([]float64, int(m.domain.only(out.set)))
	w := layout.New(m.domain.sizes, members, a.set.members())
	w.Add(out.values, a.values)
	w = layout.New(m.domain.sizes, members, b.set.members())
	w.Multiply(out.values, b.values)
	return out, nil
}

// Entropy returns the entropy of one row of the model, in nats.
func (m *Model) Entropy() float64 {
	sum := 0.0
	for _, c := range m.tree.cliques {
		for b, mass := range c.mass {
			if mass <= 0 {
				continue
			}
			inner := 0.0
			for _, w := range c.weight[b*c.block:][:c.block] {
				if w > 0 {
					inner -= w / mass * math.Log(w/mass)
				}
			}
			sum += c.above[b] / m.total * inner
		}
	}
	return sum
}

// LogProbability returns the logarithm of the probability of a row, given as one code for each attribute, and −∞ for
// a row that the constraints forbid. It returns an error if a code is outside its attribute.
func (m *Model) LogProbability(codes []int32) (float64, error) {
	if len(codes) != len(m.domain.sizes) {
		return 0, fmt.Errorf("model: a row has %d codes, and the domain %d attributes", len(codes), len(m.domain.sizes))
	}
	for i, v := range codes {
		if v < 0 || int(v) >= m.domain.sizes[i] {
			return 0, fmt.Errorf("model: attribute %d has the codes 0 to %d, not %d", i, m.domain.sizes[i]-1, v)
		}
	}
	sum := 0.0
	for _, c := range m.tree.cliques {
		cell := 0
		for _, a := range c.members {
			cell = cell*m.domain.sizes[a] + int(codes[a])
		}
		mass := c.mass[cell/c.block]
		if mass <= 0 || c.weight[cell] <= 0 {
			return math.Inf(-1), nil
		}
		sum += math.Log(c.weight[cell] / mass)
	}
	return sum, nil
}
