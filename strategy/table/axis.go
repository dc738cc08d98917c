package table

import (
	"fmt"
	"math"
)

// axis splits the numbers x of one classification's n values into uncorrelated parts. Blocks are the nodes of its second
// finest level, or all values if it has one level. The contrasts of x are its differences from the means within blocks. The
// rest, which is constant within each block, has orthogonal coordinates: first Σx, whose vector has the norm 1/√n, and then,
// for each node from the coarsest level down, weighted Helmert contrasts of its children, whose vectors have the norm 1. So a
// table of some level depends on the coordinates of this level and of coarser ones alone.
type axis struct {
	block []int     // of each value
	size  []float64 // of each block, in values
	level []int     // for each coordinate, the finest level of its contrast; the number of levels for the first
	// by level, up to that of the total: for each node, what it has of each coordinate. A value has q_j(block), and another
	// node the sum over its values
	rows  [][][]float64
	grams [][][]float64 // by level: RᵀR for the rows R
}

func newAxis(h *Hierarchy) *axis {
	top := len(h.Levels)
	second := min(1, top)
	a := &axis{block: h.upward(0, second)}
	count := 1
	if second < top {
		count = h.Nodes(second)
	}
	a.size = make([]float64, count)
	for _, b := range a.block {
		a.size[b]++
	}
	vectors := a.basis(h, second)
	for l := range top + 1 {
		up := h.upward(0, l)
		rows := make([][]float64, nodes(h, l))
		for i := range rows {
			rows[i] = make([]float64, len(vectors))
		}
		for value, node := range up {
			rows[node][0]++
			for j, q := range vectors[1:] {
				if a.level[j+1] >= l {
					rows[node][j+1] += q[a.block[value]]
				}
			}
		}
		for _, r := range rows {
			r[0] /= float64(len(a.block))
		}
		a.rows = append(a.rows, rows)
		a.grams = append(a.grams, gram(rows, len(vectors)))
	}
	return a
}

// The largest number of coordinates of all classifications together, and of numbers of one classification's rows.
const (
	maxCoordinates = 256
	maxRows        = 1 << 24
)

// checkLevels returns an error if the levels of classifications have too many coordinates.
func (s *Space) checkLevels() error {
	n := 1
	for _, c := range s.Classes {
		of := nodes(c, 1)
		if n = min(n*of, maxWidth); n > maxCoordinates || of > maxRows/c.Nodes(0) {
			return tooManyLevels(n)
		}
	}
	return nil
}

func tooManyLevels(n int) error {
	return fmt.Errorf("tables have several levels of the classifications, and the finest levels but one have %d combinations of values, "+
		"which are too many to choose what to measure; a hierarchy of rows may have more", n)
}

// nodes returns the number of nodes of a level, which may be that of the total.
func nodes(h *Hierarchy, level int) int {
	if level == len(h.Levels) {
		return 1
	}
	return h.Nodes(level)
}

// basis returns the coordinates' vectors by block, and sets their levels.
func (a *axis) basis(h *Hierarchy, second int) (out [][]float64) {
	top := len(h.Levels)
	first := make([]float64, len(a.size))
	for i := range first {
		first[i] = 1 / float64(len(a.block))
	}
	out, a.level = append(out, first), append(a.level, top)
	for l := top - 1; l >= second; l-- {
		of := h.upward(second, l) // the node of each block
		sizes := make([]float64, h.Nodes(l))
		for b, node := range of {
			sizes[node] += a.size[b]
		}
		above := h.upward(l, l+1)
		before := make([][]int, nodes(h, l+1)) // for each parent, the children that were reached
		for child, parent := range above {
			if earlier := before[parent]; len(earlier) > 0 {
				sum := 0.0
				for _, c := range earlier {
					sum += sizes[c]
				}
				q, own := make([]float64, len(a.size)), sizes[child]
				for b, node := range of {
					switch {
					case node == child:
						q[b] = -math.Sqrt(sum / (own * (sum + own)))
					case above[node] == parent && node < child:
						q[b] = math.Sqrt(own / (sum * (sum + own)))
					}
				}
				out, a.level = append(out, q), append(a.level, l)
			}
			before[parent] = append(before[parent], child)
		}
	}
	return out
}

// gram returns RᵀR.
func gram(rows [][]float64, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range out[i] {
			for _, r := range rows {
				out[i][j] += r[i] * r[j]
			}
		}
	}
	return out
}
