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
	out, err := m.Marginals([][]int{attributes})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Marginals returns several marginals, as [Model.Marginal] does. It is faster than one call for each, because marginals
// with common attributes share their intermediate tables.
func (m *Model) Marginals(sets [][]int) ([][]float64, error) {
	q := &query{m, map[part]*table{}, map[part]*table{}, 0}
	out := make([][]float64, len(sets))
	for i, attributes := range sets {
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
			out[i] = make([]float64, int(m.domain.only(of)))
			w := layout.New(m.domain.sizes, c.members, attributes)
			w.Sum(out[i], c.marginal)
			continue
		}
		t, err := q.message(m.tree.top(of), of, true)
		if err != nil {
			return nil, err
		}
		out[i] = make([]float64, len(t.values))
		for k, p := range t.values {
			out[i][k] = p * m.total
		}
	}
	return out, nil
}

// top returns the lowest clique of which all attributes of a set are below: in it or in its descendants, and not in
// its parent.
func (t *tree) top(of set) int {
	top := 0
	for i, c := range t.cliques {
		if of.in(c.below) {
			top = i // such cliques are a path from the root, and each comes after its parent
		}
	}
	return top
}

// query has the intermediate tables of several marginals.
type query struct {
	model        *Model
	messages     map[part]*table
	conditionals map[part]*table
	cells        int // of all tables that are kept
}

// part is a clique and some attributes.
type part struct {
	clique int
	of     set
	whole  bool // probabilities, not given the clique's separator
}

// kept is the largest number of cells that a query keeps for later marginals.
const kept = 1 << 24

// keep stores a table, if there is room.
func (q *query) keep(in map[part]*table, p part, t *table) {
	if q.cells+len(t.values) <= kept {
		in[p] = t
		q.cells += len(t.values)
	}
}

// message returns the probabilities of attributes that are below a clique, given the clique's separator unless whole.
// Only the part of the tree that has them is visited.
func (q *query) message(i int, of set, whole bool) (*table, error) {
	at := part{i, of, whole}
	if known := q.messages[at]; known != nil {
		return known, nil
	}
	m := q.model
	c := m.tree.cliques[i]
	keep := of
	if !whole {
		keep = keep.or(c.separator)
	}
	var children []int
	needed := []set{keep} // by place in children: the attributes that are needed from this child on
	for j := len(c.children) - 1; j >= 0; j-- {
		if child := m.tree.cliques[c.children[j]]; of.and(child.below) != (set{}) {
			children = append(children, c.children[j])
			needed = append(needed, needed[len(needed)-1].or(child.separator))
		}
	}
	// An attribute is summed out as soon as no further child and no result needs it.
	out := q.conditional(i, needed[len(children)].and(c.set), whole)
	for j := len(children) - 1; j >= 0; j-- {
		below, err := q.message(children[j], of.and(m.tree.cliques[children[j]].below), false)
		if err != nil {
			return nil, err
		}
		if out, err = m.join(out, below); err != nil {
			return nil, err
		}
		out = m.onto(out, out.set.and(needed[j]))
	}
	q.keep(q.messages, at, out)
	return out, nil
}

// leastMass is the least number of rows of a separator's cell that counts: the inverse of a smaller one may be infinite,
// and such a number changes no marginal.
const leastMass = 1e-300

// conditional returns the probabilities of attributes of a clique, given its separator unless whole.
func (q *query) conditional(i int, of set, whole bool) *table {
	at := part{i, of, whole}
	if known := q.conditionals[at]; known != nil {
		return known
	}
	m := q.model
	c := m.tree.cliques[i]
	out := &table{of, make([]float64, int(m.domain.only(of)))}
	w := layout.New(m.domain.sizes, c.members, of.members())
	w.Sum(out.values, c.marginal)
	if whole {
		for k := range out.values {
			out.values[k] /= m.total
		}
	} else {
		given := make([]float64, len(c.above)) // the inverse of the separator's marginal
		for b, above := range c.above {
			if above >= leastMass {
				given[b] = 1 / above
			}
		}
		w = layout.New(m.domain.sizes, of.members(), c.members[:c.separator.count()])
		w.Multiply(out.values, given)
	}
	q.keep(q.conditionals, at, out)
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
