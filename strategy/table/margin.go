package table

import (
	"fmt"
	"math/bits"
	"slices"
)

// MaxClassifications is the largest number of classifications of one group of tables, and MaxLevels that of their levels.
const (
	MaxClassifications = 12
	MaxLevels          = 60
)

// Space is the domain of a group of tables: the nodes of a hierarchy times the values of some classifications.
type Space struct {
	Hierarchy *Hierarchy
	// the classifications, with the levels that tables have. The coarsest level may have several nodes
	Classes []*Hierarchy
}

// Flat returns classifications without coarser levels, from their numbers of values.
func Flat(sizes ...int) (out []*Hierarchy) {
	for _, n := range sizes {
		out = append(out, &Hierarchy{Levels: []Level{{Labels: make([]string, n)}}})
	}
	return out
}

// Keys is a set of classifications, each at one of its levels. It has a bit for each level of each classification, in
// their order, the finest level first. A classification at some level has the bits of this level and of all coarser
// ones, because the level determines the coarser ones.
type Keys uint64

// has reports whether the set contains the k-th bit.
func (s Keys) has(k int) bool { return s>>k&1 == 1 }

// list returns the bits of the set, in increasing order.
func (s Keys) list() (out []int) {
	for ; s != 0; s &= s - 1 {
		out = append(out, bits.TrailingZeros64(uint64(s)))
	}
	return out
}

// subsets returns all subsets, the smaller sets before the sets that contain them.
func (s Keys) subsets() []Keys {
	out := []Keys{0}
	for t := s & -s; t != 0; t = (t - s) & s {
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b Keys) int { return bits.OnesCount64(uint64(a)) - bits.OnesCount64(uint64(b)) })
	return out
}

// Margin names a table: a cell for each node of a level and each combination of values of the classifications in
// Keys. Cells are listed by node, and within a node with the last classification running fastest.
type Margin struct {
	Level int
	Keys  Keys
}

// first returns the bit of the finest level of classification k.
func (s *Space) first(k int) (bit int) {
	for _, c := range s.Classes[:k] {
		bit += len(c.Levels)
	}
	return bit
}

// Key returns the set that has one classification at the given level.
func (s *Space) Key(class, level int) Keys {
	n := len(s.Classes[class].Levels)
	return (1<<n - 1) >> level << level << s.first(class)
}

// Finest returns the set in which each classification of keys is at its finest level.
func (s *Space) Finest(keys Keys) (out Keys) {
	for k, c := range s.Classes {
		if s.LevelOf(keys, k) < len(c.Levels) {
			out |= s.Key(k, 0)
		}
	}
	return out
}

// LevelOf returns the level of classification k in keys, or the number of its levels if keys does not have it.
func (s *Space) LevelOf(keys Keys, k int) int {
	n := len(s.Classes[k].Levels)
	return min(bits.TrailingZeros64(uint64(keys>>s.first(k))), n)
}

// nodesOf returns the number of values of classification k in keys: 1 if keys does not have it.
func (s *Space) nodesOf(keys Keys, k int) int {
	if l := s.LevelOf(keys, k); l < len(s.Classes[k].Levels) {
		return s.Classes[k].Nodes(l)
	}
	return 1
}

// Width returns the number of combinations of values of the classifications in keys.
func (s *Space) Width(keys Keys) int {
	n := 1
	for k := range s.Classes {
		n = min(n*s.nodesOf(keys, k), maxWidth)
	}
	return n
}

// maxWidth is a number of cells that no memory holds. The number of cells of a block is at most this, so that products of it
// do not overflow.
const maxWidth = 1 << 40

// Cells returns the number of cells of a margin. Beyond 2⁴⁰ it may be too small.
func (s *Space) Cells(m Margin) int { return s.Hierarchy.Nodes(m.Level) * s.Width(m.Keys) }

// check returns an error unless the margin is one of the space.
func (s *Space) check(m Margin) error {
	var whole Keys
	for k, c := range s.Classes {
		if l := s.LevelOf(m.Keys, k); l < len(c.Levels) {
			whole |= s.Key(k, l)
		}
	}
	if m.Level < 0 || m.Level >= len(s.Hierarchy.Levels) || m.Keys != whole {
		return fmt.Errorf("a table has level %d and classifications %b, which do not exist", m.Level, m.Keys)
	}
	return nil
}

// projection returns, for each cell of a block over keys, the index of the cell of a block over onto ⊆ keys that
// contains it.
func (s *Space) projection(keys, onto Keys) []int {
	out := []int{0}
	for k, c := range s.Classes {
		up, n := c.upward(s.LevelOf(keys, k), s.LevelOf(onto, k)), s.nodesOf(onto, k)
		next := make([]int, 0, len(out)*len(up))
		for _, cell := range out {
			for _, node := range up {
				next = append(next, cell*n+node)
			}
		}
		out = next
	}
	return out
}
