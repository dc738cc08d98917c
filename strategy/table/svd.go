package table

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// maxSVD is the largest number of nodes of the second finest level for which [SVDBound] is computed.
const maxSVD = 600

// SVDBound returns a lower bound on the error of every linear measurement of the goals, not only of tables: the root of
// the weighted mean variance, if one count alone has noise of the given variance at the whole price. It is NaN if the
// hierarchy is too large. The bound is exact up to the rounding of floats. Goals whose cells are merged are left out, which
// keeps the bound valid.
//
// Let G be the weighted sum of MᵀM over the goals' matrices M, each divided by its number of cells. A matrix A whose
// columns have norms of at most 1 measures with the mean variance v·tr((AᵀA)⁻¹G) ≥ v·(tr √G)²/N for N cells [Li & Miklau
// 2013, theorem 1]. Under ε, the sensitivity is at least the largest norm of a column, so the same bound holds.
//
// In the components of [NewAccuracy], G is a sum of matrices of ones over the leaves below each node, times an identity.
// Contrasts of the leaves below a node of the second finest level are eigenvectors. The other eigenvectors are constant
// below each such node, so that a matrix of their number remains.
func SVDBound(space *Space, goals []Goal, variance float64) float64 {
	h := space.Hierarchy
	if len(h.Levels) > 1 && h.Nodes(1) > maxSVD {
		return math.NaN()
	}
	weight, cells := 0.0, float64(h.Nodes(0))
	for _, n := range space.Sizes {
		cells *= float64(n)
	}
	var needed []Keys
	for _, g := range goals {
		weight += g.Weight
		for _, t := range g.Keys.subsets() {
			if !slices.Contains(needed, t) {
				needed = append(needed, t)
			}
		}
	}
	sum := 0.0
	for _, t := range needed {
		by := make([]float64, len(h.Levels)) // the factors of the levels' matrices of ones
		for _, g := range goals {
			merged := slices.ContainsFunc(g.Merged, func(b []int) bool {
				return slices.ContainsFunc(b, func(n int) bool { return n != 1 })
			})
			if merged || g.Keys&t != t {
				continue
			}
			f := g.Weight / weight / float64(space.Cells(g.Margin))
			for k, n := range space.Sizes {
				if !g.Keys.has(k) {
					f *= float64(n)
				}
			}
			by[g.Level] += f
		}
		times := 1.0
		for _, k := range t.list() {
			times *= float64(space.Sizes[k] - 1)
		}
		roots, ok := sumOfRoots(h, by)
		if !ok {
			return math.NaN()
		}
		sum += times * roots
	}
	return math.Sqrt(variance/cells) * sum
}

// sumOfRoots returns the trace of the root of Σ_l by[l]·S_lᵀS_l, where S_l adds up leaves to the nodes of level l.
func sumOfRoots(h *Hierarchy, by []float64) (float64, bool) {
	leaves := float64(h.Nodes(0))
	if len(h.Levels) == 1 {
		return leaves * math.Sqrt(by[0]), true
	}
	n := h.Nodes(1)
	below := make([]float64, n)
	for _, p := range h.Levels[0].Parent {
		below[p]++
	}
	m := mat.NewSymDense(n, nil)
	up := make([]int, n)
	for i := range up {
		up[i] = i
		m.SetSym(i, i, by[0])
	}
	for l := 1; l < len(h.Levels); l++ {
		for i := range n {
			for j := i; j < n; j++ {
				if up[i] == up[j] {
					m.SetSym(i, j, m.At(i, j)+by[l]*math.Sqrt(below[i]*below[j]))
				}
			}
		}
		for i := range up {
			if h.Levels[l].Parent != nil {
				up[i] = h.Levels[l].Parent[up[i]]
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(m, false) {
		return 0, false
	}
	sum := (leaves - float64(n)) * math.Sqrt(by[0])
	for _, x := range e.Values(nil) {
		sum += math.Sqrt(math.Max(0, x))
	}
	return sum, true
}
