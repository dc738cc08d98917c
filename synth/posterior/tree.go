package posterior

import (
	"fmt"
	"slices"

	"dither/synth/model"
)

// MaxCells is the largest number of cells of all cliques together.
const MaxCells = 1 << 20

// clique is a clique with its tables. The attributes that it shares with its parent come first, so a block of consecutive cells
// belongs to one cell of the separator.
type clique struct {
	members []int   // the last changes fastest
	shared  int     // the number of members in the separator
	parent  int     // −1 at the root
	block   int     // the cells of a block
	above   []int32 // by cell of the parent: the block
	first   int     // place of the first cell among the variables

	size   []float64 // by block: the rows
	share  []float64 // by cell: of its block
	count  []float64 // by cell
	slope  []float64 // by cell: of the logarithm of the likelihood
	total  []float64 // by block: the slope by the number of rows
	likely []int     // by block: the cell with variable 0
}

// evidence is a measurement of a marginal of a clique.
type evidence struct {
	clique   int
	place    []int32 // by cell of the clique: the cell of the marginal
	values   []float64
	variance float64
	laplace  bool
	sums     []float64
}

// newTree lays out cliques, each of which comes after its parent.
func newTree(sizes []int, cliques [][]int) ([]*clique, int, error) {
	var out []*clique
	seen := map[int]bool{}
	cells := 0
	for i, members := range cliques {
		c := &clique{parent: -1, first: cells}
		for _, a := range members {
			if a < 0 || a >= len(sizes) {
				return nil, 0, fmt.Errorf("posterior: there is no attribute %d", a)
			}
			if seen[a] {
				c.members = append(c.members, a)
			}
		}
		c.shared = len(c.members)
		for _, a := range members {
			if !seen[a] {
				c.members = append(c.members, a)
				seen[a] = true
			}
		}
		for j := 0; j < i && c.parent < 0; j++ {
			if !slices.ContainsFunc(c.members[:c.shared], func(a int) bool { return !slices.Contains(out[j].members, a) }) {
				c.parent = j
			}
		}
		if i > 0 && c.parent < 0 {
			return nil, 0, fmt.Errorf("posterior: the cliques %v are no junction tree in this order", cliques)
		}
		n, blocks := 1, 1
		for k, a := range c.members {
			if n *= sizes[a]; n > MaxCells-cells {
				return nil, 0, fmt.Errorf("posterior: the cliques have more than %d cells", MaxCells)
			}
			if k < c.shared {
				blocks *= sizes[a]
			}
		}
		cells += n
		c.block = n / blocks
		c.share, c.count, c.slope = make([]float64, n), make([]float64, n), make([]float64, n)
		c.size, c.total, c.likely = make([]float64, blocks), make([]float64, blocks), make([]int, blocks)
		if c.parent >= 0 {
			c.above = walk(sizes, out[c.parent].members, c.members[:c.shared])
		}
		out = append(out, c)
	}
	return out, cells, nil
}

// walk returns the cell of a marginal for each cell of a table.
func walk(sizes, from, to []int) []int32 {
	n := 1
	for _, a := range from {
		n *= sizes[a]
	}
	steps := make([]int, len(from))
	step := 1
	for i := len(to) - 1; i >= 0; i-- {
		steps[slices.Index(from, to[i])] = step
		step *= sizes[to[i]]
	}
	out := make([]int32, n)
	for cell := range out {
		rest, at := cell, 0
		for i := len(from) - 1; i >= 0; i-- {
			at += rest % sizes[from[i]] * steps[i]
			rest /= sizes[from[i]]
		}
		out[cell] = int32(at)
	}
	return out
}

// newEvidence places measurements in the cliques.
func newEvidence(sizes []int, tree []*clique, measured []model.Measurement, laplace bool) (out []*evidence, err error) {
	for _, m := range measured {
		e := &evidence{clique: -1, values: m.Values, variance: m.Variance, laplace: laplace, sums: make([]float64, len(m.Values))}
		for i, c := range tree {
			outside := slices.ContainsFunc(m.Attributes, func(a int) bool { return !slices.Contains(c.members, a) })
			if !outside && (e.clique < 0 || len(c.count) < len(tree[e.clique].count)) {
				e.clique = i
			}
		}
		cells := 1
		for _, a := range m.Attributes {
			if a >= 0 && a < len(sizes) {
				cells *= sizes[a]
			}
		}
		if e.clique < 0 || m.Matrices != nil || cells != len(m.Values) || !(m.Variance > 0) {
			return nil, fmt.Errorf("posterior: the measurement of %v does not fit the cliques", m.Attributes)
		}
		e.place = walk(sizes, tree[e.clique].members, m.Attributes)
		out = append(out, e)
	}
	return out, nil
}
