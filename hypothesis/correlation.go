package hypothesis

import "math"

// RankCorrelation estimates Spearman's rank correlation of two attributes whose categories are in order, and tests that
// it is 0. Its input is their table of noisy counts.
//
// The estimate is Σ H_ij·a_i·b_j / (N·σ_a·σ_b), where H are the noisy counts, a and b the midranks of rows and columns
// minus their means, and σ² the variances of the midranks. It is the correlation of midranks, so ties count as in
// Spearman's coefficient with its correction for ties. The interval covers sampling and noise, to first order, on
// Fisher's scale, artanh.
//
// The null distribution of |estimate|·√N is simulated at the estimated marginals, with noise. Rows and columns are then
// independent, which is the hypothesis of the test.
//
// It does not reject, and warns, if there are fewer than 20 people or if noise dominates the total. N and Sizes must
// not be set.
func (t Table) RankCorrelation(confidence float64) (*Test, error) {
	m, x, out, how, err := t.ordered("rank correlation")
	if err != nil {
		return nil, err
	}
	if !(confidence > 0 && confidence < 1) {
		return nil, wrong("the confidence must be between 0 and 1")
	}
	out.Null, out.Alternative = "Monte Carlo", "two-sided"
	out.Interval = Interval{-1, 1, confidence}
	total := 0.0
	for _, v := range x {
		total += v
	}
	const fewest = 4 * fewExpected
	if total < fewest {
		out.enough([]float64{min(total, fewExpected-1)}, 0)
		out.N = math.Max(0, total)
		return out, nil
	}
	if !out.enough([]float64{total}, math.Sqrt(m.s2*float64(len(x)))) {
		return out, nil
	}
	r, pi, tau := m.spearman(x)
	if math.IsNaN(r) {
		out.tooAlike()
		return out, nil
	}
	out.Estimate = r
	out.Interval.Low, out.Interval.High = m.around(x, r, confidence, how, newLaw(t.Noise))
	out.Statistic = math.Abs(r) * math.Sqrt(total)
	out.simulated(how.Simulations)
	q := make([]float64, len(x))
	for i := range q {
		q[i] = pi[i/m.columns] * tau[i%m.columns]
	}
	s, l, y := newStream(how.Seed), newLaw(t.Noise), make([]float64, len(x))
	out.P = simulate(how.Simulations, out.Statistic, func() float64 {
		draw(s, l, y, int64(math.Round(total)), q)
		r, _, _ := m.spearman(y)
		if math.IsNaN(r) {
			return math.Inf(1) // counts against the test
		}
		return math.Abs(r) * math.Sqrt(total)
	})
	out.finish()
	return out, nil
}

// spearman returns the rank correlation of a table, and the shares of its rows and columns. It returns NaN if all
// people are in one row or one column, or if there are none.
func (m model) spearman(x []float64) (r float64, pi, tau []float64) {
	rows, columns, n := make([]float64, m.rows), make([]float64, m.columns), 0.0
	for i, v := range x {
		rows[i/m.columns] += v
		columns[i%m.columns] += v
		n += v
	}
	a, pi, spreadA := scores(rows)
	b, tau, spreadB := scores(columns)
	if !(n > 0 && spreadA > 0 && spreadB > 0) {
		return math.NaN(), pi, tau
	}
	meanA, meanB := 0.0, 0.0 // with regard to the noisy counts, negative ones included
	for i, v := range rows {
		meanA += v * a[i] / n
	}
	for j, v := range columns {
		meanB += v * b[j] / n
	}
	sum := 0.0
	for i, v := range x {
		sum += v * (a[i/m.columns] - meanA) * (b[i%m.columns] - meanB)
	}
	return min(1, max(-1, sum/(n*math.Sqrt(spreadA*spreadB)))), pi, tau
}

// around returns the interval of a rank correlation.
func (m model) around(x []float64, r, confidence float64, how How, law *law) (low, high float64) {
	const edge = 1 - 1e-9
	fisher := func(x []float64) float64 {
		r, _, _ := m.spearman(x)
		return math.Atanh(min(edge, max(-edge, r)))
	}
	q := how.propagate(x, nil, law, confidence, fisher).reach
	r = min(edge, max(-edge, r))
	return math.Tanh(math.Atanh(r) - q), math.Tanh(math.Atanh(r) + q)
}
