package table

import (
	"fmt"
	"math/bits"
	"slices"
)

// MaxClassifications is the largest number of classifications of one group of tables.
const MaxClassifications = 12

// Space is the domain of a group of tables: the nodes of a hierarchy times the values of some classifications.
type Space struct {
	Hierarchy *Hierarchy
	Sizes     []int // the number of values of each classification
}

// Keys is a set of classifications: bit k stands for the k-th.
type Keys uint64

// has reports whether the set contains the k-th classification.
func (s Keys) has(k int) bool { return s>>k&1 == 1 }

// list returns the classifications of the set, in increasing order.
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

// width returns the number of combinations of values of the classifications in s.
func (s *Space) width(keys Keys) int {
	n := 1
	for _, k := range keys.list() {
		n = min(n*s.Sizes[k], maxWidth)
	}
	return n
}

// maxWidth is a number of cells that no memory holds. The number of cells of a block is at most this, so that products of it
// do not overflow.
const maxWidth = 1 << 40

// Cells returns the number of cells of a margin. Beyond 2⁴⁰ it may be too small.
func (s *Space) Cells(m Margin) int { return s.Hierarchy.Nodes(m.Level) * s.width(m.Keys) }

// check returns an error unless the margin is one of the space.
func (s *Space) check(m Margin) error {
	if m.Level < 0 || m.Level >= len(s.Hierarchy.Levels) || m.Keys>>len(s.Sizes) != 0 {
		return fmt.Errorf("a table has level %d and classifications %b, which do not exist", m.Level, m.Keys)
	}
	return nil
}

// without sums one node's block of numbers over classification k of the set keys.
func (s *Space) without(block []float64, keys Keys, k int) []float64 {
	inner := s.width(keys &^ (1<<(k+1) - 1))
	n := s.Sizes[k]
	out := make([]float64, len(block)/n)
	for i := range out {
		for v := range n {
			out[i] += block[(i/inner*n+v)*inner+i%inner]
		}
	}
	return out
}

// summed sums one node's block over the classifications in keys that are not in onto.
func (s *Space) summed(block []float64, keys, onto Keys) []float64 {
	for _, k := range (keys &^ onto).list() {
		block = s.without(block, keys, k)
		keys &^= 1 << k
	}
	return block
}

// centred subtracts from one node's block its means along each classification of keys, in place.
func (s *Space) centred(block []float64, keys Keys) {
	for _, k := range keys.list() {
		inner, n := s.width(keys&^(1<<(k+1)-1)), s.Sizes[k]
		for i := range s.without(block, keys, k) {
			mean, first := 0.0, i/inner*n*inner+i%inner
			for v := range n {
				mean += block[first+v*inner] / float64(n)
			}
			for v := range n {
				block[first+v*inner] -= mean
			}
		}
	}
}

// projection returns, for each cell of a block over keys, the index of the cell of a block over onto ⊆ keys that
// contains it.
func (s *Space) projection(keys, onto Keys) []int {
	out := []int{0}
	for _, k := range keys.list() {
		next := make([]int, 0, len(out)*s.Sizes[k])
		for _, cell := range out {
			for v := range s.Sizes[k] {
				if onto.has(k) {
					next = append(next, cell*s.Sizes[k]+v)
				} else {
					next = append(next, cell)
				}
			}
		}
		out = next
	}
	return out
}
