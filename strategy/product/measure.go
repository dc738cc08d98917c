package product

import (
	"fmt"

	"dither/mechanism/linear"
)

// Limits of one measurement: the cells of the histogram of a part, and the numbers that all parts release.
const (
	MaxPartCells = 1 << 20
	MaxNumbers   = 1 << 20
)

// Part is one measured product: the histogram of some columns, summed over the others, and the matrices that are applied to
// it, one for each column in increasing order. Without columns, it is the total.
type Part struct {
	Columns []int
	Queries linear.Product
	Weight  int64 // of the part's share of the price
}

// Share is the contribution of a part to an answer: the sum of Weights[i] times the part's number Rows[i].
type Share struct {
	Part    int
	Rows    []int
	Weights []float64 // never 0
}

// rows returns the number of rows of a piece's matrix.
func rows(p piece) int {
	switch of := p.(type) {
	case *even:
		if of.b != 0 {
			return of.cells + 1
		}
		return of.cells
	case *apart:
		return of.cells
	case *chosen:
		return len(of.Matrix.Rows)
	}
	return 1
}

// fits reports whether one measurement can release the plan.
func (p *Plan) fits() bool {
	numbers := 0
	for _, of := range p.parts {
		cells, lines := 1, 1
		for k, piece := range of.pieces {
			if _, summed := piece.(*mean); !summed {
				cells *= p.workload.columns[k].cells
				lines *= rows(piece)
			}
			if cells > MaxPartCells || lines > MaxNumbers {
				return false
			}
		}
		if numbers += lines; numbers > MaxNumbers {
			return false
		}
	}
	return true
}

// Parts returns the measurements of the plan.
func (p *Plan) Parts() (out []Part, err error) {
	for _, of := range p.parts {
		one := Part{Weight: of.weight}
		for k, piece := range of.pieces {
			if _, summed := piece.(*mean); summed {
				continue
			}
			m, err := piece.matrix()
			if err != nil {
				return nil, err
			}
			one.Columns, one.Queries = append(one.Columns, k), append(one.Queries, m)
		}
		if len(one.Columns) == 0 {
			one.Queries = linear.Product{linear.Identity(1)}
		}
		out = append(out, one)
	}
	return out, nil
}

// Estimate returns the least squares estimate of one question of a term of [NewWorkload], as a combination of released
// numbers. query has the question's coefficients for each column, or nil for the total of the column. The question must be
// of the term; a combination of its questions is too.
func (p *Plan) Estimate(term int, query [][]float64) (out []Share, err error) {
	if term < 0 || term >= len(p.workload.of) || len(query) != len(p.workload.columns) {
		return nil, fmt.Errorf("%w: no term %d with %d columns", ErrWorkload, term, len(query))
	}
	for _, i := range p.serves[p.workload.of[term]] {
		u := Share{Part: i, Rows: []int{0}, Weights: []float64{1}}
		for k, piece := range p.parts[i].pieces {
			if n := len(query[k]); n != 0 && n != p.workload.columns[k].cells {
				return nil, fmt.Errorf("%w: %d numbers for the %d values of column %d", ErrWorkload, n, p.workload.columns[k].cells, k+1)
			}
			w, err := piece.weights(query[k])
			if err != nil {
				return nil, err
			}
			u = u.times(w)
		}
		out = append(out, u)
	}
	return out, nil
}

// times returns the share whose rows are the combinations with those of a further column.
func (s Share) times(w []float64) Share {
	var rows []int
	for r, v := range w {
		if v != 0 {
			rows = append(rows, r)
		}
	}
	out := Share{Part: s.Part, Rows: make([]int, 0, len(s.Rows)*len(rows)), Weights: make([]float64, 0, len(s.Rows)*len(rows))}
	for i, a := range s.Weights {
		for _, r := range rows {
			out.Rows, out.Weights = append(out.Rows, s.Rows[i]*len(w)+r), append(out.Weights, a*w[r])
		}
	}
	return out
}
