package hypothesis

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/noise"
)

// Without noise the analysis of variance is Welch's: statsmodels' anova_generic(use_var="unequal") of the same three
// samples gives these numbers. With two samples it is Welch's test of means.
func TestAnovaWithoutNoise(t *testing.T) {
	var samples []Sample
	for _, s := range [][3]float64{{40, 400, 4400}, {50, 550, 6600}, {30, 360, 4700}} {
		samples = append(samples, Sample{
			Count: Noisy{Value: s[0]}, Sum: Noisy{Value: s[1]}, Squares: Noisy{Value: s[2]}, HasSquares: true, High: 40,
		})
	}
	a, err := Anova(samples, Comparison{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(a.Statistic-2.9445976854188163) > 1e-9 || math.Abs(a.P-0.059233555668775514) > 1e-9 || a.DF != 2 || math.Abs(a.Denominator-69.37528493226786) > 1e-6 || a.N != 120 {
		t.Errorf("%+v", a)
	}
	two, err := Anova(samples[:2], Comparison{})
	if err != nil {
		t.Fatal(err)
	}
	means, err := Means(samples[0], samples[1], Comparison{})
	if err != nil || math.Abs(two.P-means.P) > 1e-12 || math.Abs(two.Statistic-means.Statistic*means.Statistic) > 1e-9 {
		t.Errorf("%+v, %+v: %v", two, means, err)
	}
}

// At level .05, equal means of three or five samples are rejected in at most 5.5 % of tries, whatever the noise, though
// their sizes and variances differ. A false alarm has a probability of at most a millionth for each comparison.
func TestAnovaKeepsItsLevel(t *testing.T) {
	t.Parallel()
	trials := 300
	if long() {
		trials = 4000
	}
	for kind, d := range map[string]noise.Distribution{
		"σ² = 100": gaussianOf(t, big.NewRat(100, 1)), "scale 5": laplaceOf(t, big.NewRat(5, 1)), "none": nil,
	} {
		for _, sizes := range [][]int{{100, 300, 1000}, {2000, 2000, 500, 500, 1000}} {
			s, l, rejected, unequal := newStream(8), newLaw(d), 0, 0
			for range trials {
				var samples []Sample
				for _, n := range sizes {
					samples = append(samples, grown(s, n, .3, d, l, true, false))
				}
				c := Comparison{Simulations: 399, Seed: s.words.Word()}
				a, err := Anova(samples, c)
				if err != nil {
					t.Fatal(err)
				}
				if a.P <= .05 {
					rejected++
				}
				samples[0] = grown(s, sizes[0], .8, d, l, true, false)
				if a, err = Anova(samples, c); err != nil {
					t.Fatal(err)
				}
				if a.P <= .05 {
					unequal++
				}
			}
			t.Logf("%v, %s: %.4f rejected, %.3f if one mean differs", sizes, kind,
				float64(rejected)/float64(trials), float64(unequal)/float64(trials))
			if err := level(rejected, trials, .055); err != nil {
				t.Errorf("%v, %s: %v", sizes, kind, err)
			}
			if unequal < trials/2 {
				t.Errorf("%v, %s: unequal means are found in %d of %d", sizes, kind, unequal, trials)
			}
		}
	}
}

// Samples that are too small for their noise are not rejected, and what are none are refused.
func TestAnovaOfDifficultSamples(t *testing.T) {
	d := laplaceOf(t, big.NewRat(50, 1))
	small := Sample{Count: Noisy{Value: 20, Noise: d}, Sum: Noisy{Value: 10, Noise: d, Unit: 1}, High: 1}
	large := Sample{Count: Noisy{Value: 1e15, Noise: d}, Sum: Noisy{Value: 1e15, Noise: d, Unit: 1}, High: 1}
	a, err := Anova([]Sample{small, large}, Comparison{})
	if err != nil || a.P != 1 || len(a.Warnings) == 0 {
		t.Errorf("%+v: %v", a, err)
	}
	if a, err = Anova([]Sample{large, large, large}, Comparison{}); err != nil || math.IsNaN(a.Statistic) || a.P < 0.5 {
		t.Errorf("%+v: %v", a, err)
	}
	for _, bad := range [][]Sample{nil, {large}, {large, {}}, {large, {Count: Noisy{Value: math.NaN()}, High: 1}}, make([]Sample, 1001)} {
		if _, err := Anova(bad, Comparison{}); !errors.Is(err, ErrInput) {
			t.Errorf("%d samples: %v", len(bad), err)
		}
	}
	if _, err := Anova([]Sample{large, large}, Comparison{Simulations: 1}); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
}
