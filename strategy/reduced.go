package strategy

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"
)

// reducedFrom is the least size of a matrix whose root is taken by reduction to a tridiagonal matrix. Eigenvectors take
// several times as long as all of its steps.
const reducedFrom = 128

// diagonalOfRoot returns the diagonal of the root of a positive semidefinite matrix, in a matrix that is 0 elsewhere,
// and the lower bound on the root's trace of [squareRoot].
func diagonalOfRoot(a *mat.SymDense) (diagonal *mat.SymDense, trace float64) {
	return reducedOr(a, true)
}

// fullRoot returns what [squareRoot] returns, up to rounding. It is as slow for a matrix that is nearly singular,
// because rounding decides the root there.
func fullRoot(a *mat.SymDense) (root *mat.SymDense, trace float64) { return reducedOr(a, false) }

func reducedOr(a *mat.SymDense, diagonal bool) (root *mat.SymDense, trace float64) {
	if a.SymmetricDim() >= reducedFrom {
		if root, trace, ok := reducedRoot(a, diagonal); ok {
			return root, trace
		}
	}
	return squareRoot(a)
}

// wellAbove is how many times its doubt the least eigenvalue is at least, for a full root by reduction.
const wellAbove = 1e4

// reducedRoot computes diagonalOfRoot or fullRoot without eigenvectors. It returns false if it cannot: for a full root
// of a matrix that is nearly singular, and if an elimination meets a pivot that is not positive.
//
// With A = QTQᵀ and a tridiagonal T, the root of A is Q√T·Qᵀ. The eigenvalues of T give the trace. A rational function
// gives √T: √x ≈ Σ_k w_k·x/(x + s_k) for x between low and high. With R_k = (I + T/s_k)⁻¹, whose entries follow from
// two sweeps, a term is w_k·(I − R_k), or w_k/s_k·T·R_k: the first loses no digits for a shift below high, and the
// second for one above. low is the doubt about an eigenvalue, which is added to T. So it changes the root of an
// eigenvalue of 0 by the root of the doubt, as rounding does.
func reducedRoot(a *mat.SymDense, diagonal bool) (root *mat.SymDense, trace float64, ok bool) {
	n := a.SymmetricDim()
	q, t, beside := reduce(a)
	values, off := append([]float64(nil), t...), append([]float64(nil), beside...)
	if !(gonum.Implementation{}).Dsterf(n, values, off) || !(values[n-1] > 0) {
		return nil, 0, false
	}
	doubt := doubtOf(values)
	if !diagonal && values[0] < wellAbove*doubt {
		return nil, 0, false
	}
	for _, v := range values {
		trace += math.Sqrt(max(v-doubt, 0))
	}
	for i := range t {
		t[i] += doubt
	}
	f, ok := tridiagonalRoot(t, beside, doubt, values[n-1]+2*doubt)
	if !ok {
		return nil, 0, false
	}
	var left mat.Dense
	left.Mul(q, f)
	root = mat.NewSymDense(n, nil)
	if diagonal {
		for i := range n {
			root.SetSym(i, i, mat.Dot(left.RowView(i), q.RowView(i)))
		}
		return root, trace, true
	}
	f.Mul(&left, q.T())
	for i := range n {
		for j := i; j < n; j++ {
			root.SetSym(i, j, f.At(i, j))
		}
	}
	return root, trace, true
}

// reduce returns Q, and the diagonal of T and the entries beside it, with a = QTQᵀ.
func reduce(a *mat.SymDense) (q *mat.Dense, diagonal, beside []float64) {
	n := a.SymmetricDim()
	q, diagonal, beside = mat.DenseCopyOf(a), make([]float64, n), make([]float64, n-1)
	of, tau, work := q.RawMatrix(), make([]float64, n-1), make([]float64, 1)
	var lapack gonum.Implementation
	lapack.Dsytrd(blas.Upper, n, of.Data, of.Stride, diagonal, beside, tau, work, -1) // asks for the best size of work
	work = make([]float64, int(work[0]))
	lapack.Dsytrd(blas.Upper, n, of.Data, of.Stride, diagonal, beside, tau, work, len(work))
	lapack.Dorgtr(blas.Upper, n, of.Data, of.Stride, tau, work, -1)
	work = make([]float64, max(int(work[0]), n))
	lapack.Dorgtr(blas.Upper, n, of.Data, of.Stride, tau, work, len(work))
	return q, diagonal, beside
}

// tridiagonalRoot returns the root of a tridiagonal matrix with eigenvalues from low to high, by the terms of
// [reducedRoot].
func tridiagonalRoot(diagonal, beside []float64, low, high float64) (*mat.Dense, bool) {
	n := len(diagonal)
	near, far := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil) // Σ w_k·R_k, and Σ w_k/s_k·R_k, above the diagonal
	down, up, ratio := make([]float64, n), make([]float64, n), make([]float64, n)
	q, whole := newQuadrature(low, high), 0.0
	for k, w := range q.weights {
		into, s := near, q.shifts[k]
		if s > high {
			into, w = far, w/s
		} else {
			whole += w
		}
		pivots(diagonal, beside, 1/s, down, up)
		for i := range n {
			if !(down[i] > 0 && up[i] > 0) {
				return nil, false
			}
			if i > 0 {
				ratio[i] = -beside[i-1] / s / up[i]
			}
		}
		for i := range n {
			v := w / (down[i] + up[i] - 1 - diagonal[i]/s)
			row := into.RawRowView(i)
			row[i] += v
			least := math.Abs(v) * 1e-30 // far from the diagonal nothing is left
			for j := i + 1; j < n && math.Abs(v) > least; j++ {
				v *= ratio[j]
				row[j] += v
			}
		}
	}
	out := mat.NewDense(n, n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			v := diagonal[i]*far.At(i, j) - near.At(i, j)
			if i > 0 {
				v += beside[i-1] * far.At(i-1, j)
			}
			switch {
			case j > i:
				v += beside[i] * far.At(i+1, j)
			case i < n-1:
				v += beside[i] * far.At(i, i+1)
			}
			if i == j {
				v += whole
			}
			out.Set(i, j, v)
			out.Set(j, i, v)
		}
	}
	return out, true
}
