package strategy

import (
	"fmt"
	"math"
	"slices"
)

// Choice is the outcome of a comparison of strategies for one workload.
type Choice struct {
	Candidates []Candidate
	Chosen     *Strategy // the candidate of least RMSE; the first of several
	// Bound is a certified lower bound on the RMSE of every strategy with least squares, for the same noise.
	Bound float64
}

// Candidate is a strategy that was compared, and its expected errors for the workload.
type Candidate struct {
	Name string
	Expected
}

// Choose compares strategies for a workload by their exact expected errors.
func Choose(w Workload, unit Unit) (*Choice, error) {
	if w.cells == 0 {
		return nil, fmt.Errorf("%w: it has no cells", ErrWorkload)
	}
	if w.cells > MaxDense && !w.Structured() {
		return nil, fmt.Errorf("%w: windows, matrices and unions may have %d cells, not %d; running totals alone, or all "+
			"ranges alone, may have %d", ErrWorkload, MaxDense, w.cells, MaxCells)
	}
	var c Choice
	add := func(s *Strategy, err error) error {
		if err == nil {
			c.Candidates = append(c.Candidates, Candidate{s.Name, s.Expected})
			if c.Chosen == nil || s.RMSE < c.Chosen.RMSE {
				c.Chosen = s
			}
		}
		return err
	}
	n := w.cells
	if err := add(ofTree("identity", w, Tree{Cells: n, Branching: max(n, 2)}, unit)); err != nil {
		return nil, err
	}
	if n > 1 {
		for _, try := range trees(w, unit) {
			if err := add(try()); err != nil {
				return nil, err
			}
		}
		if b := BestBranching(w, unit); b != QardajiBranching(n) {
			if err := add(ofTree(fmt.Sprintf("tree(%d)", b), w, Tree{Cells: n, Branching: b}, unit)); err != nil {
				return nil, err
			}
		}
	}
	bound, err := c.optimise(w, unit, add)
	if err != nil {
		return nil, err
	}
	c.Bound = math.Min(bound, c.Chosen.RMSE)
	return &c, nil
}

// trees returns the hierarchical candidates: the binary tree, wavelets, and the tree of Qardaji and others.
func trees(w Workload, unit Unit) []func() (*Strategy, error) {
	n := w.cells
	all := []func() (*Strategy, error){
		func() (*Strategy, error) {
			return ofTree("binary tree", w, Tree{Cells: n, Branching: 2, Root: true}, unit)
		},
		func() (*Strategy, error) {
			b := QardajiBranching(n)
			return ofTree(fmt.Sprintf("HB(%d)", b), w, Tree{Cells: n, Branching: b}, unit)
		},
	}
	if n <= MaxOptimised { // wavelets take a time that grows with the cube of the cells
		all = slices.Insert(all, 1, func() (*Strategy, error) { return ofHaar(w, unit) })
	}
	return all
}

func ofTree(name string, w Workload, t Tree, unit Unit) (*Strategy, error) {
	m, err := t.Matrix()
	if err != nil {
		return nil, err
	}
	return newStrategy(name, w, m, unit, t.covariance)
}

func ofHaar(w Workload, unit Unit) (*Strategy, error) {
	m, err := Haar(w.cells)
	if err != nil {
		return nil, err
	}
	return New("Haar", w, m, unit)
}
