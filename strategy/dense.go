package strategy

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// dense has any Gram matrix. Each step takes the root of a matrix. A matrix that is symmetric under reversal of the
// cells, as all windows are, is first split into two of half the size, if y is symmetric too: one for vectors that are
// equal to their reverse, and one for those that are its negative.
type dense struct {
	gram      *mat.SymDense
	symmetric bool
}

func newDense(gram *mat.SymDense) *dense {
	n := gram.SymmetricDim()
	d := &dense{gram: gram, symmetric: true}
	for i := range n {
		for j := i; j < n && d.symmetric; j++ {
			d.symmetric = gram.At(i, j) == gram.At(n-1-i, n-1-j)
		}
	}
	return d
}

func (d *dense) diagonal(y []float64) (m []float64, trace float64) {
	full, trace := d.root(y, diagonalOfRoot)
	m = make([]float64, len(y))
	for i := range m {
		m[i] = full.At(i, i)
	}
	return m, trace
}

func (d *dense) full(y []float64) *mat.SymDense {
	full, _ := d.root(y, fullRoot)
	return full
}

// root returns M and a lower bound on its trace, from the roots that of returns.
func (d *dense) root(y []float64, of func(*mat.SymDense) (*mat.SymDense, float64)) (m *mat.SymDense, trace float64) {
	n := len(y)
	scaled := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			scaled.SetSym(i, j, math.Sqrt(y[i]*y[j])*d.gram.At(i, j))
		}
	}
	symmetric := d.symmetric && n >= 2
	for i := range n / 2 {
		symmetric = symmetric && y[i] == y[n-1-i]
	}
	if !symmetric {
		return of(scaled)
	}
	h, odd := n/2, n%2
	even, uneven := mat.NewSymDense(h+odd, nil), mat.NewSymDense(h, nil)
	for i := range h {
		for j := i; j < h; j++ {
			a, b := scaled.At(i, j), scaled.At(i, n-1-j)
			even.SetSym(i, j, a+b)
			uneven.SetSym(i, j, a-b)
		}
		if odd == 1 {
			even.SetSym(i, h, math.Sqrt2*scaled.At(i, h))
		}
	}
	if odd == 1 {
		even.SetSym(h, h, scaled.At(h, h))
	}
	even, trace = of(even)
	uneven, rest := of(uneven)
	out := mat.NewSymDense(n, nil)
	for i := range h {
		for j := i; j < h; j++ {
			a, b := (even.At(i, j)+uneven.At(i, j))/2, (even.At(i, j)-uneven.At(i, j))/2
			out.SetSym(i, j, a)
			out.SetSym(n-1-i, n-1-j, a)
			out.SetSym(i, n-1-j, b)
			out.SetSym(j, n-1-i, b)
		}
		if odd == 1 {
			v := even.At(i, h) / math.Sqrt2
			out.SetSym(i, h, v)
			out.SetSym(h, n-1-i, v)
		}
	}
	if odd == 1 {
		out.SetSym(h, h, even.At(h, h))
	}
	return out, trace + rest
}

// doubtOf bounds the error of computed eigenvalues, which are ascending. It is at most a few n units of rounding of the
// largest one; 4n of them leave a margin.
func doubtOf(values []float64) float64 {
	return 4 * float64(len(values)) * 0x1p-53 * values[len(values)-1]
}

// squareRoot returns the root of a positive semidefinite matrix, from its eigenvectors, and a lower bound on the root's
// trace. The bound subtracts the doubt from each eigenvalue.
func squareRoot(a *mat.SymDense) (root *mat.SymDense, trace float64) {
	n := a.SymmetricDim()
	root = mat.NewSymDense(max(n, 1), nil)
	var eigen mat.EigenSym
	if n == 0 || !eigen.Factorize(a, true) {
		return root, 0
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	doubt := doubtOf(values)
	for k, v := range values {
		trace += math.Sqrt(max(v-doubt, 0))
		f := math.Sqrt(math.Sqrt(max(v, 0)))
		for i := range n {
			vectors.Set(i, k, vectors.At(i, k)*f)
		}
	}
	root.SymOuterK(1, &vectors)
	return root, trace
}
