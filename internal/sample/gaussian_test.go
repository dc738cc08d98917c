package sample_test

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/sample"
	"dither/internal/stattest"
)

// gaussianCDF is the distribution function of the discrete Gaussian, written apart from package noise: by sums of all
// masses up to σ = 200, and beyond by the continuous one at x + ½, which is within 1e-6 of it (a mass is a mean of
// the density about x, less f″/24, and Σ|f″|/24 < 1/(24σ²)).
func gaussianCDF(sigma2 *big.Rat) func(*big.Int) float64 {
	s2, _ := sigma2.Float64()
	if s2 > 40_000 {
		sigma := math.Sqrt(s2)
		return func(x *big.Int) float64 {
			f, _ := new(big.Float).SetInt(x).Float64()
			return math.Erfc(-(f+0.5)/sigma/math.Sqrt2) / 2
		}
	}
	const k = 8000 // 40σ and more
	sums := make([]float64, 2*k+1)
	total := 0.0
	for x := -k; x <= k; x++ {
		total += math.Exp(-float64(x) * float64(x) / 2 / s2)
		sums[x+k] = total
	}
	return func(x *big.Int) float64 { return sums[max(-k, min(k, x.Int64()))+k] / total }
}

// gaussianFollows is follows for the discrete Gaussian.
func gaussianFollows(t *testing.T, sigma2 *big.Rat, n int) {
	t.Helper()
	sampled, f := drawn(sample.NewGaussian(sigma2), n), gaussianCDF(sigma2)
	if err := (stattest.KolmogorovIntegers{Sample: sampled, CDF: f, FalseAlarm: falseAlarm}).Check(); err != nil {
		t.Error(err)
	}
	s2, _ := sigma2.Float64()
	if 0.1 < s2 && s2 <= 40_000 {
		const k = 1000
		at := func(x int) float64 { return f(big.NewInt(int64(x))) }
		expected := []float64{at(-k)}
		for x := -k + 1; x < k; x++ {
			expected = append(expected, at(x)-at(x-1))
		}
		expected = append(expected, 1-at(k-1))
		if err := (stattest.ChiSquared{
			Observed: counts(sampled, k), Expected: expected,
			FalseAlarm: falseAlarm,
		}).Check(); err != nil {
			t.Error(err)
		}
	}
	even, sum := 0, 0.0
	for x := -200.0; x <= 200 && s2 < 100; x++ {
		sum += math.Exp(-x * x / 2 / s2)
	}
	of := stattest.Binomial{Trials: n, Probability: 0.5} // the difference is 2·exp(−π²σ²/2)
	if s2 < 100 {
		of.Probability = 0
		for x := -200.0; x <= 200; x += 2 {
			of.Probability += math.Exp(-x*x/2/s2) / sum
		}
		of.Probability = min(1, of.Probability)
	}
	for _, x := range sampled {
		even += 1 - int(x.Bit(0))
	}
	if err := (stattest.Proportion{Successes: even, Of: of, FalseAlarm: falseAlarm}).Check(); err != nil {
		t.Errorf("even integers: %v", err)
	}
}

func TestDiscreteGaussianDistribution(t *testing.T) {
	for name, sigma2 := range map[string]*big.Rat{
		"0.001": ratio(1, 1000), "0.05": ratio(1, 20), "0.25": ratio(1, 4), "0.99": ratio(99, 100), "1": ratio(1, 1),
		"7/3": ratio(7, 3),
		"4":   ratio(4, 1), "100": ratio(100, 1), "12345.678": ratio(12345678, 1000),
		"2^27":   shifted(1, 27, big.NewInt(1)),
		"2^45/3": shifted(1, 45, big.NewInt(3)), "2^60": shifted(1, 60, big.NewInt(1)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gaussianFollows(t, sigma2, draws())
		})
	}
}

// TestDiscreteGaussianBorder is about parameters at the borders between words, pairs and big integers, on either side
// of the fraction, and beyond them.
func TestDiscreteGaussianBorder(t *testing.T) {
	one := big.NewInt(1)
	less := func(n uint) *big.Int { return new(big.Int).Sub(new(big.Int).Lsh(one, n), one) }
	fraction := func(n, d *big.Int) *big.Rat { return new(big.Rat).SetFrac(n, d) }
	for name, sigma2 := range map[string]*big.Rat{
		"2^31-1": fraction(less(31), one), "2^32-1": fraction(less(32), one), "2^63-1": fraction(less(63), one),
		"2^64": shifted(1, 64, one),
		"2^90": shifted(1, 90, one), "2^127-1": fraction(less(127), one),
		"(2^31-1)/(2^24-1)": fraction(less(31), less(24)), "(2^63-1)/(2^61-1)": fraction(less(63), less(61)),
		"2^127/(2^126-1)": fraction(new(big.Int).Lsh(one, 127), less(126)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gaussianFollows(t, sigma2, draws()/10)
		})
	}
}
