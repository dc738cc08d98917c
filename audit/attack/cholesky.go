package attack

import "math"

// symmetric is a symmetric n × n matrix. Its lower triangle is stored row by row. factor stores the Cholesky factor
// in the same place.
type symmetric struct {
	n     int
	lower []float64
}

func newSymmetric(n int) *symmetric { return &symmetric{n, make([]float64, n*(n+1)/2)} }

func (q *symmetric) clear() { clear(q.lower) }

// row returns row i of the lower triangle, including the diagonal.
func (q *symmetric) row(i int) []float64 { return q.lower[i*(i+1)/2 : (i+1)*(i+2)/2] }

// factor replaces the matrix by its Cholesky factor. If rounding leaves no correct digit of a pivot, factor makes
// the pivot huge, so that solve leaves the corresponding unknown at about 0. This is usual in interior-point
// methods [Wright 1999]. factor returns false if a number is not finite.
func (q *symmetric) factor() bool {
	for i := range q.n {
		r := q.row(i)
		diagonal := r[i]
		for j := range i {
			c := q.row(j)
			sum := r[j]
			for k, v := range c[:j] {
				sum -= v * r[k]
			}
			r[j] = sum / c[j]
		}
		pivot := diagonal
		for _, v := range r[:i] {
			pivot -= v * v
		}
		switch {
		case math.IsNaN(pivot) || math.IsInf(pivot, 0):
			return false
		case pivot <= 1e-15*math.Abs(diagonal):
			r[i] = 1e64
		default:
			r[i] = math.Sqrt(pivot)
		}
	}
	return true
}

// solve replaces b by the solution of the system of equations with right side b. The matrix must be factored.
func (q *symmetric) solve(b []float64) {
	for i := range q.n {
		r := q.row(i)
		for k, v := range r[:i] {
			b[i] -= v * b[k]
		}
		b[i] /= r[i]
	}
	for i := q.n - 1; i >= 0; i-- {
		r := q.row(i)
		b[i] /= r[i]
		for k, v := range r[:i] {
			b[k] -= v * b[i]
		}
	}
}
