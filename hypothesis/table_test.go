package hypothesis

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"dither/noise"
)

// squares is a 2×2 table of four counts in a row.
func squares(x []float64) [][]float64 { return [][]float64{{x[0], x[1]}, {x[2], x[3]}} }

// Independence in a 2×2 table: the level, and the power against .25 + .01(1, −1, −1, 1) [Rogers & Kifer 2017,
// figure 4].
func TestPublishedIndependence(t *testing.T) {
	trials := 4000
	if long() {
		trials = 20_000
	}
	for i, n := range []int{1000, 5000, 10_000} {
		for name, q := range map[string][]float64{"null": {.25, .25, .25, .25}, "power": {.26, .24, .24, .26}} {
			want := .05
			if name == "power" {
				want = []float64{.089, .597, .945}[i]
			}
			got := rate(t, trials, n, q, published(t), 20+uint64(i), func(x []float64) (*Test, error) {
				return Table{Counts: squares(x), Noise: published(t), N: float64(n)}.Independence()
			})
			t.Logf("n = %d, %s: %.4f, published %.3f", n, name, float64(got)/float64(trials), want)
			// .0946, .598, .936 by noncentral χ², which at its one degree of freedom is the most: the published rates
			// are of a simulation
			if err := near(got, trials, want, 0.014); err != nil {
				t.Errorf("n = %d, %s: %v", n, name, err)
			}
		}
	}
}

// Independence and equal proportions are rejected at .05 no more often where they hold, whether totals are known or
// not. Where few are expected the tests reject less.
func TestTablesKeepTheirLevel(t *testing.T) {
	trials, times, sizes := 120, 99, []int{100, 10_000}
	if long() {
		trials, times, sizes = 5000, 399, []int{100, 300, 1000, 10_000, 100_000}
	}
	pi, tau := []float64{.3, .7}, []float64{.5, .3, .2}
	var q []float64
	for _, a := range pi {
		for _, b := range tau {
			q = append(q, a*b)
		}
	}
	for kind, d := range map[string]noise.Distribution{
		"σ² = 800": published(t),
		"σ² = 9":   gaussianOf(t, big.NewRat(9, 1)), "scale 10": laplaceOf(t, big.NewRat(10, 1)),
		"scale 1": laplaceOf(t, big.NewRat(1, 1)),
	} {
		for i, n := range sizes {
			for _, known := range []bool{true, false} {
				for _, samples := range []bool{true, false} {
					runs, seed := trials, uint64(0)
					if gaussian(d) && n > 3000 {
						runs *= 4
					}
					s, l, x := newStream(40+uint64(i)), newLaw(d), make([]float64, 6)
					got := 0
					for range runs {
						if samples {
							draw(s, l, x[:3], int64(.3*float64(n)), tau)
							draw(s, l, x[3:], int64(.7*float64(n)), tau)
						} else {
							draw(s, l, x, int64(n), q)
						}
						seed++
						table := Table{
							Counts: [][]float64{x[:3], x[3:]}, Noise: d,
							How: How{Simulations: times, Seed: seed},
						}
						if known && samples {
							table.Sizes = []float64{math.Floor(.3 * float64(n)), math.Floor(.7 * float64(n))}
						} else if known {
							table.N = float64(n)
						}
						test := table.Independence
						if samples {
							test = table.Proportions
						}
						r, err := test()
						if err != nil {
							t.Fatal(err)
						}
						if r.P <= 0.05 {
							got++
						}
					}
					what := fmt.Sprintf("%s, n = %d, known %t, samples %t: %.4f",
						kind, n, known, samples, float64(got)/float64(runs))
					t.Log(what)
					if err := level(got, runs, 0.053); err != nil {
						t.Errorf("%s: %v", what, err)
					}
				}
			}
		}
	}
}

