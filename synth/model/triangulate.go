package model

import (
	"math"
	"math/bits"
)

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
		cliques, _ := newGraph(d, within).eliminate(d, r, math.Inf(1))
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
	for i, word := range &g.near[a] {
		for ; word != 0; word &= word - 1 {
			sum += g.log[64*i+bits.TrailingZeros64(word)]
		}
	}
	return sum
}

// fill returns the number of edges that the elimination of a adds, or with weigh the sum of their weights: the
// products of the logarithms of both sizes. It takes most of the time of a synthesis of many columns, so it loops over
// words.
func (g *graph) fill(a int, weigh bool) float64 {
	sum, edges := 0.0, 0
	near := &g.near[a]
	for i, word := range near {
		for ; word != 0; word &= word - 1 {
			at := bits.TrailingZeros64(word)
			b := 64*i + at
			known := &g.near[b]
			missing := near[i] &^ known[i] & (^uint64(1) << at) // of those after b
			for j := i; ; {
				if !weigh {
					edges += bits.OnesCount64(missing)
				} else {
					for ; missing != 0; missing &= missing - 1 {
						sum += g.log[b] * g.log[64*j+bits.TrailingZeros64(missing)]
					}
				}
				if j++; j == len(near) {
					break
				}
				missing = near[j] &^ known[j]
			}
		}
	}
	return sum + float64(edges)
}

// eliminate removes all vertices, each time the one that costs least, and returns the maximal cliques that arise. It
// gives up once the cliques so far have more than most bytes.
func (g *graph) eliminate(d *Domain, cost rule, most float64) (cliques []set, within bool) {
	size := 0.0
	costs, stale := make([]float64, len(g.near)), set{}
	for a := range g.near {
		stale.add(a)
	}
	left := stale
	for range g.near {
		for a := stale.next(0); a >= 0; a = stale.next(a + 1) {
			costs[a] = cost(g, a)
		}
		next, least := -1, math.Inf(1)
		for a := left.next(0); a >= 0; a = left.next(a + 1) {
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
			if size += 8 * d.only(clique); size > most {
				return nil, false
			}
		}
		left.remove(next)
		// The costs of the neighbours change, and those of attributes near two neighbours that an edge joins now.
		var grown set
		for b := near.next(0); b >= 0; b = near.next(b + 1) {
			joined := g.near[b].or(near)
			joined.remove(b)
			if joined != g.near[b] {
				grown.add(b)
			}
			joined.remove(next)
			g.near[b] = joined
		}
		stale = near
		if grown == (set{}) {
			continue
		}
		for a := left.next(0); a >= 0; a = left.next(a + 1) {
			if g.near[a].and(grown).count() >= 2 {
				stale.add(a)
			}
		}
	}
	return cliques, true
}
