package strategy

import (
	"fmt"
	"iter"
)

// Query is one query of a workload.
type Query struct {
	Low, High int       // the cells Low … High−1, if Row is nil
	Row       []float64 // the coefficients of a row of an explicit matrix
}

// Coefficients returns the coefficient of each of n cells.
func (q Query) Coefficients(n int) []float64 {
	if q.Row != nil {
		return q.Row
	}
	out := make([]float64, n)
	for j := q.Low; j < q.High; j++ {
		out[j] = 1
	}
	return out
}

// All returns the queries, in the order of [Workload.Answers].
func (w Workload) All() iter.Seq[Query] {
	return func(yield func(Query) bool) {
		for _, p := range w.parts {
			more := true
			p.each(w.cells, func(low, high int) { more = more && yield(Query{Low: low, High: high}) })
			for _, row := range p.rows {
				more = more && yield(Query{Row: row})
			}
			if !more {
				return
			}
		}
	}
}

// Weights returns the queries in the order of [Workload.All], each with its weight.
func (w Workload) Weights() iter.Seq2[Query, float64] {
	return func(yield func(Query, float64) bool) {
		for _, p := range w.parts {
			for q := range (Workload{cells: w.cells, parts: []part{p}}).All() {
				if !yield(q, p.weight) {
					return
				}
			}
		}
	}
}

// Answers returns the answers to all queries for the given cells, in order: running totals by their last cell, ranges
// by their first and then their last cell, windows by their first cell, and rows of a matrix as given.
func (w Workload) Answers(cells []float64) ([]float64, error) {
	if len(cells) != w.cells {
		return nil, fmt.Errorf("%w: %d numbers for %d cells", ErrWorkload, len(cells), w.cells)
	}
	sums := make([]float64, len(cells)+1)
	for i, x := range cells {
		sums[i+1] = sums[i] + x
	}
	out := make([]float64, 0, w.Queries())
	for _, p := range w.parts {
		p.each(w.cells, func(low, high int) { out = append(out, sums[high]-sums[low]) })
		for _, row := range p.rows {
			total := 0.0
			for j, v := range row {
				total += v * cells[j]
			}
			out = append(out, total)
		}
	}
	return out, nil
}

// each calls f with the bounds of each interval [low, high) of the family, in the order of the queries.
func (p part) each(n int, f func(low, high int)) {
	switch p.family {
	case prefixes:
		for i := range n {
			f(0, i+1)
		}
	case ranges:
		for i := range n {
			for j := i + 1; j <= n; j++ {
				f(i, j)
			}
		}
	case windows:
		for i := 0; i+p.width <= n; i++ {
			f(i, i+p.width)
		}
	case listed:
		for _, q := range p.pairs {
			f(q[0], q[1])
		}
	}
}
