package table

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// maxSVD is the largest number of rows of a matrix whose eigenvalues [SVDBound] computes: the nodes of the second finest
// level, times the coordinates of the classifications.
const maxSVD = 600

// SVDBound returns a lower bound on the error of every linear measurement of the goals, not only of tables: the root of
// the weighted mean variance, if one count alone has noise of the given variance at the whole price. It is NaN if the
// hierarchy and the levels of classifications are too large. The bound is exact up to the rounding of floats.
//
// Let G be the weighted sum of MᵀM over the goals' matrices M, each divided by its number of cells. A matrix A whose
// columns have norms of at most 1 measures with the mean variance v·tr((AᵀA)⁻¹G) ≥ v·(tr √G)²/N for N cells [Li & Miklau
// 2013, theorem 1]. Under ε, the sensitivity is at least the largest norm of a column, so the same bound holds.
//
// In the components of [NewAccuracy], G is a sum of products of matrices of ones over the leaves below each node and of
// matrices over the coordinates. Contrasts of the leaves below a node of the second finest level are eigenvectors of the
// first factor. The other vectors are constant below each such node, so that a matrix of their number remains.
func SVDBound(space *Space, goals []Goal, variance float64) float64 {
	e := newEvaluator(space, goals, nil, UnderRho)
	cells := float64(space.Hierarchy.Nodes(0))
	for _, c := range space.Classes {
		cells *= float64(c.Nodes(0))
	}
	sum := 0.0
	for _, part := range e.parts {
		by := make([][]float64, len(space.Hierarchy.Levels)) // the factors of the levels' matrices of ones
		for l := range by {
			by[l] = make([]float64, part.dim*part.dim)
		}
		for _, g := range part.goals {
			weight := goals[g.index].Weight / e.weight * g.factor / part.contrasts
			for i, x := range g.gram {
				by[g.level][i] += weight * x / (part.norms[i/part.dim] * part.norms[i%part.dim])
			}
		}
		roots, ok := sumOfRoots(space.Hierarchy, by, part.dim)
		if !ok {
			return math.NaN()
		}
		sum += part.contrasts * roots
	}
	return math.Sqrt(variance/cells) * sum
}

// sumOfRoots returns the trace of the root of Σ_l S_lᵀS_l ⊗ by[l], where S_l adds up leaves to the nodes of level l. It
// reports false if the matrix is too large.
func sumOfRoots(h *Hierarchy, by [][]float64, d int) (float64, bool) {
	leaves, n := float64(h.Nodes(0)), 0
	if len(h.Levels) > 1 {
		n = h.Nodes(1)
	}
	if n*d > maxSVD || d > maxSVD {
		return 0, false
	}
	contrasts, ok := root(mat.NewSymDense(d, by[0]))
	if !ok || n == 0 {
		return leaves * contrasts, ok
	}
	below := make([]float64, n)
	for _, p := range h.Levels[0].Parent {
		below[p]++
	}
	m := mat.NewSymDense(n*d, nil)
	add := func(i, j int, f float64, x []float64) {
		for a := range d {
			for b := range d {
				if r, c := i*d+a, j*d+b; r <= c {
					m.SetSym(r, c, m.At(r, c)+f*x[a*d+b])
				}
			}
		}
	}
	for i := range n {
		add(i, i, 1, by[0])
	}
	for l := 1; l < len(h.Levels); l++ {
		up := h.upward(1, l)
		for i := range n {
			for j := i; j < n; j++ {
				if up[i] == up[j] {
					add(i, j, math.Sqrt(below[i]*below[j]), by[l])
				}
			}
		}
	}
	rest, ok := root(m)
	return (leaves-float64(n))*contrasts + rest, ok
}

// root returns the trace of the root of a matrix.
func root(m *mat.SymDense) (sum float64, ok bool) {
	var e mat.EigenSym
	if !e.Factorize(m, false) {
		return 0, false
	}
	for _, x := range e.Values(nil) {
		sum += math.Sqrt(math.Max(0, x))
	}
	return sum, true
}
