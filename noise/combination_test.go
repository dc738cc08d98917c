package noise

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
)

func laplaceOf(t testing.TB, scale *big.Rat) DiscreteLaplace {
	d, err := NewDiscreteLaplace(scale)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func gaussianOf(t testing.TB, sigma2 *big.Rat) DiscreteGaussian {
	d, err := NewDiscreteGaussian(sigma2)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

type part struct {
	coefficient float64
	noise       Distribution
	times       int
}

func combinations(t testing.TB) map[string][]part {
	l := func(p, q int64) Distribution { return laplaceOf(t, big.NewRat(p, q)) }
	g := func(p, q int64) Distribution { return gaussianOf(t, big.NewRat(p, q)) }
	return map[string][]part{
		"one Laplace":           {{1, l(10, 1), 1}},
		"two Laplace":           {{1, l(10, 1), 2}},
		"many Laplace":          {{1, l(3, 1), 40}},
		"unequal Laplace":       {{1, l(20, 1), 1}, {0.3, l(7, 1), 12}},
		"a fitted total":        {{10. / 11, l(20, 1), 1}, {1. / 11, l(20, 1), 10}},
		"small Laplace":         {{0.5, l(1, 4), 3}, {1, l(1, 3), 1}},
		"one Gaussian":          {{2, g(100, 1), 1}},
		"many Gaussian":         {{1, g(50, 1), 20}, {0.1, g(400, 1), 30}},
		"small Gaussian":        {{1, g(1, 5), 4}},
		"Gaussian and Laplace":  {{1, g(100, 1), 1}, {1, l(5, 1), 3}},
		"of very unequal sizes": {{1000, l(3, 1), 1}, {0.001, l(3, 1), 50}},
	}
}

func combine(parts []part) *Combination {
	c := &Combination{}
	for _, p := range parts {
		c.Add(p.coefficient, p.noise, float64(p.times))
	}
	return c
}

// The quantile is one: at most a share alpha of draws is beyond it. Each case fails by chance with probability 1e-6 at
// most. And it is no wider than need be: a tenth less, and one unit, would not do.
func TestCombinationCovers(t *testing.T) {
	for name, parts := range combinations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const trials = 8000
			c := combine(parts)
			sums := make([]float64, trials)
			for i := range sums {
				for _, p := range parts {
					for range p.times {
						x, _ := p.noise.Draw().Float64()
						sums[i] += p.coefficient * x
					}
				}
			}
			for _, alpha := range []float64{0.5, 0.05, 0.01} {
				y := c.Quantile(alpha)
				beyond, near := 0, 0
				for _, x := range sums {
					if math.Abs(x) > y {
						beyond++
					}
					if math.Abs(x) > y*0.9-1 {
						near++
					}
				}
				if p := (stattest.Binomial{Trials: trials, Probability: 1 - alpha}).AtMost(trials - beyond); p < 1e-6 {
					t.Errorf("%d of %d beyond the quantile %g at %g: probability %.2g", beyond, trials, y, alpha, p)
				}
				if p := (stattest.Binomial{Trials: trials, Probability: alpha}).AtMost(near); p < 1e-6 {
					t.Errorf("%d of %d beyond 0.9 of the quantile %g less 1, at %g: it is too wide; σ %g",
						near, trials, y, alpha, c.StdDev())
				}
			}
		})
	}
}

// Of two Laplace noises the tail is known in closed form: the quantile is at most 1 % above it, and the coupling's
// distance.
func TestCombinationOfTwo(t *testing.T) {
	for _, s := range [][2]int64{{100, 100}, {100, 30}, {1000, 1}} {
		c := combine([]part{{1, laplaceOf(t, big.NewRat(s[0], 1)), 1}, {1, laplaceOf(t, big.NewRat(s[1], 1)), 1}})
		for _, alpha := range []float64{0.1, 0.05, 0.001} {
			y := c.Quantile(alpha)
			if p := LaplaceDifferenceTail(float64(s[0]), float64(s[1]), y-2); p > alpha {
				t.Errorf("%v at %g: tail %g at %g", s, alpha, p, y)
			}
			if p := LaplaceDifferenceTail(float64(s[0]), float64(s[1]), (y-2)*0.99); p < alpha*0.99 {
				t.Errorf("%v at %g: the quantile %g is too wide: %g", s, alpha, y, p)
			}
		}
	}
}

func TestCombinationEnds(t *testing.T) {
	var none Combination
	if y := none.Quantile(0.05); y != 0 {
		t.Errorf("nothing: %g", y)
	}
	c := combine([]part{{1, laplaceOf(t, big.NewRat(10, 1)), 3}})
	for _, alpha := range []float64{0, -1, math.NaN()} {
		if y := c.Quantile(alpha); !math.IsInf(y, 1) {
			t.Errorf("at %g: %g", alpha, y)
		}
	}
	for _, alpha := range []float64{1e-300, 1e-12, 1e-7} {
		if y := c.Quantile(alpha); math.IsInf(y, 1) || y < 10*math.Log(1/alpha) {
			t.Errorf("at %g: %g", alpha, y)
		}
	}
	r, err := NewRoundedGaussian(big.NewRat(100, 1))
	if err != nil {
		t.Fatal(err)
	}
	if y := combine([]part{{1, r, 2}}).Quantile(0.05); y < 20 || y > 60 {
		t.Errorf("of others: %g", y)
	}
}

func BenchmarkCombinationQuantile(b *testing.B) {
	for name, parts := range combinations(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				combine(parts).Quantile(0.05)
			}
		})
	}
}
