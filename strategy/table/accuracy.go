package table

import (
	"fmt"
	"math"
	"slices"
)

// Noisy is a margin that is measured with independent noise of one variance on each cell.
type Noisy struct {
	Margin
	Variance float64
}

// Accuracy states the variances of all cells that some measurements determine. It depends on no measured number.
type Accuracy struct {
	space    *Space
	noisy    []Noisy
	plain    *tree
	constant *tree // the tree with declared totals, for the part without classifications
	parts    map[Keys]*part
}

// part holds the precisions and variances of one component of the tables: see [NewAccuracy].
type part struct {
	precision []float64 // by level
	lowest    int       // the finest level with a precision; −1 if there is none
	tree      *tree
	smoothed[float64]
}

// NewAccuracy computes the variances of the least-squares estimates from the measurements. fixed lists nodes whose
// totals are declared constants; it may be nil.
//
// The variances are exact up to the rounding of floats. Let y_S be a table over the classifications S of one node,
// whose cells have independent noise of variance v. Write M_T y for y summed over the classifications outside T, and
// C_T for centring along each classification in T. For different sets T, the tables C_T M_T y_S are uncorrelated, and
// together they determine y_S:
//
//	y_S = Σ_{T⊆S} (C_T M_T y_S, repeated) / Π_{k∈S∖T} n_k.
//
// The covariance of C_T M_T y_S is v·Π_{k∈S∖T} n_k times a matrix that depends on T alone, the projection C_T. So for
// each T the least-squares problem is one problem in the tree of nodes, whose measurements are scalars times C_T:
// [smooth] solves it. A diagonal entry of C_T is Π_{k∈T} (1 − 1/n_k). [Scheffé 1959, §4 has the analysis of variance
// of complete tables.] The time is proportional to the number of nodes with different variances times the number of
// sets T.
func NewAccuracy(space *Space, noisy []Noisy, fixed map[[2]int]int64) (*Accuracy, error) {
	a := &Accuracy{space: space, noisy: noisy, parts: map[Keys]*part{}}
	a.plain = newTree(space.Hierarchy, func(int, int) bool { return false })
	a.constant = newTree(space.Hierarchy, func(l, i int) bool { _, ok := fixed[[2]int{l, i}]; return ok })
	for _, n := range noisy {
		if err := space.check(n.Margin); err != nil {
			return nil, err
		}
		if !(n.Variance > 0) || math.IsInf(n.Variance, 0) {
			return nil, fmt.Errorf("a measured table has the variance %g; a variance is positive", n.Variance)
		}
		for _, t := range n.Keys.subsets() {
			if a.parts[t] == nil {
				a.parts[t] = a.newPart(t)
			}
		}
	}
	return a, nil
}

// Noisy returns the measured margins.
func (a *Accuracy) Noisy() []Noisy { return a.noisy }

// newPart computes the variances of the component T.
func (a *Accuracy) newPart(t Keys) *part {
	p := &part{precision: make([]float64, len(a.space.Hierarchy.Levels)), tree: a.plain}
	if t == 0 {
		p.tree = a.constant
	}
	for _, n := range a.noisy {
		if n.Keys&t == t {
			p.precision[n.Level] += 1 / (n.Variance * float64(a.space.width(n.Keys&^t)))
		}
	}
	p.lowest = slices.IndexFunc(p.precision, func(x float64) bool { return x > 0 })
	p.smoothed = smooth(p.tree, p.precision, p.lowest)
	return p
}

// Determines reports whether the measurements determine a margin: whether some estimate of its cells has a finite
// variance.
func (a *Accuracy) Determines(m Margin) bool {
	for _, t := range m.Keys.subsets() {
		if p := a.parts[t]; p == nil || p.lowest > m.Level {
			return false
		}
	}
	return true
}

// Variances returns the variance of the cells of each node of a margin. All cells of a node have the same variance. The
// measurements must determine the margin.
func (a *Accuracy) Variances(m Margin) []float64 { return a.Summed(m, nil) }

// Summed returns, for each node of a margin, the variance of a sum of its cells: over some values of each of the
// margin's classifications, in their order, of which merged has the numbers. If merged is nil, there is one value of
// each. The measurements must determine the margin.
func (a *Accuracy) Summed(m Margin, merged []int) []float64 {
	out := make([]float64, a.space.Hierarchy.Nodes(m.Level))
	for _, t := range m.Keys.subsets() {
		p, f := a.parts[t], a.space.factor(m.Keys, t, merged)
		for i, at := range p.tree.of[m.Level] {
			out[i] += f * p.full[at]
		}
	}
	return out
}

// factor returns the variance that the component T adds to a sum of cells of a table over S, for a component of variance
// 1. The sum is over b_k values of classification k, and b_k is 1 if merged is nil.
//
// Each cell has 1/n_k of the component for k ∉ T, so that the sum has b_k/n_k of it. For k ∈ T, the covariance is the
// projection C_k = I − 11ᵀ/n_k, and a sum of b_k entries has the variance b_k − b_k²/n_k.
func (s *Space) factor(keys, t Keys, merged []int) float64 {
	f := 1.0
	for i, k := range keys.list() {
		b, n := 1.0, float64(s.Sizes[k])
		if merged != nil {
			b = float64(merged[i])
		}
		if t.has(k) {
			f *= b * (1 - b/n)
		} else {
			f *= sq(b / n)
		}
	}
	return f
}

func sq(x float64) float64 { return x * x }
