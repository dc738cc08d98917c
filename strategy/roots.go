package strategy

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// roots computes with M(y, z) = (D^½·V_z·D^½)^½, where D is the diagonal matrix of y and V_z is the workload's Gram
// matrix, with weights z on its queries if the implementation supports them.
type roots interface {
	// diagonal returns the diagonal of M, and a certified lower bound on its trace.
	diagonal(y []float64) (m []float64, trace float64)
	// full returns M.
	full(y []float64) *mat.SymDense
}

// quadrature is a rational approximation √x ≈ x·Σ_k weights[k]/(x + shifts[k]) on [low, high].
//
// It is the midpoint rule for √x = (2/π)·∫ x/(x + t²) dt over t > 0, after the substitution t = √low·sc(u) with
// Jacobi's elliptic function of the complementary modulus [Hale, Higham & Trefethen, Computing A^α, log(A), and related
// matrix functions by contour integrals, SIAM J. Numer. Anal. 2008]. The integrand is periodic and analytic in a strip,
// so the error falls geometrically with the nodes.
type quadrature struct {
	shifts, weights []float64
	err             float64 // the largest relative error on [low, high], from a grid of points
	condition       float64 // high/low
}

func newQuadrature(low, high float64) quadrature {
	high = max(high, 4*low)
	k := math.Sqrt(low / high) // the modulus whose complement sc has
	period := math.Pi / 2 / agm(1, k)
	nodes := int(math.Ceil(36 * period / (math.Pi * math.Pi)))
	q := quadrature{condition: high / low}
	for j := range nodes {
		sn, cn, dn := jacobi(period*(float64(j)+0.5)/float64(nodes), k)
		sc := sn / cn
		q.shifts = append(q.shifts, low*sc*sc)
		q.weights = append(q.weights, 2*period*math.Sqrt(low)/(math.Pi*float64(nodes))*dn/(cn*cn))
	}
	const points = 512
	for i := range points + 1 {
		x := low * math.Pow(high/low, float64(i)/points)
		sum := 0.0
		for j, w := range q.weights {
			sum += w * x / (x + q.shifts[j])
		}
		q.err = max(q.err, math.Abs(sum/math.Sqrt(x)-1))
	}
	return q
}

// agm returns the arithmetic-geometric mean.
func agm(a, b float64) float64 {
	for math.Abs(a-b) > 1e-15*a {
		a, b = (a+b)/2, math.Sqrt(a*b)
	}
	return a
}

// jacobi returns Jacobi's elliptic functions of u for the modulus √(1 − k²), by the arithmetic-geometric mean
// [Abramowitz & Stegun 16.4].
func jacobi(u, k float64) (sn, cn, dn float64) {
	a, b := []float64{1}, k
	c := []float64{math.Sqrt(1 - k*k)}
	for n := 0; c[n] > 1e-16*a[n] && n < 40; n++ {
		c = append(c, (a[n]-b)/2)
		next := (a[n] + b) / 2
		b = math.Sqrt(a[n] * b)
		a = append(a, next)
	}
	last := len(a) - 1
	phi := math.Ldexp(a[last]*u, last)
	for n := last; n > 0; n-- {
		phi = (phi + math.Asin(min(1, c[n]/a[n]*math.Sin(phi)))) / 2
	}
	sn, cn = math.Sincos(phi)
	return sn, cn, math.Sqrt(cn*cn + k*k*sn*sn)
}

// tridiagonal has a Gram matrix whose inverse is tridiagonal. Every step then takes a time that is linear in the cells:
// M = Σ_k weights[k]·(I + shifts[k]·T)⁻¹, where T = D^−½·V⁻¹·D^−½ is tridiagonal, and the diagonals of such inverses
// follow from two sweeps.
type tridiagonal struct {
	inverse func() (diagonal, beside []float64) // V⁻¹
	trace   func(y []float64) float64           // at least the largest eigenvalue of D^½·V·D^½
}

// prefixRoots returns the roots of the running totals over the n cells, with a weight for each of them; z may change
// between calls.
func prefixRoots(z []float64) *tridiagonal { return fadingRoots(z, 1) }

// fadingRoots returns the roots of running sums in which a cell fades by a factor with each later cell: W_ij =
// decay^(i−j) for j ≤ i. V_z = WᵀZW, and W⁻¹ subtracts decay times the cell before. So V_z⁻¹ has the diagonal 1/z_i +
// decay²/z_{i−1}, and −decay/z_i beside it.
func fadingRoots(z []float64, decay float64) *tridiagonal {
	return &tridiagonal{
		inverse: func() (diagonal, beside []float64) {
			diagonal, beside = make([]float64, len(z)), make([]float64, len(z)-1)
			for i := range z {
				diagonal[i] = 1 / z[i]
				if i > 0 {
					diagonal[i] += decay * decay / z[i-1]
					beside[i-1] = -decay / z[i-1]
				}
			}
			return diagonal, beside
		},
		trace: func(y []float64) float64 {
			total, later := 0.0, 0.0
			for i := len(z) - 1; i >= 0; i-- {
				later = later*decay*decay + z[i]
				total += later * y[i]
			}
			return total
		},
	}
}

