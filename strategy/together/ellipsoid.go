package together

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// scale is the factor by which a strategy of real numbers is multiplied before it is rounded to integers.
const scale = 1 << 12

// ellipsoid returns integer combinations of the counts whose noise has nearly the least sum of variances of all
// Gaussian noise. It returns nil if the counts are linearly dependent.
//
// Noise of covariance Σ on the counts has the loss max tᵀΣ⁻¹t/2, over the columns t of counts. The least trace of Σ
// with all tᵀΣ⁻¹t ≤ 1 is the least trace of an ellipsoid around the points t. Its dual is the largest tr(S^½)² over
// weights w of the columns that add up to 1, where S = Σ w·ttᵀ, and Σ is then a multiple of S^½. The weights are found
// by multiplicative updates, until the gap to the dual is below a thousandth.
func ellipsoid(counts [][]int64) [][]int64 {
	m := len(counts)
	points := distinct(counts)
	w := make([]float64, len(points))
	for i := range w {
		w[i] = 1 / float64(len(w))
	}
	inverse := mat.NewSymDense(m, nil) // S^-½
	for range 5000 {
		s := mat.NewSymDense(m, nil)
		for i, t := range points {
			s.SymRankOne(s, w[i], mat.NewVecDense(m, t))
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(s, true) {
			return nil
		}
		values := eigen.Values(nil)
		if values[0] < 1e-12*values[m-1] {
			return nil
		}
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		trace := 0.0
		inverse.Zero()
		for k, v := range values {
			trace += math.Sqrt(v)
			inverse.SymRankOne(inverse, 1/math.Sqrt(v), vectors.ColView(k))
		}
		most := 0.0
		for i, t := range points {
			x := mat.NewVecDense(m, t)
			d := mat.Inner(x, inverse, x) / trace // the average of d over the weights is 1
			most, w[i] = max(most, d), w[i]*d
		}
		if most <= 1+1e-3 {
			break
		}
	}
	// the queries B with BᵀB proportional to S^-½ = Σ⁻¹, up to a factor: the root of the inverse, rounded
	var eigen mat.EigenSym
	if !eigen.Factorize(inverse, true) {
		return nil
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	out := make([][]int64, m)
	for k := range out {
		out[k] = make([]int64, m)
		for j := range m {
			out[k][j] = int64(math.Round(scale * math.Sqrt(values[k]/values[m-1]) * vectors.At(j, k)))
		}
	}
	return out
}

// distinct returns the distinct nonzero columns.
func distinct(counts [][]int64) (out [][]float64) {
	seen := map[string]bool{}
	for k := range counts[0] {
		t, key, zero := make([]float64, len(counts)), make([]byte, len(counts)), true
		for i := range counts {
			t[i], key[i] = float64(counts[i][k]), byte(counts[i][k])
			zero = zero && counts[i][k] == 0
		}
		if !zero && !seen[string(key)] {
			seen[string(key)] = true
			out = append(out, t)
		}
	}
	return out
}
