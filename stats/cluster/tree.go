package cluster

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
)

func sortedKeys(m map[float64]float64) []float64 { return slices.Sorted(maps.Keys(m)) }

// runTree is k-means of a coreset. The rows are grouped by their sides of random planes through the noisy mean of
// all rows. The prefixes of the sides form a tree. A node is divided if its noisy count is at least three times
// [leastCount]. The leaves whose counts are clear of noise are clustered by their noisy means, weighted by their
// noisy counts. The other leaves join these clusters. If no leaf is clear of noise, all rows are one cluster.
//
// The method makes three accesses: the count and sum of all rows, the counts of all combinations of sides, and the
// counts and sums of the leaves. The count of a node is the sum over its combinations of sides.
func runTree(ctx context.Context, t task, s source) (*result, error) {
	out := &result{}
	all, err := out.take(ctx, s, 0, access{kind: allRows, sums: true, about: "all rows"})
	if err != nil {
		return nil, err
	}
	rows, middle := all.counts[0], make([]float64, t.d)
	if rows >= 1 {
		middle = t.inside(divided(all.sums[0], rows))
	} else {
		out.warnings = append(out.warnings, "The noisy count of rows is below 1: the clusters are only noise.")
	}
	planes := randomPlanes(t, middle)
	sides, err := out.take(ctx, s, 1,
		access{kind: bySide, planes: planes, about: fmt.Sprintf("the sides of %d planes", len(planes))})
	if err != nil {
		return nil, err
	}
	halves := &treeNode{below: &treeNode{}, beyond: &treeNode{leaf: 1}}
	_, deviation, err := s.deviation(ctx, 2, access{kind: byLeaf, planes: planes, tree: halves, leaves: 2, sums: true})
	if err != nil {
		return nil, err
	}
	tree, leaf, leaves := growTree(sides.counts, leastCount(t, rows, deviation), mostDivisions(t.d))
	cells, err := out.take(ctx, s, 2,
		access{
			kind: byLeaf, planes: planes, tree: tree, leaf: leaf, leaves: leaves, sums: true,
			about: fmt.Sprintf("%d groups", leaves),
		})
	if err != nil {
		return nil, err
	}
	out.leaves = leaves
	out.assignGroups(t, cells, tree)
	if len(out.clusters) == 0 {
		out.assignAll(t, cells, middle)
	} else if len(out.clusters) < t.k {
		out.warnings = append(out.warnings,
			fmt.Sprintf("Rows were found in too few places for %d clusters: the result has "+
				"%d.", t.k, len(out.clusters)))
	}
	return out, nil
}

// fewestPlanes and mostPlanes limit the depth of the tree.
const (
	fewestPlanes = 8
	mostPlanes   = 9
)

// randomPlanes returns random planes through a point, enough for eight groups for each cluster.
func randomPlanes(t task, through []float64) []plane {
	s := randomStream(t.seed, 4)
	out := make([]plane, max(fewestPlanes, min(mostPlanes, bits.Len(uint(8*t.looks()-1)))))
	for i := range out {
		p := plane{normal: make([]float64, t.d)}
		for x := range p.normal {
			if p.normal[x] = math.Round(s.normal()*1000) / 1000; p.normal[x] == 0 {
				p.normal[x] = 0.001
			}
			p.offset += p.normal[x] * through[x]
		}
		p.offset = math.Round(p.offset*1e6) / 1e6
		out[i] = p
	}
	return out
}

// leastCount returns the least noisy count n for which a group deserves a mean of its own. In d dimensions the
// noise on the mean has a length of √d·deviation/n. At n = 10·deviation, this is a tenth of √d, the radius of the
// space. Half of an average cluster is enough too.
func leastCount(t task, rows, deviation float64) float64 {
	return math.Max(1, math.Min(10*deviation, rows/float64(2*t.looks())))
}

// treeNode is a node of the tree. It contains the rows on one combination of sides of the planes above it. The
// plane that divides a node is determined by the node's depth.
type treeNode struct {
	from, to      int // range of the node's cells among the combinations of sides
	count         float64
	below, beyond *treeNode // nil for a leaf
	leaf          int       // number of a leaf, counting from 0
}

// growTree divides nodes, the one with the largest count first, and numbers the leaves. counts has a noisy count
// for each cell, which is a combination of sides of the planes. growTree stops when no node has a count of 3·least
// or more, or when it has divided as many nodes as the limit `most` permits.
func growTree(counts []float64, least float64, most int) (root *treeNode, leaf []int, leaves int) {
	node := func(from, to int) *treeNode {
		n := &treeNode{from: from, to: to}
		for _, c := range counts[from:to] {
			n.count += c
		}
		return n
	}
	root = node(0, len(counts))
	open := []*treeNode{root}
	for range most {
		best := -1
		for i, n := range open {
			if n.to-n.from > 1 && n.count >= 3*least && (best < 0 || n.count > open[best].count) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		n := open[best]
		middle := (n.from + n.to) / 2
		n.below, n.beyond = node(n.from, middle), node(middle, n.to)
		open[best] = n.below
		open = append(open, n.beyond)
	}
	leaf = make([]int, len(counts))
	var number func(n *treeNode)
	number = func(n *treeNode) {
		if n.below != nil {
			number(n.below)
			number(n.beyond)
			return
		}
		n.leaf = leaves
		for i := n.from; i < n.to; i++ {
			leaf[i] = leaves
		}
		leaves++
	}
	number(root)
	return root, leaf, leaves
}

// mostDivisions returns the largest number of divisions of the tree. Each division writes out its plane, and the
// kernel limits the length of a statement.
func mostDivisions(d int) int { return min(127, 4000/(4*d+8)) }
