package marginal

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// factor is what a strategy measures about one attribute with c values, apart from the total: an integer matrix R whose
// rows each add up to 0. Column norms are measured in units of the largest, so that every number below is that of a
// measurement with sensitivity 1 and noise of variance 1.
type factor struct {
	size     int
	rows     [][]int64  // R; nil: R = c·I − 11ᵀ, which is never stored
	inverse  *mat.Dense // the pseudo-inverse of R, c × rows; nil for c·I − 11ᵀ
	norm     float64    // the largest squared column norm of R
	absolute float64    // the largest sum of the absolute values of a column of R
	queries
}

// queries are sums over the attribute's queries q. The measurement has the Gram matrix X = RᵀR divided by the largest
// squared column norm.
type queries struct {
	count   float64 // the number of queries
	cells   float64 // the number of values in all queries together
	widest  float64 // the largest number of values in a query
	spread  float64 // Σ qᵀX⁺q
	means   float64 // Σ (the mean entry of q)²
	nuclear float64 // tr(P·√G), with G = Σ qqᵀ and P = I − 11ᵀ/c: see [Workload.Bound]
	level   float64 // 1ᵀ√G1/c
	front   []point // the queries with the largest variances
}

// point is one query: qᵀX⁺q and the square of its mean entry.
type point struct{ spread, mean float64 }

// plain returns the factor c·I − 11ᵀ for an attribute with plain values. X is P·c/(c−1), so each value's query has
// the variance ((c−1)/c)².
func plain(c int) *factor {
	n := float64(c)
	p := point{(n - 1) / n * (n - 1) / n, 1 / (n * n)}
	return &factor{size: c, norm: n * (n - 1), absolute: 2 * (n - 1), queries: queries{
		count: n, cells: n, widest: 1, spread: n * p.spread, means: 1 / n, nuclear: n - 1, level: 1, front: []point{p},
	}}
}

// gram returns G = Σ qqᵀ over an attribute's queries.
func gram(a Attribute) *mat.SymDense {
	c := a.Size
	g := mat.NewSymDense(c, nil)
	for i := range c {
		for j := i; j < c; j++ {
			switch a.Queries {
			case Prefixes: // those that reach the later of the two values
				g.SetSym(i, j, float64(c-j))
			case Ranges: // those that begin at the earlier or before, and end at the later or after
				g.SetSym(i, j, float64((i+1)*(c-j)))
			default:
				if i == j {
					g.SetSym(i, i, 1)
				}
			}
		}
	}
	return g
}

// each calls f for the values [from, to) of each prefix or range.
func (a Attribute) each(f func(from, to int)) {
	for to := 1; to <= a.Size; to++ {
		f(0, to)
		if a.Queries == Ranges {
			for from := 1; from < to; from++ {
				f(from, to)
			}
		}
	}
}

// describe fills the sums over the attribute's prefixes or ranges, for the measurement with Gram matrix X, whose
// pseudo-inverse is given.
func describe(a Attribute, inverse mat.Matrix) (q queries) {
	c := a.Size
	corner := mat.NewDense(c+1, c+1, nil) // sums over the leading entries
	for i := range c {
		for j := range c {
			corner.Set(i+1, j+1, inverse.At(i, j)+corner.At(i, j+1)+corner.At(i+1, j)-corner.At(i, j))
		}
	}
	a.each(func(from, to int) {
		mean := float64(to-from) / float64(c)
		p := point{corner.At(to, to) - 2*corner.At(from, to) + corner.At(from, from), mean * mean}
		p.spread = max(0, p.spread)
		q.count++
		q.cells += float64(to - from)
		q.widest = max(q.widest, float64(to-from))
		q.spread += p.spread
		q.means += p.mean
		q.front = insert(q.front, p)
	})
	root := square(gram(a))
	for i := range c {
		q.nuclear += root.At(i, i)
		for j := range c {
			q.level += root.At(i, j) / float64(c)
		}
	}
	q.nuclear -= q.level
	return q
}

// insert adds a point to a front, and keeps only points that no other exceeds in both coordinates.
func insert(front []point, p point) []point {
	out := front[:0]
	for _, f := range front {
		if f.spread >= p.spread && f.mean >= p.mean {
			return front // nothing was removed: no point before f can be below p, since f would exceed it
		}
		if f.spread > p.spread || f.mean > p.mean {
			out = append(out, f)
		}
	}
	return append(out, p)
}

// square returns the square root of a positive semidefinite matrix. Eigenvalues that rounding made negative count
// as 0.
func square(g *mat.SymDense) *mat.SymDense { return power(g, math.Sqrt) }

// power returns the symmetric matrix with f applied to the eigenvalues of g that are above rounding error, and 0 to
// the others.
func power(g *mat.SymDense, f func(float64) float64) *mat.SymDense {
	n := g.SymmetricDim()
	var e mat.EigenSym
	if !e.Factorize(g, true) {
		return mat.NewSymDense(n, nil)
	}
	values := e.Values(nil)
	var v mat.Dense
	e.VectorsTo(&v)
	scaled := mat.NewDense(n, n, nil)
	for j, value := range values {
		if value <= values[n-1]*1e-13*float64(n) {
			continue
		}
		s := f(value)
		for i := range n {
			scaled.Set(i, j, v.At(i, j)*s)
		}
	}
	var product mat.Dense
	product.Mul(scaled, v.T())
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, (product.At(i, j)+product.At(j, i))/2)
		}
	}
	return out
}
