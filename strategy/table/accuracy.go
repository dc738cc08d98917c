package table

import (
	"fmt"
	"math"
)

// Noisy is a margin that is measured with independent noise of one variance on each cell.
type Noisy struct {
	Margin
	Variance float64
}

// Accuracy states the variances of all cells that some measurements determine. It depends on no measured number.
type Accuracy struct {
	space *Space
	noisy []Noisy
	parts map[Keys]*part
	zero  map[[2]int]int64 // 0 for each declared total
}

// part holds the covariances of one component of the tables.
type part struct {
	*component
	*evidence[float64]
	*smoothed[float64]
	tree *tree
}

// NewAccuracy computes the variances of the least-squares estimates from the measurements. fixed lists nodes whose
// totals are declared constants; it may be nil.
//
// The variances are exact up to the rounding of floats. Let y be a table of one node, whose cells have independent noise of
// variance v. Along each classification, split y into the contrasts within blocks of values and into the coordinates of what
// is constant within blocks ([axis]). These parts are orthogonal, so that the components of y, one for each set of
// classifications with contrasts, are uncorrelated. In each component, every table measures the product of its rows over the
// coordinates and of the same projection onto the contrasts. So the least-squares problem is one problem in the tree of
// nodes, whose unknowns are the coordinates: [smooth] solves it. A diagonal entry of the projection is Π (1 − 1/n) over the
// numbers n of values in the cell's blocks. [Scheffé 1959, §4 has the analysis of variance of complete tables.] The time is
// proportional to the number of nodes with different variances times the sum of d³ over the components, for d coordinates.
func NewAccuracy(space *Space, noisy []Noisy, fixed map[[2]int]int64) (*Accuracy, error) {
	a := &Accuracy{space: space, noisy: noisy, parts: map[Keys]*part{}, zero: map[[2]int]int64{}}
	for at := range fixed {
		a.zero[at] = 0
	}
	for _, n := range noisy {
		if err := space.check(n.Margin); err != nil {
			return nil, err
		}
		if !(n.Variance > 0) || math.IsInf(n.Variance, 0) {
			return nil, fmt.Errorf("a measured table has the variance %g; a variance is positive", n.Variance)
		}
	}
	plain := newTree(space.Hierarchy, func(int, int) bool { return false })
	constant := newTree(space.Hierarchy, func(l, i int) bool { _, ok := fixed[[2]int{l, i}]; return ok })
	axes := newAxes(space)
	for _, n := range noisy {
		for _, t := range space.contrasts(n.Keys).subsets() {
			if a.parts[t] == nil {
				p := &part{component: newComponent(space, axes, t), tree: plain}
				if t == 0 {
					p.tree = constant
				}
				p.measure(noisy)
				a.parts[t] = p
			}
		}
	}
	return a, nil
}

// contrasts returns the finest bits of the classifications that keys has at their finest levels.
func (s *Space) contrasts(keys Keys) (out Keys) {
	for k := range s.Classes {
		out |= keys & (1 << s.first(k))
	}
	return out
}

// measure computes the covariances from the measurements of the component.
func (p *part) measure(noisy []Noisy) {
	p.evidence = newEvidence[float64](p.component.dim, len(p.space.Hierarchy.Levels))
	for _, n := range noisy {
		if p.in(n.Keys) {
			p.add(n.Level, 1/n.Variance, p.gram(n.Keys), p.depends(n.Keys))
		}
	}
	p.smoothed = smooth(p.tree, p.evidence)
}

// Noisy returns the measured margins.
func (a *Accuracy) Noisy() []Noisy { return a.noisy }

// Determines reports whether the measurements determine a margin: whether some estimate of its cells has a finite
// variance.
func (a *Accuracy) Determines(m Margin) bool {
	for _, t := range a.space.contrasts(m.Keys).subsets() {
		if p := a.parts[t]; p == nil || !p.covers(m.Level, p.depends(m.Keys)) {
			return false
		}
	}
	return true
}

// Variances returns the variance of each cell of a margin, which the measurements must determine.
func (a *Accuracy) Variances(m Margin) []float64 {
	width := a.space.Width(m.Keys)
	out := make([]float64, a.space.Cells(m))
	for _, t := range a.space.contrasts(m.Keys).subsets() {
		p, known := a.parts[t], map[int][]float64{}
		for i, at := range p.tree.of[m.Level] {
			if known[at] == nil {
				known[at] = p.variances(of(p.full, at, p.component.dim), m.Keys)
			}
			for c, v := range known[at] {
				out[i*width+c] += v
			}
		}
	}
	return out
}

// Covariances returns the covariances of the estimate of one cell of a margin with those of all cells of another one. The
// measurements must determine both margins. It returns an error if they do not, or if there is no such cell.
//
// Let x be the coordinates of all nodes, and P the covariance of their estimates. The fit multiplies P by the information
// that the measurements have ([NewFit]). With e of a cell in place of that information, it gives P·Mᵀe for the matrix M of
// the cell's margin, and the other margin's cells of that are their covariances with the cell. Declared totals are constants,
// so they count as 0.
func (a *Accuracy) Covariances(of Margin, cell int, with Margin) ([]float64, error) {
	for _, m := range []Margin{of, with} {
		if err := a.space.check(m); err != nil {
			return nil, err
		}
		if !a.Determines(m) {
			return nil, fmt.Errorf("the measurements do not determine the table")
		}
	}
	if n := a.space.Cells(of); cell < 0 || cell >= n {
		return nil, fmt.Errorf("there are cells 0 to %d, not %d", n-1, cell)
	}
	wide, width := a.space.Width(of.Keys), a.space.Width(with.Keys)
	unit, out := make([]float64, wide), make([]float64, a.space.Cells(with))
	unit[cell%wide] = 1
	for _, t := range a.space.contrasts(of.Keys & with.Keys).subsets() {
		p := a.parts[t]
		own := make([][][]float64, len(p.info))
		own[of.Level] = make([][]float64, a.space.Hierarchy.Nodes(of.Level))
		own[of.Level][cell/wide] = p.information(unit, of.Keys)
		for i, block := range a.smoothValues(p, own, a.zero)[with.Level] {
			plus(out[i*width:(i+1)*width], 1, p.cells(block, with.Keys))
		}
	}
	return out, nil
}
