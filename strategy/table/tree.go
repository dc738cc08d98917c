package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// tree is a hierarchy in which nodes that variances cannot distinguish are merged: nodes below the same parent whose
// subtrees have the same shape. Parents come before their children.
type tree struct {
	level  []int
	parent []int     // −1 for the coarsest level
	times  []float64 // the number of nodes of the hierarchy that are merged, below one parent
	all    []float64 // the same below all parents
	fixed  []bool    // the node's total is a declared constant
	of     [][]int   // by level and node of the hierarchy: the index here
}

// newTree merges the nodes of a hierarchy. fixed reports the nodes with declared totals.
func newTree(h *Hierarchy, fixed func(level, node int) bool) *tree {
	// The shape of a subtree is a number: two subtrees have the same number if they are equal but for the order of
	// children.
	shapes, numbers := make([][]int, len(h.Levels)), map[string]int{}
	for l := range h.Levels {
		shapes[l] = make([]int, h.Nodes(l))
		var below [][]int
		if l > 0 {
			below = h.children(l)
		}
		for i := range shapes[l] {
			var text strings.Builder
			fmt.Fprint(&text, l, fixed(l, i))
			if l > 0 {
				counts := map[int]int{}
				for _, c := range below[i] {
					counts[shapes[l-1][c]]++
				}
				for _, shape := range sortedKeys(counts) {
					fmt.Fprint(&text, " ", shape, ":", counts[shape])
				}
			}
			n, ok := numbers[text.String()]
			if !ok {
				n = len(numbers)
				numbers[text.String()] = n
			}
			shapes[l][i] = n
		}
	}
	t := &tree{of: make([][]int, len(h.Levels))}
	type place struct{ parent, shape int }
	for l := len(h.Levels) - 1; l >= 0; l-- {
		at := map[place]int{}
		t.of[l] = make([]int, h.Nodes(l))
		for i, shape := range shapes[l] {
			p := place{-1, shape}
			if h.Levels[l].Parent != nil {
				p.parent = t.of[l+1][h.Levels[l].Parent[i]]
			}
			n, ok := at[p]
			if !ok {
				n = len(t.level)
				at[p] = n
				t.level, t.parent = append(t.level, l), append(t.parent, p.parent)
				t.all, t.fixed = append(t.all, 0), append(t.fixed, fixed(l, i))
			}
			t.all[n]++
			t.of[l][i] = n
		}
	}
	for i, p := range t.parent {
		n := t.all[i]
		if p >= 0 {
			n /= t.all[p]
		}
		t.times = append(t.times, n)
	}
	return t
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	var out []K
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