// Without noise, and with n known or not, the statistics are Pearson's, near enough: of minimum χ² the least.
func TestTablesWithoutNoise(t *testing.T) {
	table := Table{Counts: [][]float64{{120, 90, 40}, {80, 110, 60}}}
	naive := table
	naive.Method = Naive
	want, err := naive.Independence()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(want.Statistic-14) > 1e-9 || want.DF != 2 { // Pearson's: 400/100·2 + 100/100·2 + 100/50·2
		t.Errorf("Pearson's statistic is %g with %d degrees", want.Statistic, want.DF)
	}
	for name, known := range map[string]Table{"": table, "n": {Counts: table.Counts, N: 500}} {
		got, err := known.Independence()
		if err != nil || got.Statistic > want.Statistic || got.Statistic < want.Statistic*.95 {
			t.Errorf("%q: %+v, %v; Pearson's is %g", name, got, err, want.Statistic)
		}
	}
	sizes := table
	sizes.Sizes = []float64{250, 250}
	got, err := sizes.Proportions()
	if err != nil || math.Abs(got.Statistic-want.Statistic) > 1e-6*want.Statistic {
		t.Errorf("with sizes: %+v, %v; Pearson's is %g", got, err, want.Statistic)
	}
	fit, err := GoodnessOfFit{Counts: []float64{120, 90, 80, 110}, N: 400}.Test()
	if err != nil || math.Abs(fit.Statistic-10) > 1e-9 || math.Abs(fit.P-0.018566135463043) > 1e-12 {
		// mpmath: gammainc(1.5, 5, regularized)
		t.Errorf("fit without noise: %+v, %v", fit, err)
	}
}

