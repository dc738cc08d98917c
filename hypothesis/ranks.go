package hypothesis

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Kruskal tests that all rows of a table, which are samples, have the same distribution over the columns, which are
// in order [Kruskal & Wallis 1952]. It is sensitive to rows whose values are mostly above or below those of others.
//
// Let H be the noisy counts, and n_g the sum of row g. The score of a column is its midrank among the noisy totals of
// all columns, as a share of all people, minus the mean score. The statistic is the quadratic form UᵀC⁻¹U of
// U_g = Σ_j H_gj·score_j. U sums to 0, so the last row is left out. C is the covariance of U under the hypothesis:
// that of sampling, σ²(Diag(n) − nnᵀ/N) with σ² the variance of the scores, plus that of the noise,
// s²·Σ score² · (I − n1ᵀ/N)(I − n1ᵀ/N)ᵀ, where s² is the variance of the noise of a count. Without noise, this is the
// statistic H of Kruskal and Wallis with its correction for ties, times N/(N − 1). In the limit it is χ² with
// one degree of freedom less than there are rows. If the noise is not Gaussian, or if a sample has fewer than 100
// people, the null distribution is simulated at the estimated sizes and the estimated common distribution.
//
// It does not reject, and warns, if a row has fewer than 5 people or less than three standard deviations of its noise.
// N and Sizes must not be set.
func (t Table) Kruskal() (*Test, error) {
	m, x, out, how, err := t.ordered(KruskalWallis)
	if err != nil {
		return nil, err
	}
	out.DF = m.rows - 1
	e := m.ranked(x)
	if !out.enough(e.sizes, math.Sqrt(m.s2*float64(m.columns))) || !(e.spread > 0) {
		out.tooAlike()
		return out, nil
	}
	out.Statistic = m.kruskal(x, e)
	out.P = chiSquaredTail(out.Statistic, out.DF)
	if how.simulated(t.Noise, least(e.sizes)) {
		out.simulated(how.Simulations)
		s, l, y := newStream(how.Seed), newLaw(t.Noise), make([]float64, len(x))
		out.P = simulate(how.Simulations, out.Statistic, func() float64 {
			for i, n := range e.sizes {
				draw(s, l, y[i*m.columns:(i+1)*m.columns], int64(math.Round(n)), e.shares)
			}
			return m.kruskal(y, m.ranked(y))
		})
	}
	out.finish()
	return out, nil
}

// ordered checks the input of a test whose columns are in order.
func (t Table) ordered(name string) (m model, x []float64, out *Test, how How, err error) {
	if how, err = t.check(); err != nil {
		return
	}
	if how.Method != Projected {
		err = wrong("tests of ordered columns have one method only")
		return
	}
	if t.N != 0 || t.Sizes != nil {
		err = wrong("tests of ordered columns estimate all totals from the noisy counts")
		return
	}
	if x, err = t.flat(false); err != nil {
		return
	}
	m = model{rows: len(t.Counts), columns: len(t.Counts[0]), s2: variance(t.Noise), method: how.Method}
	if t.Simulations == 0 {
		how.Simulations = min(Simulations, max(999, int(2e8/(float64(len(x))*(10+float64(m.rows*m.rows))))))
	}
	out = &Test{
		Name: name, Method: "ranks with noise", Null: "χ²", Alternative: "any", P: 1, Estimate: math.NaN(),
	}
	return
}

// ranks are the midranks of the columns of a table, and what follows from them.
type ranks struct {
	n      float64
	sizes  []float64 // noisy sum of each row
	shares []float64 // share of each column, not negative
	score  []float64 // midrank of each column, as a share of all people, minus the mean
	spread float64   // variance of the scores
}

// scores returns the midranks of categories with noisy totals, and the shares of the categories. Negative totals count
// as 0.
func scores(totals []float64) (score, shares []float64, spread float64) {
	score, shares = make([]float64, len(totals)), make([]float64, len(totals))
	sum := 0.0
	for _, v := range totals {
		sum += max(0, v)
	}
	before := 0.0
	for j, v := range totals {
		shares[j] = max(0, v) / sum
		score[j] = before + shares[j]/2 - 0.5 // the mean midrank is a half
		before += shares[j]
		spread += shares[j] * score[j] * score[j]
	}
	return score, shares, spread
}

func (m model) ranked(x []float64) ranks {
	r := ranks{sizes: make([]float64, m.rows)}
	totals := make([]float64, m.columns)
	for i, v := range x {
		r.sizes[i/m.columns] += v
		totals[i%m.columns] += v
		r.n += v
	}
	r.score, r.shares, r.spread = scores(totals)
	mean := 0.0 // with regard to the noisy totals, negative ones included, so that U sums to 0
	for j, v := range totals {
		mean += v * r.score[j] / r.n
	}
	for j := range r.score {
		r.score[j] -= mean
	}
	return r
}

// kruskal returns the statistic of [Table.Kruskal]. It is 0 if a simulated table has no sum.
func (m model) kruskal(x []float64, r ranks) float64 {
	if !(r.n > 0 && r.spread > 0) {
		return 0
	}
	u, squares := make([]float64, m.rows), 0.0
	for i, v := range x {
		u[i/m.columns] += v * r.score[i%m.columns]
	}
	for _, v := range r.score {
		squares += v * v
	}
	c := mat.NewSymDense(m.rows, nil)
	for g := range m.rows {
		for h := g; h < m.rows; h++ {
			a, b := r.sizes[g]/r.n, r.sizes[h]/r.n
			sampling, noise := -r.n*a*b, float64(m.rows)*a*b-a-b
			if g == h {
				sampling, noise = sampling+max(0, r.sizes[g]), noise+1
			}
			c.SetSym(g, h, r.spread*sampling+m.s2*squares*noise)
		}
	}
	return quadratic(c, u, m.rows-1)
}

// quadratic returns uᵀC⁻¹u of the first k coordinates. It returns 0 if C is not positive definite there.
func quadratic(c *mat.SymDense, u []float64, k int) float64 {
	var cholesky mat.Cholesky
	if k <= 0 || !cholesky.Factorize(c.SliceSym(0, k)) {
		return 0
	}
	v := mat.NewVecDense(k, u[:k])
	var solved mat.VecDense
	if err := cholesky.SolveVecTo(&solved, v); err != nil {
		return 0 // C is singular to within rounding
	}
	return mat.Dot(v, &solved)
}

func least(x []float64) float64 {
	out := math.Inf(1)
	for _, v := range x {
		out = min(out, v)
	}
	return out
}

// enough reports whether each of these totals has enough people for a test, where noise has the standard deviation sd.
// It sets N, and turns the result into one that does not reject if they have too few.
func (t *Test) enough(totals []float64, sd float64) bool {
	for _, v := range totals {
		t.N += v
	}
	t.N = math.Max(0, t.N)
	switch few := least(totals); {
	case !(few >= fewExpected):
		t.tooFew(few)
	case few < drowning*sd:
		t.drowned()
	default:
		return true
	}
	return false
}

// tooAlike turns the result into one that does not reject, because all people are in one column, unless it is one
// already.
func (t *Test) tooAlike() {
	if t.Null == "none" {
		return
	}
	t.Statistic, t.P, t.Null = 0, 1, "none"
	t.warn("all people are in one column, as far as the noise shows, so the test does not reject")
}
