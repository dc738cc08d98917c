package glm

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// symmetric returns the matrix with the given lower triangle, row by row.
func symmetric(d int, triangle []float64) *mat.SymDense {
	m := mat.NewSymDense(d, nil)
	k := 0
	for i := range d {
		for j := range i + 1 {
			m.SetSym(i, j, triangle[k])
			k++
		}
	}
	return m
}

// spectral is the eigendecomposition of a symmetric matrix, with increasing eigenvalues.
type spectral struct {
	values  []float64
	vectors mat.Dense // eigenvectors, as columns
}

// decompose returns the eigendecomposition of m, or nil if the float64 computation fails.
func decompose(m mat.Symmetric) *spectral {
	d := m.SymmetricDim()
	for i := range d {
		for j := range i + 1 {
			if x := m.At(i, j); math.IsNaN(x) || math.IsInf(x, 0) {
				return nil
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		return nil
	}
	s := &spectral{values: e.Values(nil)}
	e.VectorsTo(&s.vectors)
	return s
}

// apply returns V·diag(f(λ))·Vᵀ, where V are the eigenvectors and λ the eigenvalues.
func (s *spectral) apply(f func(lambda float64) float64) *mat.Dense {
	d := len(s.values)
	scaled := mat.NewDense(d, d, nil)
	for j, l := range s.values {
		x := f(l)
		for i := range d {
			scaled.Set(i, j, s.vectors.At(i, j)*x)
		}
	}
	out := mat.NewDense(d, d, nil)
	out.Mul(scaled, s.vectors.T())
	return out
}

func times(m mat.Matrix, x []float64) []float64 {
	r, c := m.Dims()
	out := make([]float64, r)
	for i := range r {
		for j := range c {
			out[i] += m.At(i, j) * x[j]
		}
	}
	return out
}

// sandwich returns A·B·Aᵀ.
func sandwich(a, b mat.Matrix) *mat.Dense {
	var ab, out mat.Dense
	ab.Mul(a, b)
	out.Mul(&ab, a.T())
	return &out
}

func inner(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func length(x []float64) float64 {
	out := 0.0
	for _, v := range x {
		out = math.Hypot(out, v)
	}
	return out
}
