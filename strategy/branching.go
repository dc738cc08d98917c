package strategy

import "gonum.org/v1/gonum/mat"

// BestBranching returns the branching factor of the tree without a root that has the least RMSE for a workload, and the
// smallest one of several. It compares all factors, by the errors that [New] computes.
func BestBranching(w Workload, unit Unit) int {
	e := newTreeErrors(w)
	best, least := 2, 0.0
	for b := 2; b < w.cells; b++ {
		t := Tree{Cells: w.cells, Branching: b}
		height := float64(t.Height())
		error2 := height * e.of(t)
		if unit == Epsilon {
			error2 *= height
		}
		if b == 2 || error2 < least*(1-1e-12) {
			best, least = b, error2
		}
	}
	return best
}

// treeErrors computes the errors of trees for a workload.
//
// Let V be the Gram matrix of the workload. By [Tree.covariance], the covariance of a tree's cells is 1 less u·uᵀ/(1 + Σu)
// for each block of more than one cell. So the sum of all variances is tr V less uᵀVu/(1 + Σu) for each block. For running
// totals and for all ranges, uᵀVu takes one step for each cell of the block.
type treeErrors struct {
	w     Workload
	gram  *mat.SymDense // V; nil for running totals alone and for all ranges alone
	trace float64       // of V
}

func newTreeErrors(w Workload) *treeErrors {
	e := &treeErrors{w: w}
	if !w.Structured() {
		e.gram = w.Gram()
		e.trace = mat.Trace(e.gram)
		return e
	}
	for i := range w.cells {
		e.trace += e.square(i, []float64{1})
	}
	return e
}

// of returns the sum of the variances of the answers, for noise of variance 1 on each measurement.
func (e *treeErrors) of(t Tree) float64 {
	n, sum := t.Cells, e.trace
	u := make([]float64, n)
	for i := range u {
		u[i] = 1
	}
	for _, size := range t.sizes()[1:] {
		for first := 0; first < n; first += size {
			block := u[first:min(first+size, n)]
			total := 1.0
			for _, v := range block {
				total += v
			}
			sum -= e.square(first, block) / total
			for i := range block {
				block[i] /= total
			}
		}
	}
	return sum
}

// square returns uᵀVu for a vector that is 0 but for the cells from first on.
func (e *treeErrors) square(first int, u []float64) float64 {
	sum := 0.0
	if e.gram != nil {
		data := e.gram.RawSymmetric()
		for i, x := range u {
			row := data.Data[(first+i)*data.Stride+first:]
			part := x * row[i]
			for j := i + 1; j < len(u); j++ {
				part += 2 * u[j] * row[j]
			}
			sum += x * part
		}
		return sum
	}
	// The sums of the cells before each of the n + 1 bounds are 0 up to first, and total after the block. A running total
	// is one of these sums, and a range the difference of two of them.
	total, squares, after := 0.0, 0.0, float64(e.w.cells-first-len(u))
	for _, x := range u {
		total += x
		sum += total
		squares += total * total
	}
	squares += after * total * total
	if p := e.w.parts[0]; p.family == prefixes {
		return p.weight * squares
	}
	sum += after * total
	return e.w.parts[0].weight * (float64(e.w.cells+1)*squares - sum*sum)
}
