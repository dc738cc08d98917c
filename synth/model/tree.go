package model

import (
	"cmp"
	"slices"

	"dither/synth/internal/layout"
)

// tree is a junction tree: cliques such that those with an attribute are connected, for each attribute (the running
// intersection property). Each clique comes after its parent; the first is the root. A separator may be empty.
type tree struct {
	domain  *Domain
	cliques []*clique
}

// clique is a clique of a junction tree with its tables. The attributes that it shares with its parent come first in
// the layout of its cells. So a block of consecutive cells belongs to one cell of the separator.
type clique struct {
	set       set
	separator set   // the attributes that the parent has too; empty at the root
	below     set   // the attributes in the clique or its descendants, and not in its parent
	parent    int   // −1 at the root
	members   []int // separator, then the rest; the last changes fastest
	block     int   // the cells of a block
	children  []int
	down      []layout.Walk // by child: from the cells to the cells of its separator
	terms     []int         // the factors in this clique
	places    []layout.Walk // by term: from the cells to the cells of the factor

	weight   []float64 // by cell: proportional to its probability, given the cell of the separator
	mass     []float64 // by block: the sum of its weights
	message  []float64 // by block: the logarithm of the sum of the exponentials of its potentials
	marginal []float64 // by cell
	above    []float64 // by block: the marginal of the separator
	changed  bool      // a potential in the clique, or below it, has changed since the message was computed
}

// newTree returns a junction tree over the maximal cliques of a chordal graph, without tables. It joins cliques that
// share many attributes, which gives the running intersection property. The largest clique is the root.
func newTree(d *Domain, cliques []set) *tree {
	sets := slices.Clone(cliques)
	slices.SortStableFunc(sets, func(a, b set) int { return cmp.Compare(d.only(b), d.only(a)) })
	t := &tree{domain: d}
	// Prim's algorithm: best[i] is the clique in the tree that shares the most attributes with the i-th set.
	best, shared := make([]int, len(sets)), make([]int, len(sets))
	for i := range shared {
		shared[i] = -1
	}
	best[0] = -1
	next := 0
	for range sets {
		c := &clique{set: sets[next], parent: best[next]}
		if c.parent >= 0 {
			p := t.cliques[c.parent]
			c.separator = c.set.and(p.set)
			p.children = append(p.children, len(t.cliques))
			for _, m := range p.members { // in the parent's order
				if c.separator.has(m) {
					c.members = append(c.members, m)
				}
			}
		}
		rest := c.set.without(c.separator).members()
		slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(d.sizes[a], d.sizes[b]) })
		c.members = append(c.members, rest...) // long runs: the largest attribute is the last
		at := len(t.cliques)
		t.cliques = append(t.cliques, c)
		shared[next] = -2 // in the tree
		next = -1
		for i, s := range sets {
			if shared[i] == -2 {
				continue
			}
			if n := s.and(c.set).count(); n > shared[i] {
				best[i], shared[i] = at, n
			}
			if next < 0 || shared[i] > shared[next] {
				next = i
			}
		}
	}
	for i := len(t.cliques) - 1; i >= 0; i-- {
		c := t.cliques[i]
		c.below = c.below.or(c.set.without(c.separator))
		if c.parent >= 0 {
			t.cliques[c.parent].below = t.cliques[c.parent].below.or(c.below)
		}
	}
	return t
}

// allocate makes the tables, and the walks between them.
func (t *tree) allocate() {
	for _, c := range t.cliques {
		cells, blocks := int(t.domain.only(c.set)), int(t.domain.only(c.separator))
		c.block = cells / blocks
		c.weight, c.marginal = make([]float64, cells), make([]float64, cells)
		c.mass, c.message, c.above = make([]float64, blocks), make([]float64, blocks), make([]float64, blocks)
		c.changed = true
		for _, child := range c.children {
			k := t.cliques[child]
			c.down = append(c.down, layout.New(t.domain.sizes, c.members, k.members[:k.separator.count()]))
		}
	}
}

// home returns the smallest clique that has all attributes of a set, or −1.
func (t *tree) home(s set) int {
	home := -1
	for i, c := range t.cliques {
		if s.in(c.set) && (home < 0 || t.domain.only(c.set) < t.domain.only(t.cliques[home].set)) {
			home = i
		}
	}
	return home
}