// What cannot be tested is refused, or not rejected with a warning; never NaN.
func TestBadCounts(t *testing.T) {
	d := published(t)
	nan, inf := math.NaN(), math.Inf(1)
	refused := map[string]func() (*Test, error){
		"no counts":      GoodnessOfFit{Noise: d}.Test,
		"one count":      GoodnessOfFit{Counts: []float64{3}, Noise: d}.Test,
		"NaN":            GoodnessOfFit{Counts: []float64{nan, 3}, Noise: d}.Test,
		"infinite":       GoodnessOfFit{Counts: []float64{inf, 3}, Noise: d}.Test,
		"null is 1.1":    GoodnessOfFit{Counts: []float64{1, 3}, Null: []float64{.5, .6}, Noise: d}.Test,
		"null has 0":     GoodnessOfFit{Counts: []float64{1, 3}, Null: []float64{1, 0}, Noise: d}.Test,
		"null is short":  GoodnessOfFit{Counts: []float64{1, 3}, Null: []float64{1}, Noise: d}.Test,
		"null is NaN":    GoodnessOfFit{Counts: []float64{1, 3}, Null: []float64{nan, 1}, Noise: d}.Test,
		"n is −1":        GoodnessOfFit{Counts: []float64{1, 3}, N: -1, Noise: d}.Test,
		"n is a half":    GoodnessOfFit{Counts: []float64{1, 3}, N: .5, Noise: d}.Test,
		"method":         GoodnessOfFit{Counts: []float64{1, 3}, Noise: d, How: How{Method: "best"}}.Test,
		"few times":      GoodnessOfFit{Counts: []float64{1, 3}, Noise: d, How: How{Simulations: 3}}.Test,
		"unprojected":    GoodnessOfFit{Counts: []float64{100, 300}, Noise: d, How: How{Method: Unprojected}}.Test,
		"empty table":    Table{}.Independence,
		"one row":        Table{Counts: [][]float64{{1, 2}}}.Independence,
		"one column":     Table{Counts: [][]float64{{1}, {2}}}.Independence,
		"ragged":         Table{Counts: [][]float64{{1, 2}, {2}}}.Independence,
		"sizes":          Table{Counts: [][]float64{{1, 2}, {2, 3}}, Sizes: []float64{3}}.Proportions,
		"sizes of 0":     Table{Counts: [][]float64{{1, 2}, {2, 3}}, Sizes: []float64{3, 0}}.Proportions,
		"sizes and rows": Table{Counts: [][]float64{{1, 2}, {2, 3}}, Sizes: []float64{3, 5}}.Independence,
		"n and samples":  Table{Counts: [][]float64{{1, 2}, {2, 3}}, N: 8}.Proportions,
		"binomial":       func() (*Test, error) { return Binomial{Value: 3, N: 4}.Test(.5, TwoSided) },
		"binomial n":     func() (*Test, error) { return Binomial{Value: 3, Noise: d}.Test(.5, TwoSided) },
		"binomial null":  func() (*Test, error) { return Binomial{Value: 3, N: 4, Noise: d}.Test(1, TwoSided) },
		"binomial half":  func() (*Test, error) { return Binomial{Value: 3.5, N: 4, Noise: d}.Test(.5, TwoSided) },
		"binomial sided": func() (*Test, error) { return Binomial{Value: 3, N: 4, Noise: d}.Test(.5, "more") },
		"no bounds":      func() (*Test, error) { return Mean(Sample{Count: Noisy{Value: 5}}, Comparison{}) },
		"NaN mean": func() (*Test,
			error,
		) {
			return Mean(Sample{Count: Noisy{Value: nan}, High: 1}, Comparison{})
		},
		"of one": func() (*Test, error) { return Mean(Sample{Count: Noisy{Value: 1}, High: 1}, Comparison{}) },
	}
	for name, test := range refused {
		if got, err := test(); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	warned := map[string]func() (*Test, error){
		"all 0":         GoodnessOfFit{Counts: []float64{0, 0}, Noise: d}.Test,
		"all negative":  GoodnessOfFit{Counts: []float64{-5, -100}, Noise: d}.Test,
		"few expected":  GoodnessOfFit{Counts: []float64{-5, 100}, Null: []float64{.001, .999}, Noise: d, N: 100}.Test,
		"empty columns": Table{Counts: [][]float64{{0, 100}, {0, 200}}, Noise: d}.Independence,
		"negative rows": Table{Counts: [][]float64{{-10, -20}, {-4, 200}}, Noise: d}.Independence,
		"both negative": Table{Counts: [][]float64{{-100, -200}, {-100, -200}}, Noise: d}.Proportions,
		"no people": func() (*Test, error) {
			return Mean(Sample{Count: Noisy{Value: -3, Noise: d}, Sum: Noisy{Value: 7, Noise: d}, High: 1},
				Comparison{})
		},
		"nobody twice": Table{Counts: [][]float64{{-100, -200}, {-100, -200}}, Noise: d}.difference,
	}
	for name, test := range warned {
		got, err := test()
		if err != nil || got.P != 1 || len(got.Warnings) == 0 || math.IsNaN(got.Statistic) ||
			math.IsNaN(got.Interval.Low+got.Interval.High) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func (t Table) difference() (*Test, error) { return t.Difference(.95) }

// Marginals that noise drowns are not tested: a null distribution at them would reject too much, .061 at n = 300 and
// σ² = 800 in 4000 samples.
func TestDrownedMarginals(t *testing.T) {
	for name, table := range map[string]Table{
		"columns": {Counts: [][]float64{{60, 10}, {90, 25}}, Noise: published(t)}, // 35 among noise of 40
		"rows":    {Counts: [][]float64{{18, 16}, {90, 90}}, Noise: published(t), N: 214},
	} {
		r, err := table.Independence()
		if err != nil || r.P != 1 || len(r.Warnings) != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	told := Table{Counts: [][]float64{{18, 16}, {190, 190}}, Noise: published(t), Sizes: []float64{34, 380}}
	if r, err := told.Proportions(); err != nil || r.Null == "none" {
		t.Errorf("rows of sizes that are told need no estimate: %+v, %v", r, err)
	}
}
