package product

import (
	"fmt"
	"math"

	"dither/mechanism/linear"
	"dither/strategy"
)

// errors has the sum of the weighted variances of a factor's questions, and the largest one.
type errs struct{ sum, most float64 }

// piece is what a part measures of one column: a matrix, with the variances of estimates if its noise has the variance of
// one count times the squared norm of the matrix's columns.
type piece interface {
	// each calls f with the variance and the weight of each question of a factor.
	each(of Factor, f func(variance, weight float64))
	// weights returns the coefficients of the estimate of Σ_j query[j]·x_j: one for each row of the matrix. A nil query is
	// the total.
	weights(query []float64) ([]float64, error)
	matrix() (linear.Matrix, error)
	times(x []float64) []float64 // the matrix times a vector
}

// errorsOf returns the errors of a factor's questions.
func errorsOf(p piece, f Factor) (e errs) {
	p.each(f, func(v, w float64) { e.sum, e.most = e.sum+v*w, max(e.most, v) })
	return e
}

// mean measures the total, and estimates the multiple of it that a question has on average over the cells.
type mean struct{ cells int }

func (m mean) each(of Factor, f func(variance, weight float64)) {
	n := float64(m.cells)
	switch of.kind {
	case total:
		f(1, 1)
	case values: // all are alike
		f(1/(n*n), n)
	default:
		for q, w := range of.of.Weights() {
			sum := 0.0
			if q.Row == nil {
				sum = float64(q.High - q.Low)
			}
			for _, v := range q.Row {
				sum += v
			}
			f(sum/n*(sum/n), w)
		}
	}
}

func (m mean) weights(query []float64) ([]float64, error) {
	if query == nil {
		return []float64{1}, nil
	}
	sum := 0.0
	for _, v := range query {
		sum += v
	}
	return []float64{sum / float64(m.cells)}, nil
}

func (m mean) matrix() (linear.Matrix, error) { return linear.Total(m.cells), nil }

// even measures each value times a, and the total times b if b is not 0, of a column of which only values and totals are
// asked. If centred, it estimates only a question's difference from its mean.
//
// With v = a² and u = b², AᵀA = v·I + u·11ᵀ has the eigenvalue v + n·u at 1, and v on the other vectors.
type even struct {
	cells   int
	a, b    int64
	unit    strategy.Unit
	centred bool
}

func (e even) scale2() float64 {
	a, b := float64(e.a), float64(e.b)
	if e.unit == strategy.Epsilon {
		return (a + b) * (a + b)
	}
	return a*a + b*b
}

func (e even) each(of Factor, f func(variance, weight float64)) {
	n, v, u := float64(e.cells), float64(e.a)*float64(e.a), float64(e.b)*float64(e.b)
	along := e.scale2() / (v + n*u)
	if e.centred {
		along = 0
	}
	if of.kind == total {
		f(n*along, 1)
		return
	}
	f((1-1/n)*e.scale2()/v+along/n, n)
}

func (e even) weights(query []float64) ([]float64, error) {
	n, v, u := float64(e.cells), float64(e.a)*float64(e.a), float64(e.b)*float64(e.b)
	if query == nil {
		query = ones(e.cells)
	}
	sum := 0.0
	for _, q := range query {
		sum += q
	}
	out := make([]float64, e.cells, e.cells+1)
	along := sum / n / (v + n*u) // (AᵀA)⁻¹q = (q − mean)/v + mean/(v + n·u)
	if e.centred {
		along = 0
	}
	for j, q := range query {
		out[j] = float64(e.a) * ((q-sum/n)/v + along)
	}
	if e.b != 0 {
		out = append(out, float64(e.b)*n*along)
	}
	return out, nil
}

func (e even) matrix() (linear.Matrix, error) {
	rows := make([][]linear.Run, e.cells, e.cells+1)
	for i := range rows {
		rows[i] = []linear.Run{{From: i, To: i + 1, Value: e.a}}
	}
	if e.b != 0 {
		rows = append(rows, []linear.Run{{From: 0, To: e.cells, Value: e.b}})
	}
	return linear.NewMatrix(e.cells, rows)
}

// apart measures cI − 11ᵀ, and estimates a question's difference from its mean, of a column of which only values and
// totals are asked. See the marginals' residuals: its columns have the squared norm c(c−1), and its pseudo-inverse is the
// centring matrix divided by c.
type apart struct{ cells int }

func (a apart) each(of Factor, f func(variance, weight float64)) {
	n := float64(a.cells)
	if of.kind == total {
		f(0, 1)
		return
	}
	f((n-1)/n*((n-1)/n), n)
}

func (a apart) weights(query []float64) ([]float64, error) {
	out := make([]float64, a.cells)
	sum := 0.0
	for _, q := range query {
		sum += q
	}
	n := float64(a.cells)
	for j, q := range query {
		out[j] = (q - sum/n) / n
	}
	return out, nil
}

func (a apart) matrix() (linear.Matrix, error) { return linear.Centred(a.cells), nil }

// chosen measures a strategy of package strategy. If centred, it estimates only a question's difference from its mean.
type chosen struct {
	*strategy.Strategy
	spread  strategy.Spread
	centred bool
}

func (c chosen) each(of Factor, f func(variance, weight float64)) {
	w, err := of.workload()
	if err != nil { // the column would have been refused
		f(math.Inf(1), 1)
		return
	}
	for v, weight := range c.spread.Each(w) {
		f(v, weight)
	}
}

func (c chosen) weights(query []float64) ([]float64, error) {
	if query == nil {
		query = ones(c.Matrix.Columns)
	}
	if c.centred {
		sum := 0.0
		for _, q := range query {
			sum += q
		}
		own := make([]float64, len(query))
		for j, q := range query {
			own[j] = q - sum/float64(len(query))
		}
		query = own
	}
	return c.Weights(query)
}

func (c chosen) matrix() (linear.Matrix, error) {
	rows := make([][]linear.Run, len(c.Matrix.Rows))
	for i, r := range c.Matrix.Rows {
		for k, v := range r.Entries {
			if n := len(rows[i]); n > 0 && rows[i][n-1].To == r.First+k && rows[i][n-1].Value == v {
				rows[i][n-1].To++
			} else {
				rows[i] = append(rows[i], linear.Run{From: r.First + k, To: r.First + k + 1, Value: v})
			}
		}
	}
	m, err := linear.NewMatrix(c.Matrix.Columns, rows)
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrWorkload, err)
	}
	return m, nil
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}
