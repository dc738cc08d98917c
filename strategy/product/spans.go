package product

import (
	"math"
	"slices"

	"dither/internal/splitmix"
)

// Spans reports whether [Plan.Estimate] for a term and a query, as there, is an estimate of the query. This holds for the
// questions of the term, and for all others that follow from what is measured for it.
//
// It compares the expected estimate with the answer for pseudorandom counts that are products over the columns. Both are
// polynomials in these numbers, so they agree at such points only if they are the same [Schwartz 1980; Zippel 1979], up
// to the rounding of floats.
func (p *Plan) Spans(term int, query [][]float64) bool {
	shares, err := p.Estimate(term, query)
	if err != nil {
		return false
	}
	random := splitmix.At(uint64(len(shares)) + 1)
	for range 3 {
		want, size := 1.0, 1.0
		points := make([][]float64, len(query))
		for k, c := range p.workload.columns {
			x, sum, most := make([]float64, c.cells), 0.0, 0.0
			for j := range x {
				x[j] = float64(int64(random.Word()))*0x1p-63 + 0.25
				if query[k] == nil {
					sum, most = sum+x[j], most+math.Abs(x[j])
				} else {
					sum, most = sum+query[k][j]*x[j], most+math.Abs(query[k][j]*x[j])
				}
			}
			want, size, points[k] = want*sum, size*most, x
		}
		got := 0.0
		for _, i := range p.serves[p.workload.of[term]] {
			expected := 1.0
			for k, piece := range p.parts[i].pieces {
				weights, err := piece.weights(query[k])
				if err != nil {
					return false
				}
				dot := 0.0
				for r, v := range piece.times(points[k]) {
					dot += v * weights[r]
				}
				expected *= dot
			}
			got += expected
		}
		if !(math.Abs(got-want) <= 1e-6*size) {
			return false
		}
	}
	return true
}

// mostMixed is the largest number of a factor's questions that [Plan.answers] combines.
const mostMixed = 64

// answers reports whether the plan estimates the questions of its terms: a pseudorandom combination of questions about each
// column.
func (p *Plan) answers() bool {
	random := splitmix.At(1)
	for at, of := range p.workload.terms {
		query := make([][]float64, len(of.of))
		for k, i := range of.of {
			f := p.workload.columns[k].factors[i]
			if f.kind == total {
				continue
			}
			query[k] = make([]float64, f.cells)
			if f.kind == values {
				for j := range query[k] {
					query[k][j] = float64(int64(random.Word())) * 0x1p-63
				}
				continue
			}
			step, place := max(1, f.of.Queries()/mostMixed), 0
			for q := range f.of.All() {
				if place++; (place-1)%step != 0 {
					continue
				}
				v := float64(int64(random.Word())) * 0x1p-63
				for j, c := range q.Coefficients(f.cells) {
					query[k][j] += v * c
				}
			}
		}
		if !p.Spans(slices.Index(p.workload.of, at), query) {
			return false
		}
	}
	return true
}

func (m mean) times(x []float64) []float64 { return []float64{summed(x)} }

func (e even) times(x []float64) []float64 {
	out := make([]float64, 0, e.cells+1)
	for _, v := range x {
		out = append(out, float64(e.a)*v)
	}
	if e.b != 0 {
		out = append(out, float64(e.b)*summed(x))
	}
	return out
}

func (a apart) times(x []float64) []float64 {
	sum, out := summed(x), make([]float64, len(x))
	for j, v := range x {
		out[j] = float64(a.cells)*v - sum
	}
	return out
}

func (c chosen) times(x []float64) []float64 { return c.Matrix.Times(x) }

// summed returns the sum of numbers.
func summed(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
