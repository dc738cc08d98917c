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

func sortedKeys[V any](m map[int]V) []int {
	var out []int
	for k := range m {
		out = append(out, k)
	}
	slices.SortFunc(out, cmp.Compare[int])
	return out
}

// number is a type in which variances are computed: complex numbers for derivatives by a complex step.
type number interface{ float64 | complex128 }

// smoothed holds the variances of the least-squares estimates in a tree, in units of the covariance that all
// measurements of one part share.
type smoothed[F number] struct {
	up   []F // of the estimate from the node's subtree alone
	sum  []F // of the sum of the children's estimates
	full []F // of the estimate from all measurements
}

// smooth computes the variances of the least-squares estimates of all nodes' true numbers, when each node of level l
// is measured with the given precision (the inverse of the variance), or not at all if that is 0. Levels below lowest
// are left out. The level lowest must have a precision.
//
// The estimate from a node's subtree averages the node's own measurement and the sum of its children's estimates,
// weighted by their precisions. A child's final estimate then adds to its own the share up/sum of what its parent's
// final estimate exceeds the sum of the children by. These two passes are the Kalman filter and the smoother of Rauch,
// Tung & Striebel (1965) on a tree, so the result is the least-squares estimate. Hay, Rastogi, Miklau & Suciu (2010,
// §4.2) have the case of equal variances and equal numbers of children.
func smooth[F number](t *tree, precision []F, lowest int) smoothed[F] {
	n := len(t.level)
	s := smoothed[F]{make([]F, n), make([]F, n), make([]F, n)}
	for i := n - 1; i >= 0; i-- {
		if t.level[i] < lowest {
			continue
		}
		own := precision[t.level[i]]
		switch {
		case t.fixed[i], t.level[i] > lowest && s.sum[i] == 0: // 0 is the variance of a constant
		case t.level[i] == lowest:
			s.up[i] = 1 / own
		default:
			s.up[i] = 1 / (own + 1/s.sum[i])
		}
		if p := t.parent[i]; p >= 0 {
			s.sum[p] += times[F](t.times[i]) * s.up[i]
		}
	}
	for i, p := range t.parent {
		if t.level[i] < lowest {
			continue
		}
		s.full[i] = s.up[i]
		if p >= 0 && s.sum[p] != 0 {
			gain := s.up[i] / s.sum[p]
			s.full[i] += gain * gain * (s.full[p] - s.sum[p])
		}
	}
	return s
}

// times converts a float to the type F.
func times[F number](x float64) F {
	var out F
	switch p := any(&out).(type) {
	case *float64:
		*p = x
	case *complex128:
		*p = complex(x, 0)
	}
	return out
}
