package hypothesis

import (
	"math"
)

// apply returns the matrix of the quadratic form times y. The form is described at [Table].
func (m model) apply(e estimated, y []float64) []float64 {
	switch {
	case m.n > 0:
		q := make([]float64, len(y))
		for i := range q {
			q[i] = e.expect[i] / e.n
		}
		return multinomialForm{e.n, q, m.s2}.project(y)
	case m.sizes != nil:
		out := make([]float64, 0, len(y))
		for i, n := range m.sizes {
			out = append(out, multinomialForm{n, e.tau, m.s2}.project(y[i*m.columns:(i+1)*m.columns])...)
		}
		return out
	}
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = v / (e.expect[i] + m.s2)
	}
	return out
}

// parameters returns how many parameters the hypothesis leaves open: probabilities of rows and of columns, without
// the last of each, and the total.
func (m model) parameters() (rows, columns, total int) {
	rows, columns, total = m.rows-1, m.columns-1, 1
	if m.n > 0 {
		total = 0
	}
	if m.sizes != nil {
		rows, total = 0, 0
	}
	return
}

// expected returns the residual x − E(θ), where E(θ) are the expected counts for the parameters θ, and the
// derivatives of E(θ). jacobian has one entry for each parameter.
func (m model) expected(e estimated, x []float64) (residual []float64, jacobian [][]float64) {
	rows, columns, total := m.parameters()
	residual = make([]float64, len(x))
	jacobian = make([][]float64, rows+columns+total)
	for k := range jacobian {
		jacobian[k] = make([]float64, len(x))
	}
	for i := range m.rows {
		for j := range m.columns {
			at := i*m.columns + j
			residual[at] = x[at] - e.n*e.pi[i]*e.tau[j]
			switch {
			case i < rows:
				jacobian[i][at] = e.n * e.tau[j]
			case rows > 0:
				for k := range rows {
					jacobian[k][at] = -e.n * e.tau[j]
				}
			}
			if j < columns {
				jacobian[rows+j][at] = e.n * e.pi[i]
			} else {
				for k := range columns {
					jacobian[rows+k][at] = -e.n * e.pi[i]
				}
			}
			if total > 0 {
				jacobian[rows+columns][at] = e.pi[i] * e.tau[j]
			}
		}
	}
	return residual, jacobian
}

// moved returns the parameters e + by·step.
func (m model) moved(e estimated, step []float64, by float64) estimated {
	rows, columns, total := m.parameters()
	out := estimated{n: e.n, pi: append([]float64{}, e.pi...), tau: append([]float64{}, e.tau...)}
	for k := range rows {
		out.pi[k] += by * step[k]
		out.pi[m.rows-1] -= by * step[k]
	}
	for k := range columns {
		out.tau[k] += by * step[rows+k]
		out.tau[m.columns-1] -= by * step[rows+k]
	}
	if total > 0 {
		out.n += by * step[rows+columns]
	}
	return out
}

// rounds is the largest number of steps of a minimisation.
const rounds = 50

// minimum returns the minimum of the quadratic form over the parameters of the hypothesis. It takes Gauss–Newton
// steps, beginning at the estimated marginals. Each step is halved until the form does not increase. The matrix of
// the form stays that of the estimated marginals.
func (m model) minimum(x []float64, fixed estimated) float64 {
	at := fixed
	residual, jacobian := m.expected(at, x)
	weighted := m.apply(fixed, residual)
	t := dot(residual, weighted)
	for range rounds {
		k := len(jacobian)
		normal, right := make([][]float64, k), make([]float64, k)
		for a := range jacobian {
			w := m.apply(fixed, jacobian[a])
			normal[a] = make([]float64, k)
			for b := range jacobian {
				normal[a][b] = dot(w, jacobian[b])
			}
			right[a] = dot(jacobian[a], weighted)
		}
		step, ok := solve(normal, right)
		if !ok {
			return t
		}
		before, by := t, 1.0
		for ; by > 1e-6; by /= 2 {
			next := m.moved(at, step, by)
			r, j := m.expected(next, x)
			w := m.apply(fixed, r)
			if v := dot(r, w); v <= t {
				at, jacobian, weighted, t = next, j, w, v
				break
			}
		}
		if by <= 1e-6 || before-t <= 1e-9*before {
			break
		}
	}
	return max(0, t)
}

func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// solve solves a system of equations with a symmetric positive definite matrix, by Cholesky decomposition in place.
// It returns false if the matrix is singular.
func solve(a [][]float64, b []float64) ([]float64, bool) {
	n := len(b)
	for j := range n {
		d := a[j][j]
		for k := range j {
			d -= a[j][k] * a[j][k]
		}
		if !(d > 1e-13*a[j][j]) || math.IsInf(d, 1) {
			return nil, false
		}
		a[j][j] = math.Sqrt(d)
		for i := j + 1; i < n; i++ {
			s := a[i][j]
			for k := range j {
				s -= a[i][k] * a[j][k]
			}
			a[i][j] = s / a[j][j]
		}
	}
	x := append([]float64{}, b...)
	for i := range n {
		for k := range i {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= a[k][i] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x, true
}
