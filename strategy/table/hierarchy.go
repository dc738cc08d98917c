package table

import (
	"fmt"
	"slices"
)

// MaxNodes is the largest number of nodes of a hierarchy, over all levels.
const MaxNodes = 200_000

// Hierarchy is a set of nodes in levels, such as counties, states and the country. Each node has one parent in the
// next coarser level.
type Hierarchy struct {
	Levels []Level // the finest first
}

// Level is one level of a hierarchy.
type Level struct {
	Name   string
	Labels []string // one per node, distinct
	Parent []int    // for each node, the index of its parent in the next level; nil in the coarsest level
}

// Single returns the hierarchy that has a single node, for tables without rows by place.
func Single(name string) *Hierarchy {
	return &Hierarchy{Levels: []Level{{Name: name, Labels: []string{name}}}}
}

// NewHierarchy builds a hierarchy from paths. Each path lists the labels of one leaf and its ancestors, and levels
// names their levels, the finest first. The leaves are the nodes of the finest level, in the order of the paths. Nodes
// of other levels are in the order in which the paths first name them.
//
// It returns an error if two paths have the same leaf, if a path has another length than levels, or if levels do not
// nest: that is, if two nodes with the same label in one level have different parents.
func NewHierarchy(levels []string, paths [][]string) (*Hierarchy, error) {
	if len(levels) == 0 || len(paths) == 0 {
		return nil, fmt.Errorf("a hierarchy needs a level and a leaf")
	}
	h := &Hierarchy{}
	seen := make([]map[string]int, len(levels))
	for i, name := range levels {
		if slices.Contains(levels[:i], name) {
			return nil, fmt.Errorf("two levels have the name %q", name)
		}
		h.Levels, seen[i] = append(h.Levels, Level{Name: name}), map[string]int{}
	}
	nodes := 0
	for _, path := range paths {
		if len(path) != len(levels) {
			return nil, fmt.Errorf("a path has %d labels, but there are %d levels", len(path), len(levels))
		}
		if _, again := seen[0][path[0]]; again {
			return nil, fmt.Errorf("%s %q is listed twice", levels[0], path[0])
		}
		parent := -1
		for i, label := range slices.Backward(path) {
			at, known := seen[i][label]
			l := &h.Levels[i]
			switch {
			case !known:
				if nodes++; nodes > MaxNodes {
					return nil, fmt.Errorf("the hierarchy has more than %d nodes", MaxNodes)
				}
				at = len(l.Labels)
				seen[i][label], l.Labels = at, append(l.Labels, label)
				if parent >= 0 {
					l.Parent = append(l.Parent, parent)
				}
			case parent >= 0 && l.Parent[at] != parent:
				up := &h.Levels[i+1]
				return nil, fmt.Errorf("the levels %s and %s do not nest: %q is in %q and in %q",
					l.Name, up.Name, label, up.Labels[l.Parent[at]], up.Labels[parent])
			}
			parent = at
		}
	}
	return h, nil
}

// Level returns the index of the level with the given name, or −1.
func (h *Hierarchy) Level(name string) int {
	return slices.IndexFunc(h.Levels, func(l Level) bool { return l.Name == name })
}

// Nodes returns the number of nodes of a level.
func (h *Hierarchy) Nodes(level int) int { return len(h.Levels[level].Labels) }

// Only returns the hierarchy with some of its levels, in increasing order.
func (h *Hierarchy) Only(levels []int) *Hierarchy {
	out := &Hierarchy{}
	for i, l := range levels {
		of := Level{Name: h.Levels[l].Name, Labels: h.Levels[l].Labels}
		if i+1 < len(levels) {
			of.Parent = h.upward(l, levels[i+1])
		}
		out.Levels = append(out.Levels, of)
	}
	return out
}

// Ancestor returns, for each leaf, the index of its ancestor in the given level.
func (h *Hierarchy) Ancestor(level int) []int { return h.upward(0, level) }

// upward returns, for each node of a level, the index of its ancestor in a coarser level. The level after the last one
// has a single node.
func (h *Hierarchy) upward(from, to int) []int {
	if from == len(h.Levels) {
		return []int{0}
	}
	out := make([]int, h.Nodes(from))
	if to == len(h.Levels) {
		return out
	}
	for i := range out {
		out[i] = i
		for l := from; l < to; l++ {
			out[i] = h.Levels[l].Parent[out[i]]
		}
	}
	return out
}

// children returns, for each node of a level above the finest, its children in the next finer level.
func (h *Hierarchy) children(level int) [][]int {
	out := make([][]int, h.Nodes(level))
	for i, p := range h.Levels[level-1].Parent {
		out[p] = append(out[p], i)
	}
	return out
}
