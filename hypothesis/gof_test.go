package hypothesis

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

// gaussianOf is a discrete Gaussian of variance s2.
func gaussianOf(t testing.TB, s2 *big.Rat) noise.Distribution {
	d, err := noise.NewDiscreteGaussian(s2)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func laplaceOf(t testing.TB, scale *big.Rat) noise.Distribution {
	d, err := noise.NewDiscreteLaplace(scale)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// published is the noise of ρ = .00125 where a neighbour has another person in place of one, as Rogers & Kifer have
// it: s² = 1/ρ.
func published(t testing.TB) noise.Distribution { return gaussianOf(t, big.NewRat(800, 1)) }

// long reports that the long simulations are to be run.
func long() bool { return os.Getenv("DITHER_LONG") == "1" }

// falseAlarm is the rate of false alarms of each simulated rate.
const falseAlarm = 1e-7

// rate counts how often a test rejects at .05, of so many noisy multinomial tables drawn from q.
func rate(
	t testing.TB, trials, n int, q []float64, d noise.Distribution, seed uint64, test func(x []float64) (*Test, error),
) int {
	s, l, x, rejected := newStream(seed), newLaw(d), make([]float64, len(q)), 0
	for range trials {
		draw(s, l, x, int64(n), q)
		r, err := test(x)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(r.P) || math.IsNaN(r.Statistic) {
			t.Fatalf("%v gives %+v", x, r)
		}
		if r.P <= 0.05 {
			rejected++
		}
	}
	return rejected
}

// The naive test rejects a true hypothesis .995 … .060 of the time, the projected one .05 [Rogers & Kifer 2017,
// figure 1].
func TestPublishedFit(t *testing.T) {
	null := []float64{1. / 2, 1. / 6, 1. / 6, 1. / 6}
	trials := 4000
	for i, n := range []int{100, 1000, 5000, 10_000, 100_000} {
		for m, want := range map[Method]float64{
			Projected: []float64{.050, .051, .050, .050, .051}[i],
			Naive:     []float64{.995, .786, .280, .156, .060}[i],
		} {
			seed := uint64(0)
			got := rate(t, trials, n, null, published(t), uint64(i), func(x []float64) (*Test, error) {
				seed++
				return GoodnessOfFit{
					Counts: x, Noise: published(t), Null: null, N: float64(n),
					How: How{Method: m, Simulations: 99, Seed: seed},
				}.Test()
			})
			t.Logf("n = %d, %s: %.4f, published %.3f", n, m, float64(got)/float64(trials), want)
			if err := near(got, trials, want, 0.0015); err != nil {
				t.Errorf("n = %d, %s: %v", n, m, err)
			}
		}
	}
}

// near tests a rate against a published one that is itself within slack of the truth.
func near(got, trials int, want, slack float64) error {
	high := stattest.Proportion{
		Successes: got, Of: stattest.Binomial{Trials: trials, Probability: min(1, want+slack)},
		FalseAlarm: falseAlarm,
	}
	low := stattest.Proportion{
		Successes: trials - got,
		Of:        stattest.Binomial{Trials: trials, Probability: min(1, 1-want+slack)}, FalseAlarm: falseAlarm,
	}
	return errors.Join(low.CheckAtMost(), high.CheckAtMost())
}

// Power against the uniform distribution shifted by .01(1, −1, −1, 1).
func TestPublishedFitPower(t *testing.T) {
	q, trials := []float64{.26, .24, .24, .26}, 6000
	for i, n := range []int{4000, 6000, 8000, 10_000} {
		for m, want := range map[Method]float64{
			Projected:   []float64{.326, .535, .719, .844}[i],
			Unprojected: []float64{.291, .487, .672, .807}[i],
		} {
			got := rate(t, trials, n, q, published(t), 10+uint64(i), func(x []float64) (*Test, error) {
				return GoodnessOfFit{
					Counts: x, Noise: published(t), N: float64(n),
					How: How{Method: m, Simulations: 99},
				}.Test()
			})
			t.Logf("n = %d, %s: %.4f, published %.3f", n, m, float64(got)/float64(trials), want)
			if err := near(got, trials, want, 0.004); err != nil {
				t.Errorf("n = %d, %s: %v", n, m, err)
			}
		}
	}
}

// A true hypothesis is rejected at .05 no more often, whether n is known or not, under either noise, at all sizes.
func TestFitKeepsItsLevel(t *testing.T) {
	nulls := map[string][]float64{
		"uniform": {.25, .25, .25, .25}, "skewed": {1. / 2, 1. / 6, 1. / 6, 1. / 6},
		"steep": {.8, .15, .05},
	}
	noises := map[string]noise.Distribution{
		"σ² = 800": published(t), "σ² = 25": gaussianOf(t, big.NewRat(25, 1)),
		"scale 10": laplaceOf(t, big.NewRat(10, 1)), "scale 1": laplaceOf(t, big.NewRat(1, 1)),
	}
	sizes := []int{100, 10_000}
	trials, times := 250, 99
	if long() {
		sizes, trials, times = []int{100, 300, 1000, 5000, 10_000, 100_000}, 10_000, 499
	}
	for name, p := range nulls {
		for kind, d := range noises {
			for i, n := range sizes {
				for _, known := range []float64{float64(n), 0} {
					how, seed := How{Simulations: times}, uint64(0)
					runs := trials
					if gaussian(d) && n > 3000 {
						runs = 5 * trials
					}
					got := rate(t, runs, n, p, d, 100+uint64(i), func(x []float64) (*Test, error) {
						seed++
						how.Seed = seed
						return GoodnessOfFit{Counts: x, Noise: d, Null: p, N: known, How: how}.Test()
					})
					what := fmt.Sprintf("%s, %s, n = %d, known %t: %.4f",
						name, kind, n, known > 0, float64(got)/float64(runs))
					t.Log(what)
					// the limit is reached up to .003, where few are expected; what is simulated is exact, or as good
					// as n̂
					if err := level(got, runs, 0.053); err != nil {
						t.Errorf("%s: %v", what, err)
					}
				}
			}
		}
	}
}

// level refuses a rate that is above most.
func level(got, runs int, most float64) error {
	return stattest.Proportion{
		Successes: got, Of: stattest.Binomial{Trials: runs, Probability: most},
		FalseAlarm: falseAlarm,
	}.CheckAtMost()
}
