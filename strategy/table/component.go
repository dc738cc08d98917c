package table

import (
	"math"
	"slices"
)

// component is the part of all tables that has the contrasts of some classifications, and the coordinates of the others
// ([axis]). Different components of independent noise are uncorrelated. Within one, all measurements are products of a
// matrix over the coordinates and the same projection onto contrasts, so that only the coordinates' matrices remain.
type component struct {
	space     *Space
	axes      []*axis
	set       Keys      // the finest bits of the classifications with contrasts
	dim       int       // the number of coordinates: combinations of those of the other classifications
	contrasts float64   // the number of independent contrasts
	sizes     []int     // by classification: its number of values, or of coordinates
	at        []int     // for each coordinate, its place in a block
	within    []int     // for each combination of values, its place after that of a coordinate
	norms     []float64 // of the coordinates' vectors
	levels    [][]int   // for each coordinate and classification: its level; 0 for a classification with contrasts
}

// newAxes returns the axes of a space's classifications.
func newAxes(s *Space) (out []*axis) {
	for _, c := range s.Classes {
		out = append(out, newAxis(c))
	}
	return out
}

func newComponent(s *Space, axes []*axis, set Keys) *component {
	c := &component{space: s, axes: axes, set: set, contrasts: 1, at: []int{0}, within: []int{0}, levels: [][]int{nil}, norms: []float64{1}}
	for k, a := range axes {
		n := len(a.level)
		if c.has(k) {
			n = len(a.block)
			c.contrasts *= float64(n - len(a.size))
		}
		c.sizes = append(c.sizes, n)
		c.at, c.within = spread(c.at, n, !c.has(k)), spread(c.within, n, c.has(k))
		var levels [][]int
		var norms []float64
		for i, of := range c.levels {
			if c.has(k) {
				levels, norms = append(levels, append(slices.Clone(of), 0)), append(norms, c.norms[i])
				continue
			}
			for j, l := range a.level {
				norm := c.norms[i]
				if j == 0 {
					norm /= math.Sqrt(float64(len(a.block)))
				}
				levels, norms = append(levels, append(slices.Clone(of), l)), append(norms, norm)
			}
		}
		c.levels, c.norms = levels, norms
	}
	c.dim = len(c.at)
	return c
}

// spread returns places in a block that has one more axis of n numbers, at all of them or at the first.
func spread(at []int, n int, all bool) (out []int) {
	for _, i := range at {
		for v := range n {
			if v == 0 || all {
				out = append(out, i*n+v)
			}
		}
	}
	return out
}

// has reports whether the component has the contrasts of classification k.
func (c *component) has(k int) bool { return c.set.has(c.space.first(k)) }

// in reports whether a table with the given classifications depends on the component.
func (c *component) in(keys Keys) bool { return c.set&^keys == 0 }

// depends reports, for each coordinate, whether tables with the given classifications depend on it.
func (c *component) depends(keys Keys) []bool {
	out := make([]bool, c.dim)
	for i, levels := range c.levels {
		out[i] = true
		for k, l := range levels {
			out[i] = out[i] && (c.has(k) || l >= c.space.LevelOf(keys, k))
		}
	}
	return out
}

// gram returns the information on the coordinates that a table has whose noise has variance 1, row by row.
func (c *component) gram(keys Keys) []float64 {
	out := []float64{1}
	n := 1
	for k, a := range c.axes {
		if c.has(k) {
			continue
		}
		g := a.grams[c.space.LevelOf(keys, k)]
		next := make([]float64, n*len(g)*n*len(g))
		for i := range n * len(g) {
			for j := range n * len(g) {
				next[i*n*len(g)+j] = out[i/len(g)*n+j/len(g)] * g[i%len(g)][j%len(g)]
			}
		}
		out, n = next, n*len(g)
	}
	return out
}

// information turns one node's block of a table into the block of the component to which its noise has the covariance
// of [component.gram].
func (c *component) information(block []float64, keys Keys) []float64 {
	sizes := c.sizesOf(keys)
	for k, a := range c.axes {
		if c.has(k) {
			block = a.centred(block, sizes, k)
			continue
		}
		rows := a.rows[c.space.LevelOf(keys, k)]
		block = along(block, sizes, k, len(a.level), func(j, i int) float64 { return rows[i][j] })
	}
	return block
}

// cells returns what one node's block of the component adds to the cells of a table.
func (c *component) cells(block []float64, keys Keys) []float64 {
	sizes := slices.Clone(c.sizes)
	for k, a := range c.axes {
		if !c.has(k) {
			rows := a.rows[c.space.LevelOf(keys, k)]
			block = along(block, sizes, k, len(rows), func(i, j int) float64 { return rows[i][j] })
		}
	}
	return block
}

// variances returns the variances that the component adds to the cells of a table, for the covariance of coordinates.
func (c *component) variances(covariance []float64, keys Keys) []float64 {
	// a row of a product of matrices for each cell, in the order of cells
	rows, factor := [][]float64{{1}}, []float64{1}
	for k, a := range c.axes {
		l := c.space.LevelOf(keys, k)
		var nextRows [][]float64
		var next []float64
		for i, row := range rows {
			for v, own := range a.rows[l] {
				if c.has(k) {
					nextRows, next = append(nextRows, row), append(next, factor[i]*(1-1/a.size[a.block[v]]))
					continue
				}
				product := make([]float64, 0, len(row)*len(own))
				for _, x := range row {
					for _, y := range own {
						product = append(product, x*y)
					}
				}
				nextRows, next = append(nextRows, product), append(next, factor[i])
			}
		}
		rows, factor = nextRows, next
	}
	out := make([]float64, len(rows))
	for i, row := range rows {
		for a, x := range row {
			if x != 0 {
				for b, y := range row {
					out[i] += x * y * covariance[a*c.dim+b]
				}
			}
		}
		out[i] *= factor[i]
	}
	return out
}

// sizesOf returns the numbers of values of each classification in a block over keys.
func (c *component) sizesOf(keys Keys) []int {
	out := make([]int, len(c.axes))
	for k := range out {
		out[k] = c.space.nodesOf(keys, k)
	}
	return out
}

// along multiplies a block along one axis by a matrix with n rows, and changes the axis's size to n.
func along(x []float64, sizes []int, k, n int, m func(i, j int) float64) []float64 {
	inner, of := 1, sizes[k]
	for _, size := range sizes[k+1:] {
		inner *= size
	}
	outer := len(x) / of / inner
	out := make([]float64, outer*n*inner)
	for i := range n {
		for j := range of {
			f := m(i, j)
			if f == 0 {
				continue
			}
			for o := range outer {
				to, from := out[(o*n+i)*inner:(o*n+i+1)*inner], x[(o*of+j)*inner:]
				for c := range to {
					to[c] += f * from[c]
				}
			}
		}
	}
	sizes[k] = n
	return out
}

// centred subtracts the means within blocks of values, along axis k.
func (a *axis) centred(x []float64, sizes []int, k int) []float64 {
	inner := 1
	for _, size := range sizes[k+1:] {
		inner *= size
	}
	out, n := slices.Clone(x), sizes[k]
	mean := make([]float64, len(a.size))
	for o := range len(x) / n / inner {
		for c := range inner {
			clear(mean)
			for v := range n {
				mean[a.block[v]] += x[(o*n+v)*inner+c] / a.size[a.block[v]]
			}
			for v := range n {
				out[(o*n+v)*inner+c] -= mean[a.block[v]]
			}
		}
	}
	return out
}
