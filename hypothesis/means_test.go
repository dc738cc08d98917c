package hypothesis

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

// grown is a sample of n of numbers in [0, 1], each 1 with probability p or else a seventh.
func grown(s *stream, n int, p float64, d noise.Distribution, l *law, squares, public bool) Sample {
	ones := float64(s.binomial(int64(n), p))
	rest := float64(n) - ones
	a := Sample{High: 1, HasSquares: squares}
	a.Count = Noisy{Value: float64(n)}
	if !public {
		a.Count = Noisy{Value: float64(n) + l.draw(s), Noise: d}
	}
	a.Sum = Noisy{Value: ones + rest/7 + l.draw(s), Noise: d, Unit: 1}
	a.Squares = Noisy{Value: ones + rest/49 + l.draw(s), Noise: d}
	return a
}

// Tests of means keep their level and their intervals cover, at all sizes, under either noise.
func TestMeansKeepTheirLevel(t *testing.T) {
	trials, sizes := 100, []int{100, 3000}
	if long() {
		trials, sizes = 2000, []int{100, 1000, 10_000, 100_000}
	}
	for kind, d := range map[string]noise.Distribution{
		"σ² = 100": gaussianOf(t, big.NewRat(100, 1)),
		"scale 5":  laplaceOf(t, big.NewRat(5, 1)), "none": nil,
	} {
		for i, n := range sizes {
			for _, squares := range []bool{true, false} {
				for _, public := range []bool{true, false} {
					runs := trials
					if gaussian(d) {
						runs *= 4
					}
					s, l, p := newStream(60+uint64(i)), newLaw(d), .3
					mean := p + (1-p)/7
					rejected, covered, covered1 := 0, 0, 0
					for range runs {
						a, b := grown(s, n, p, d, l, squares, public), grown(s, 2*n, p, d, l, squares, public)
						r, err := Means(a, b, Comparison{Simulations: 1999, Seed: s.words.Word()})
						one, err1 := Mean(a, Comparison{Null: mean, Simulations: 1999, Seed: s.words.Word()})
						if err != nil || err1 != nil {
							t.Fatal(err, err1)
						}
						if r.P <= .05 {
							rejected++
						}
						if r.Interval.Low <= 0 && 0 <= r.Interval.High {
							covered++
						}
						if one.Interval.Low <= mean && mean <= one.Interval.High {
							covered1++
						}
					}
					what := fmt.Sprintf("%s, n = %d, squares %t, public %t: %.4f rejected, %.4f and %.4f covered",
						kind, n, squares, public,
						float64(rejected)/float64(runs), float64(covered)/float64(runs),
						float64(covered1)/float64(runs))
					t.Log(what)
					if err := level(rejected, runs, .053); err != nil {
						t.Errorf("%s: %v", what, err)
					}
					for _, hits := range []int{covered, covered1} {
						if err := (stattest.Proportion{
							Successes:  hits,
							Of:         stattest.Binomial{Trials: runs, Probability: .945},
							FalseAlarm: falseAlarm,
						}).CheckAtLeast(); err != nil {
							t.Errorf("%s: %v", what, err)
						}
					}
				}
			}
		}
	}
}

// The interval of a difference of proportions covers.
func TestDifferenceCovers(t *testing.T) {
	trials, sizes := 100, []int{100, 3000}
	if long() {
		trials, sizes = 2000, []int{100, 1000, 10_000, 100_000}
	}
	for kind, d := range map[string]noise.Distribution{
		"σ² = 100": gaussianOf(t, big.NewRat(100, 1)),
		"σ² = 1":   gaussianOf(t, big.NewRat(1, 1)), "scale 3": laplaceOf(t, big.NewRat(3, 1)),
	} {
		for i, n := range sizes {
			for _, p := range [][2]float64{{.5, .4}, {.03, .05}} {
				for _, known := range []bool{true, false} {
					runs := trials
					if gaussian(d) {
						runs *= 4
					}
					s, l, covered := newStream(80+uint64(i)), newLaw(d), 0
					for range runs {
						x := [2][]float64{{0, 0}, {0, 0}}
						draw(s, l, x[0], int64(n), []float64{p[0], 1 - p[0]})
						draw(s, l, x[1], int64(n), []float64{p[1], 1 - p[1]})
						table := Table{Counts: x[:], Noise: d, How: How{Simulations: 1999, Seed: s.words.Word()}}
						if known {
							table.Sizes = []float64{float64(n), float64(n)}
						}
						r, err := table.Difference(.95)
						if err != nil {
							t.Fatal(err)
						}
						if truth := p[0] - p[1]; r.Interval.Low <= truth && truth <= r.Interval.High {
							covered++
						}
					}
					what := fmt.Sprintf("%s, n = %d, %v, known %t: %.4f",
						kind, n, p, known, float64(covered)/float64(runs))
					t.Log(what)
					if err := (stattest.Proportion{
						Successes:  covered,
						Of:         stattest.Binomial{Trials: runs, Probability: .945},
						FalseAlarm: falseAlarm,
					}).CheckAtLeast(); err != nil {
						t.Errorf("%s: %v", what, err)
					}
				}
			}
		}
	}
}

// The power that is foretold is the power that is had.
func TestPowerIsAsForetold(t *testing.T) {
	q, trials := []float64{.26, .24, .24, .26}, 4000
	for _, known := range []bool{true, false} {
		d := Design{Truth: q, Known: known}
		want, err := d.Power(6000, published(t).Variance())
		if err != nil {
			t.Fatal(err)
		}
		got := rate(t, trials, 6000, q, published(t), 90, func(x []float64) (*Test, error) {
			g := GoodnessOfFit{Counts: x, Noise: published(t)}
			if known {
				g.N = 6000
			}
			return g.Test()
		})
		t.Logf("foretold %.4f, had %.4f", want, float64(got)/float64(trials))
		if err := near(got, trials, want, .01); err != nil {
			t.Error(err)
		}
		n, ok, err := d.People(.8, published(t).Variance())
		before, _ := d.Power(n-1, published(t).Variance())
		at, _ := d.Power(n, published(t).Variance())
		if err != nil || !ok || before >= .8 || at < .8 {
			t.Errorf("%g people: power %g, one less %g, %v", n, at, before, err)
		}
		sd, ok, err := d.Noise(.8, n)
		if err != nil || !ok || sd < math.Sqrt(799) || sd > math.Sqrt(803) {
			t.Errorf("noise of %g with %g people, %v", sd, n, err)
		}
	}
	if _, ok, err := (Design{Truth: []float64{.5, .5}}).People(.8, 1); ok || err != nil {
		t.Errorf("a true hypothesis is rejected by some number of people, %v", err)
	}
	// mpmath: Σ exp(−5/2)(5/2)ʲ/j!·Q(3/2 + j, x/2)
	if got := noncentralTail(7.814727903251178, 3, 5); math.Abs(got-0.44050898454025) > 1e-12 {
		t.Errorf("the noncentral tail is %.14f", got)
	}
}