// rangeRoots returns the roots of all ranges, each with the given weight. Without it, V_ij = (i+1)(n−j) for i ≤ j is
// n+1 times the inverse of the matrix with 2 on its diagonal and −1 beside it.
func rangeRoots(n int, weight float64) *tridiagonal {
	return &tridiagonal{
		inverse: func() (diagonal, beside []float64) {
			diagonal, beside = make([]float64, n), make([]float64, n-1)
			for i := range diagonal {
				diagonal[i] = 2 / float64(n+1) / weight
				if i > 0 {
					beside[i-1] = -1 / float64(n+1) / weight
				}
			}
			return diagonal, beside
		},
		trace: func(y []float64) float64 {
			total := 0.0
			for i, v := range y {
				total += v * float64(i+1) * float64(n-i)
			}
			return total * weight
		},
	}
}

// scaled returns T and the quadrature for the spectrum of its inverse.
func (t *tridiagonal) scaled(y []float64) (diagonal, beside []float64, q quadrature) {
	diagonal, beside = t.inverse()
	most := 0.0 // a bound on T's eigenvalues, by Gershgorin's circles
	for i := range diagonal {
		diagonal[i] /= y[i]
		if i > 0 {
			beside[i-1] /= math.Sqrt(y[i] * y[i-1])
		}
	}
	for i := range diagonal {
		radius := diagonal[i]
		if i > 0 {
			radius += math.Abs(beside[i-1])
		}
		if i < len(beside) {
			radius += math.Abs(beside[i])
		}
		most = max(most, radius)
	}
	return diagonal, beside, newQuadrature(1/most, t.trace(y))
}

// pivots returns the pivots of the elimination of I + shift·T from above and from below.
func pivots(diagonal, beside []float64, shift float64, down, up []float64) {
	n := len(diagonal)
	for i := range n {
		down[i] = 1 + shift*diagonal[i]
		if i > 0 {
			e := shift * beside[i-1]
			down[i] -= e * e / down[i-1]
		}
	}
	for i := n - 1; i >= 0; i-- {
		up[i] = 1 + shift*diagonal[i]
		if i < n-1 {
			e := shift * beside[i]
			up[i] -= e * e / up[i+1]
		}
	}
}

// rounding bounds the relative error of a trace of square roots by floats' rounding, for a matrix of the given
// condition. A sweep of [tridiagonal] computes the exact pivots of a matrix whose entries differ by a few units of
// rounding, and the sum of two sweeps cancels at most as many digits as the condition has. Each of these changes an
// eigenvalue, and with it the trace, by a relative error of at most some units of rounding times the condition; 8 of
// them leave a margin.
func rounding(condition float64) float64 { return 8 * 0x1p-53 * condition }

func (t *tridiagonal) diagonal(y []float64) (m []float64, trace float64) {
	n := len(y)
	diagonal, beside, q := t.scaled(y)
	m = make([]float64, n)
	down, up := make([]float64, n), make([]float64, n)
	for k, w := range q.weights {
		shift := q.shifts[k]
		pivots(diagonal, beside, shift, down, up)
		for i := range m {
			m[i] += w / (down[i] + up[i] - 1 - shift*diagonal[i])
		}
	}
	for _, v := range m {
		trace += v
	}
	return m, trace * max(0, 1-q.err-rounding(q.condition))
}

func (t *tridiagonal) full(y []float64) *mat.SymDense {
	n := len(y)
	diagonal, beside, q := t.scaled(y)
	out := mat.NewSymDense(n, nil)
	data := out.RawSymmetric()
	down, up, ratio := make([]float64, n), make([]float64, n), make([]float64, n)
	for k, w := range q.weights {
		shift := q.shifts[k]
		pivots(diagonal, beside, shift, down, up)
		for i := 1; i < n; i++ {
			ratio[i] = -shift * beside[i-1] / up[i]
		}
		for i := range n {
			v := w / (down[i] + up[i] - 1 - shift*diagonal[i])
			row := data.Data[i*data.Stride : i*data.Stride+n]
			row[i] += v
			for j := i + 1; j < n; j++ {
				v *= ratio[j]
				row[j] += v
			}
		}
	}
	return out
}
