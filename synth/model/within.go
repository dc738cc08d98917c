package model

import (
	"slices"

	"dither/internal/parallel"
)

// Within reports, for each further set of attributes, whether the [Size] of a model of these sets and the further one is
// at most most. It is faster than Size for each: sets that join the same attributes for the first time have one size, and
// a size above most is not computed to its end.
func Within(d *Domain, sets, further [][]int, most float64) ([]bool, error) {
	base, err := readAll(d, sets)
	if err != nil {
		return nil, err
	}
	more, err := readAll(d, further)
	if err != nil {
		return nil, err
	}
	known := newGraph(d, base)
	places, of := map[string]int{}, make([]int, len(more)) // by the edges that a set adds
	var first []set                                        // a set that adds these edges
	for i, s := range more {
		edges := known.added(s)
		at, found := places[edges]
		if !found {
			at = len(first)
			places[edges], first = at, append(first, s)
		}
		of[i] = at
	}
	fit := make([]bool, len(first))
	parallel.Each(len(first), func(i int) { fit[i] = known.with(first[i]).fits(d, most) })
	out := make([]bool, len(more))
	for i, at := range of {
		out[i] = fit[at]
	}
	return out, nil
}

// added names the edges that a set adds to the graph.
func (g *graph) added(s set) string {
	var edges []byte // an attribute is below MaxAttributes, so a byte has it
	for a := s.next(0); a >= 0; a = s.next(a + 1) {
		missing := s.without(g.near[a])
		for b := missing.next(a + 1); b >= 0; b = missing.next(b + 1) {
			edges = append(edges, byte(a), byte(b))
		}
	}
	return string(edges)
}

// with returns a copy of the graph in which the attributes of a set are neighbours.
func (g *graph) with(s set) *graph {
	out := &graph{slices.Clone(g.near), g.log}
	for a := s.next(0); a >= 0; a = s.next(a + 1) {
		out.near[a] = out.near[a].or(s)
		out.near[a].remove(a)
	}
	return out
}

// fits reports whether the cliques of triangulate have at most most bytes. One of the orders is enough.
func (g *graph) fits(d *Domain, most float64) bool {
	for _, r := range slices.Backward(rules) {
		if _, within := g.with(set{}).eliminate(d, r, most); within {
			return true
		}
	}
	return false
}
