package together

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"dither/curator"
	"dither/noise"
)

// total is a combination of released numbers whose expected value is a constant, because the policy declares it.
type total struct {
	of    []combined
	count float64
}

// known has the combinations of released numbers whose expected values are constants. Their noise is uncorrelated and has
// the variance 1.
type known struct {
	first    []int     // of each part, among all released numbers
	variance []float64 // of each released number's noise, by part
	basis    [][]float64
	values   []float64 // the constant of each
}

const (
	// mostKnown is the largest number of additions that all answers take for the constants.
	mostKnown = 1 << 30
	// mostStored is the largest number of weights of the constants together.
	mostStored = 1 << 24
	// dependent is the largest ratio of variances at which a combination counts as a function of constants. Rounding leaves
	// such a ratio.
	dependent = 1e-11
)

// newKnown orthogonalizes totals. rows has the number of released numbers of each part, and answers the number of answers.
// A total that follows from earlier ones is left out, and so are the last ones if the answers take too many additions.
//
// Let x be an estimate with the covariance Σ to other estimates d of constants c, whose covariance is D. Of all estimates
// x + k(c − d), none has less variance than that with k = ΣD⁻¹, and it has no bias, because the mean of d is c. For d of
// uncorrelated entries of variance 1, its variance is that of x less the squares of Σ. So no answer gets more noise.
func newKnown(totals []total, rows []int, of []noise.Distribution, answers int) *known {
	k, all := &known{}, 0
	for i, n := range rows {
		k.first, k.variance = append(k.first, all), append(k.variance, of[i].Variance())
		all += n
	}
	for _, t := range totals {
		if n := len(k.basis) + 1; n*all > mostStored || float64(n)*float64(all)*float64(answers+n) > mostKnown {
			break
		}
		v, value := k.dense(t.of, all), t.count
		before := k.product(v, v)
		for range 2 { // the second time removes what rounding left
			value -= k.remove(v)
		}
		after := k.product(v, v)
		if !(after > dependent*before) {
			continue
		}
		for i := range v {
			v[i] /= math.Sqrt(after)
		}
		k.basis, k.values = append(k.basis, v), append(k.values, value/math.Sqrt(after))
	}
	if len(k.basis) == 0 {
		return nil
	}
	return k
}

// dense returns the weight of each released number.
func (k *known) dense(of []combined, all int) []float64 {
	v := make([]float64, all)
	for _, c := range of {
		for i, row := range c.rows {
			v[k.first[c.part]+row] += c.weights[i]
		}
	}
	return v
}

// product returns the covariance of two combinations of released numbers.
func (k *known) product(a, b []float64) (sum float64) {
	for i, variance := range k.variance {
		to := len(a)
		if i+1 < len(k.first) {
			to = k.first[i+1]
		}
		part := 0.0
		for j := k.first[i]; j < to; j++ {
			part += a[j] * b[j]
		}
		sum += part * variance
	}
	return sum
}

// remove subtracts from a combination what the constants explain of it, and returns its constant part.
func (k *known) remove(v []float64) (constant float64) {
	for i, u := range k.basis {
		s := k.product(v, u)
		if s == 0 {
			continue
		}
		for j, w := range u {
			v[j] -= s * w
		}
		constant += s * k.values[i]
	}
	return constant
}

// apply returns an answer with the constants: a combination with no more noise, and a number to add to it. The combination
// is empty if the constants determine the answer.
func (k *known) apply(of []combined) (out []combined, constant float64) {
	if k == nil {
		return of, 0
	}
	all := len(k.basis[0])
	v := k.dense(of, all)
	before := k.product(v, v)
	constant = k.remove(v)
	if k.product(v, v) <= dependent*before {
		if whole := math.Round(constant); math.Abs(constant-whole) < 1e-6*max(1, math.Abs(whole)) {
			constant = whole // as sums of the policy's whole numbers are
		}
		return nil, constant
	}
	for i, from := range k.first {
		to := all
		if i+1 < len(k.first) {
			to = k.first[i+1]
		}
		c := combined{part: i}
		for j := from; j < to; j++ {
			if v[j] != 0 {
				c.rows, c.weights = append(c.rows, j-from), append(c.weights, v[j])
			}
		}
		if len(c.rows) > 0 {
			out = append(out, c)
		}
	}
	return out, constant
}

// totals returns the policy's totals as combinations of what the plan measures. Several parts may have estimates of one total.
func (g *gridded) totals() (out []total) {
	var terms []int // one of each kind that the plan estimates alike
	alike := g.workload.Alike()
	for t, of := range alike {
		if slices.Index(alike, of) == t {
			terms = append(terms, t)
		}
	}
	for _, declared := range g.grid.Totals {
		query := make([][]float64, max(1, len(g.grid.Values)))
		if declared.Key >= 0 {
			query[declared.Key] = make([]float64, len(g.grid.Values[declared.Key]))
			query[declared.Key][declared.Value] = 1
		}
		for _, t := range terms {
			if shares, err := g.choice.Measurable.Estimate(t, query); err == nil && g.choice.Measurable.Spans(t, query) {
				out = append(out, total{of: parted(shares), count: float64(declared.Count)})
			}
		}
	}
	return out
}

// totals returns the policy's totals as combinations of the candidate's answers.
func (c candidate) totals(declared []curator.JointTotal) (out []total) {
	n := len(c.queries)
	across := mat.NewDense(len(c.queries[0]), n, nil)
	all := combined{}
	for i, q := range c.queries {
		all.rows = append(all.rows, i)
		for k, v := range q {
			across.Set(k, i, float64(v))
		}
	}
	var of mat.SVD
	if !of.Factorize(across, mat.SVDThin) {
		return nil
	}
	rank := of.Rank(1e-9)
	for _, t := range declared {
		in := numbers([][]bool{t.In})[0]
		want := mat.NewVecDense(len(in), nil)
		for k, v := range in {
			want.SetVec(k, float64(v))
		}
		var weights, got mat.VecDense
		of.SolveVecTo(&weights, want, rank)
		got.MulVec(across, &weights)
		got.SubVec(&got, want)
		if mat.Norm(&got, math.Inf(1)) > 1e-7 {
			continue // it does not follow from the answers
		}
		own := all
		own.weights = slices.Clone(weights.RawVector().Data)
		out = append(out, total{of: []combined{own}, count: float64(t.Count)})
	}
	return out
}
