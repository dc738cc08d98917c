package hypothesis

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// mostSamples is the largest number of samples that an analysis of variance compares.
const mostSamples = 1000

// Anova tests that the means of several samples are equal, without the assumption that their variances are: the
// analysis of variance of Welch [1951, "On the comparison of several mean values: an alternative approach"]. With two
// samples, its p-value is the two-sided one of [Means].
//
// Let m_g be the means, and v_g the squares of their errors, which come from sampling and from noise as in [Means].
// The statistic is Q = Σ (m_g − m̄)²/v_g, with m̄ the mean of the m_g weighted by 1/v_g, divided by k − 1 and by
// Welch's correction for variances that are estimated. Its null distribution is F with k − 1 and Welch's degrees of
// freedom, to which Gaussian noise contributes infinitely many. It is simulated from the distributions of the errors if
// the noise is not Gaussian. Both are accurate in the limit of large samples.
//
// If a count is not well above its noise, Anova rejects nothing. It uses only the Simulations and the Seed of c.
func Anova(samples []Sample, c Comparison) (*Test, error) {
	k := len(samples)
	if k < 2 || k > mostSamples {
		return nil, wrong("an analysis of variance needs 2 to %d samples, not %d", mostSamples, k)
	}
	if c.Simulations == 0 {
		c.Simulations = min(meanSimulations, 2e7/k)
	}
	if c.Simulations < 99 || c.Simulations > MaxSimulations {
		return nil, wrong("the number of simulations must be 99 to %d, not %d", MaxSimulations, c.Simulations)
	}
	out := &Test{
		Name: AnalysisOfVariance, Method: "Welch with noise", Null: "F", Alternative: "any", P: 1, DF: k - 1,
		Known: true, Estimate: math.NaN(),
	}
	means, bad := make([]meanOf, k), false
	for g, s := range samples {
		if err := s.check(); err != nil {
			return nil, err
		}
		means[g] = s.mean()
		bad = bad || means[g].bad
		out.N += math.Max(0, s.Count.Value)
		out.Known = out.Known && s.Count.Noise == nil
	}
	if bad {
		out.Null = "none"
		out.warn("a noisy count is not well above its noise, so the test does not reject")
		return out, nil
	}
	values, weights, simulated := make([]float64, k), make([]float64, k), false
	for g, m := range means {
		se, _ := m.error()
		values[g], weights[g] = m.value, 1/(se*se)
		simulated = simulated || m.simulated()
	}
	unlike := 0.0 // Welch's Λ
	total := sum(weights)
	for g, m := range means {
		_, df := m.error()
		unlike += (1 - weights[g]/total) * (1 - weights[g]/total) / df
	}
	size := float64(k)
	correction := 1 + 2*(size-2)/(size*size-1)*unlike
	out.Statistic = dispersion(values, weights) / (size - 1) / correction
	out.Denominator = (size*size - 1) / (3 * unlike)
	if !simulated {
		out.P = fisherTail(out.Statistic, size-1, out.Denominator)
		out.finish()
		return out, nil
	}
	out.simulated(c.Simulations)
	errors, at := make([][]float64, k), -1
	for g, m := range means {
		se, _ := m.error()
		errors[g] = m.errors(c.Simulations, c.Seed+uint64(g))
		newStream(c.Seed + uint64(g) + 1<<32).shuffle(errors[g]) // they are in ascending order
		for i := range errors[g] {
			errors[g][i] *= se
		}
	}
	out.P = simulate(c.Simulations, out.Statistic, func() float64 {
		at++
		for g := range values {
			values[g] = errors[g][at]
		}
		return dispersion(values, weights) / (size - 1) / correction
	})
	out.finish()
	return out, nil
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// dispersion returns the weighted sum of squares about the weighted mean.
func dispersion(x, weights []float64) (q float64) {
	mean, total := 0.0, 0.0
	for i, w := range weights {
		mean, total = mean+w*x[i], total+w
	}
	mean /= total
	for i, w := range weights {
		q += w * (x[i] - mean) * (x[i] - mean)
	}
	return q
}

// fisherTail returns P(X ≥ x) for a variable X of the F distribution.
func fisherTail(x, df1, df2 float64) float64 {
	switch {
	case !(x > 0):
		return 1
	case df2 > 1e7:
		return chiSquaredTail(x*df1, int(df1))
	}
	return mathext.RegIncBeta(df2/2, df1/2, df2/(df2+df1*x))
}

// shuffle puts numbers in random order.
func (s *stream) shuffle(x []float64) {
	for i := len(x) - 1; i > 0; i-- {
		j := min(i, int(s.uniform()*float64(i+1)))
		x[i], x[j] = x[j], x[i]
	}
}
