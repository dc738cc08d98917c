package marginal

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// grain is the scale at which the entries of an optimal strategy become integers: an entry of at most 1 becomes one
// of at most 2²⁰, times the size of the attribute.
const grain = 1 << 20

// tolerance is how close a strategy's sum of squared errors comes to the least.
const tolerance = 1e-7

// optimal returns the factor for an attribute with prefixes or ranges that has the least Σ qᵀX⁺q among all Gram
// matrices X with diagonal at most 1 whose rows add up to 0.
//
// For V = PGP and any positive y, the least value is at least (tr S)²/Σy, with S = (D^½ V D^½)^½ and D = diag(y): by
// Cauchy–Schwarz, tr(X⁺V)·tr(DX) ≥ (tr S)², and tr(DX) ≤ Σy. The matrix D^−½ S D^−½ divided by its largest diagonal
// entry attains tr S times that entry. The two agree if y is the diagonal of S, so the loop moves y towards that
// diagonal until the two values are within a relative tolerance of each other, or for 200 rounds. This is the dual of
// the convex programme of Yuan, Yang, Zhang and Hao, "Convex optimization for linear query processing under
// approximate differential privacy", KDD 2016.
func optimal(a Attribute) *factor {
	c := a.Size
	if c == 1 {
		return plain(1)
	}
	v := centred(gram(a))
	y := make([]float64, c)
	for i := range y {
		y[i] = 1
	}
	for range 200 {
		s := square(scaled(v, y))
		trace, sum, most := 0.0, 0.0, 0.0
		for i := range y {
			trace += s.At(i, i)
			sum += y[i]
			most = max(most, s.At(i, i)/y[i])
		}
		if most*sum <= trace*(1+tolerance) {
			break
		}
		for i := range y {
			y[i] *= math.Pow(s.At(i, i)/y[i], 2) // beyond the diagonal of S, which is twice as fast
		}
	}
	// F = S^½ D^−½ has FᵀF = D^−½ S D^−½.
	f := power(scaled(v, y), func(e float64) float64 { return math.Sqrt(math.Sqrt(e)) })
	strategy := mat.NewDense(c, c, nil)
	largest := 0.0
	for i := range c {
		for j := range c {
			strategy.Set(i, j, f.At(i, j)/math.Sqrt(y[j]))
			largest = max(largest, math.Abs(strategy.At(i, j)))
		}
	}
	return rounded(a, strategy, grain/largest)
}

// rounded returns the factor whose integer matrix is strategy times scale, rounded, times c·I − 11ᵀ, so that its rows
// add up to exactly 0. All figures of the factor are those of the integers.
func rounded(a Attribute, strategy *mat.Dense, scale float64) *factor {
	c := a.Size
	rows := make([][]int64, c)
	for i := range c {
		rows[i] = make([]int64, c)
		var sum int64
		for j := range c {
			rows[i][j] = int64(math.Round(strategy.At(i, j) * scale))
			sum += rows[i][j]
		}
		for j := range c {
			rows[i][j] = int64(c)*rows[i][j] - sum
		}
	}
	return ofRows(a, rows)
}

// ofRows returns the factor of an integer matrix whose rows add up to 0.
func ofRows(a Attribute, rows [][]int64) *factor {
	c := a.Size
	f := &factor{size: c, rows: rows}
	r := mat.NewDense(c, c, nil)
	norms := make([]float64, c)
	for i := range c {
		for j := range c {
			r.Set(i, j, float64(rows[i][j]))
			norms[j] += r.At(i, j) * r.At(i, j)
		}
	}
	for j, n := range norms {
		sum := 0.0
		for i := range c {
			sum += math.Abs(r.At(i, j))
		}
		f.norm, f.absolute = max(f.norm, n), max(f.absolute, sum)
	}
	var product mat.Dense
	product.Mul(r.T(), r)
	x := mat.NewSymDense(c, nil)
	for i := range c {
		for j := i; j < c; j++ {
			x.SetSym(i, j, product.At(i, j)/f.norm)
		}
	}
	inverse := power(x, func(e float64) float64 { return 1 / e })
	f.queries = describe(a, inverse)
	f.inverse = mat.NewDense(c, c, nil)
	f.inverse.Mul(inverse, r.T()) // (RᵀR)⁺Rᵀ
	f.inverse.Scale(1/f.norm, f.inverse)
	return f
}

// flat returns the factor c·I − 11ᵀ for any attribute: what plain marginals are measured with.
func flat(a Attribute) *factor {
	f := plain(a.Size)
	if a.Queries == Values || a.Size == 1 {
		return f
	}
	n := float64(a.Size)
	inverse := centred(identity(a.Size))
	inverse.ScaleSym((n-1)/n, inverse)
	f.queries = describe(a, inverse)
	return f
}

// restored returns the factor of recorded rows, or nil if they do not measure every difference of the attribute's values.
func restored(a Attribute, rows [][]int64) *factor {
	if len(rows) != a.Size {
		return nil
	}
	for _, row := range rows {
		var sum int64
		for _, v := range row {
			if v > grain*MaxOrdered*2 || v < -grain*MaxOrdered*2 {
				return nil
			}
			sum += v
		}
		if len(row) != a.Size || sum != 0 {
			return nil
		}
	}
	f := ofRows(a, rows)
	trace := 0.0 // of R⁺R, which is the rank
	for i := range rows {
		for j := range rows {
			trace += f.inverse.At(i, j) * float64(rows[j][i])
		}
	}
	if math.Abs(trace-float64(a.Size-1)) > 1e-3 {
		return nil
	}
	return f
}

// best returns the factor with the least Σ qᵀX⁺q for an attribute.
func best(a Attribute) *factor {
	if a.Queries == Values {
		return plain(a.Size)
	}
	return optimal(a)
}

// identity returns the unit matrix.
func identity(n int) *mat.SymDense {
	out := mat.NewSymDense(n, nil)
	for i := range n {
		out.SetSym(i, i, 1)
	}
	return out
}

// centred returns PGP, with P = I − 11ᵀ/c.
func centred(g *mat.SymDense) *mat.SymDense {
	n := g.SymmetricDim()
	row := make([]float64, n)
	total := 0.0
	for i := range n {
		for j := range n {
			row[i] += g.At(i, j) / float64(n)
		}
		total += row[i] / float64(n)
	}
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, g.At(i, j)-row[i]-row[j]+total)
		}
	}
	return out
}

// scaled returns D^½ V D^½.
func scaled(v *mat.SymDense, y []float64) *mat.SymDense {
	out := mat.NewSymDense(len(y), nil)
	for i := range y {
		for j := i; j < len(y); j++ {
			out.SetSym(i, j, v.At(i, j)*math.Sqrt(y[i]*y[j]))
		}
	}
	return out
}
