package model

import "math"

// Size returns the number of bytes of the potentials of a model in which each of these sets of attributes is in one
// clique. It is the sum of the sizes of the junction tree's cliques times 8. [Fit] needs some four times this memory.
// The sets are as for [Measurement].
func Size(d *Domain, sets [][]int) (float64, error) {
	within, err := readAll(d, sets)
	if err != nil {
		return 0, err
	}
	return bytes(d, triangulate(d, within)), nil
}

// readAll returns the sets of several marginals.
func readAll(d *Domain, sets [][]int) ([]set, error) {
	out := make([]set, len(sets))
	for i, members := range sets {
		s, err := d.read(members)
		if err != nil {
			return nil, err
		}
		out[i] = s
	}
	return out, nil
}

// bytes returns the memory of one number for each cell of these cliques.
func bytes(d *Domain, cliques []set) float64 {
	total := 0.0
	for _, c := range cliques {
		total += 8 * d.only(c)
	}
	return total
}

// rule chooses the next attribute to eliminate: the one with the least cost, and the first of those.
type rule func(g *graph, a int) float64

// rules are the ways to order the elimination that triangulate compares.
var rules = []rule{
	func(g *graph, a int) float64 { return g.logs(a) },                             // the smallest clique
	func(g *graph, a int) float64 { return g.fill(a, false) + 1e-9*g.logs(a) },     // the fewest new edges
	func(g *graph, a int) float64 { return g.fill(a, true) + 1e-9*g.logs(a) },      // the smallest new edges
	func(g *graph, a int) float64 { return math.Exp(g.logs(a)) * g.fill(a, true) }, // the product of both
}

// triangulate returns the maximal cliques of a chordal graph in which each of the sets is within a clique. Each
// attribute is in a clique. It tries several orders of elimination, and takes the one whose cliques have the fewest
// cells. The result depends on the arguments alone.
func triangulate(d *Domain, within []set) []set {
	var best []set
	least := math.Inf(1)
	for _, r := range rules {
		cliques := newGraph(d, within).eliminate(r)
		if cells := bytes(d, cliques); best == nil || cells < least {
			best, least = cliques, cells
		}
	}
	return best
}

// graph is a graph over the attributes from which vertices are eliminated.
type graph struct {
	near []set // the neighbours of each vertex that are left
	log  []float64
}

// newGraph returns the graph in which two attributes are neighbours if a set has both.
func newGraph(d *Domain, within []set) *graph {
	g := &graph{make([]set, len(d.sizes)), make([]float64, len(d.sizes))}
	for a, n := range d.sizes {
		g.log[a] = math.Log(float64(n))
	}
	for _, s := range within {
		for _, a := range s.members() {
			g.near[a] = g.near[a].or(s)
		}
	}
	for a := range g.near {
		g.near[a].remove(a)
	}
	return g
}

// logs returns the logarithm of the number of cells of the clique that eliminates a.
func (g *graph) logs(a int) float64 {
	sum := g.log[a]
	for _, b := range g.near[a].members() {
		sum += g.log[b]
	}
	return sum
}

// fill returns the number of edges that the elimination of a adds, or with weigh the sum of their weights: the
// products of the logarithms of both sizes.
func (g *graph) fill(a int, weigh bool) float64 {
	sum := 0.0
	for _, b := range g.near[a].members() {
		missing := g.near[a].without(g.near[b])
		for _, c := range missing.members() {
			if c <= b {
				continue
			}
			if weigh {
				sum += g.log[b] * g.log[c]
			} else {
				sum++
			}
		}
	}
	return sum
}

// eliminate removes all vertices, each time the one that costs least, and returns the maximal cliques that arise.
func (g *graph) eliminate(cost rule) []set {
	var cliques []set
	costs, stale := make([]float64, len(g.near)), set{}
	for a := range g.near {
		stale.add(a)
	}
	left := stale
	for range g.near {
		for _, a := range stale.members() {
			costs[a] = cost(g, a)
		}
		next, least := -1, math.Inf(1)
		for _, a := range left.members() {
			if next < 0 || costs[a] < least {
				next, least = a, costs[a]
			}
		}
		near := g.near[next]
		clique := near
		clique.add(next)
		maximal := true
		for _, c := range cliques {
			if clique.in(c) {
				maximal = false
				break
			}
		}
		if maximal {
			cliques = append(cliques, clique)
		}
		left.remove(next)
		// The costs of the neighbours change, and those of their neighbours.
		stale = near
		for _, b := range near.members() {
			g.near[b] = g.near[b].or(near)
			g.near[b].remove(b)
			g.near[b].remove(next)
			stale = stale.or(g.near[b])
		}
		stale = stale.and(left)
	}
	return cliques
}
