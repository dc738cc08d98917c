package hypothesis

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

// Without noise the rates are those of the textbook: two groups of which one is older.
func TestRatesWithoutNoise(t *testing.T) {
	s := Strata{
		Events: [][]float64{{10, 40}, {5, 120}}, Others: [][]float64{{990, 960}, {495, 2880}},
		Weights: []float64{.7, .3}, Rates: []float64{.01, .04},
	}
	direct, err := s.Direct(.95)
	if err != nil {
		t.Fatal(err)
	}
	indirect, err := s.Indirect(.95)
	if err != nil {
		t.Fatal(err)
	}
	for g, r := range direct { // both have the rates .01 and .04
		if math.Abs(r.Value-.019) > 1e-12 || math.Abs(indirect[g].Value-1) > 1e-12 || !(r.Low < r.Value && r.Value < r.High) {
			t.Errorf("group %d: %+v, %+v", g, r, indirect[g])
		}
	}
	// Σ w²p(1 − p)/n, with half an event more in each stratum
	want := math.Sqrt(.49*.01*.99/1000*1.05 + .09*.04*.96/1000*1.0125)
	if got := direct[0].StdError; math.Abs(got/want-1) > .03 {
		t.Errorf("standard error %v, not %v", got, want)
	}
	if c := direct[1].Crude; math.Abs(c-125./3500) > 1e-12 {
		t.Errorf("crude %v", c)
	}
	s.Weights, s.Rates = nil, nil
	if direct, err = s.Direct(.95); err != nil || math.Abs(direct[0].Value-(1500*.01+4000*.04)/5500) > 1e-12 {
		t.Errorf("%+v: %v", direct, err)
	}
	if indirect, err = s.Indirect(.95); err != nil || math.Abs(indirect[0].Value-1) > 1e-12 {
		t.Errorf("%+v: %v", indirect, err)
	}
}

// Intervals contain the rates and the ratios of the population in at least 93.5 % of samples, for 400 to 40,000 people,
// with the standard given and with that of the noisy counts. A false alarm has a probability of at most a millionth for
// each comparison.
func TestRatesCover(t *testing.T) {
	t.Parallel()
	trials := 100
	if long() {
		trials = 1500
	}
	share, rates := [][]float64{{.3, .2, .1}, {.1, .1, .2}}, []float64{.02, .08, .25}
	for kind, d := range map[string]noise.Distribution{
		"none": nil, "scale 4": laplaceOf(t, big.NewRat(4, 1)), "σ² = 100": gaussianOf(t, big.NewRat(100, 1)),
	} {
		for _, n := range []int64{400, 4000, 40_000} {
			for _, given := range []bool{true, false} {
				var q []float64
				for g := range share {
					for e := range 2 {
						for j, p := range share[g] {
							r := rates[j] * float64(1+g)
							if e == 1 {
								r = 1 - r
							}
							q = append(q, p*r)
						}
					}
				}
				s := Strata{Noise: d, How: How{Simulations: 999}}
				if given {
					s.Weights, s.Rates = []float64{.4, .3, .3}, rates
				}
				whole := Strata{Weights: s.Weights, Rates: s.Rates}
				trueDirect, trueIndirect := whole.rate(q, 1, 2, 3, each(3), true), whole.rate(q, 1, 2, 3, each(3), false)
				stream, law, x := newStream(6), newLaw(d), make([]float64, len(q))
				var direct, indirect, estimated int
				for range trials {
					draw(stream, law, x, n, q)
					s.Events, s.Others = [][]float64{x[0:3], x[6:9]}, [][]float64{x[3:6], x[9:12]}
					s.Seed = stream.words.Word()
					a, err := s.Direct(.95)
					if err != nil {
						t.Fatal(err)
					}
					b, err := s.Indirect(.95)
					if err != nil {
						t.Fatal(err)
					}
					if !math.IsNaN(a[1].Value) {
						estimated++
					}
					if a[1].Low <= trueDirect && trueDirect <= a[1].High {
						direct++
					}
					if b[1].Low <= trueIndirect && trueIndirect <= b[1].High {
						indirect++
					}
				}
				t.Logf("n = %d, noise %s, standard given %t: direct %.4f (%d estimates), indirect %.4f", n, kind, given,
					float64(direct)/float64(trials), estimated, float64(indirect)/float64(trials))
				for what, hits := range map[string]int{"direct": direct, "indirect": indirect} {
					if err := (stattest.Proportion{
						Successes: hits, Of: stattest.Binomial{Trials: trials, Probability: .935}, FalseAlarm: falseAlarm,
					}).CheckAtLeast(); err != nil {
						t.Errorf("n = %d, noise %s, standard given %t: %s: %v", n, kind, given, what, err)
					}
				}
			}
		}
	}
}

// each returns parts of one stratum each.
func each(strata int) (parts [][2]int) {
	for j := range strata {
		parts = append(parts, [2]int{j, j})
	}
	return parts
}

// Strata in order are merged from the lowest, until they have enough people. The rest joins the last one.
func TestMergedStrata(t *testing.T) {
	for name, c := range map[string]struct {
		people []float64 // of the only group
		want   [][2]int
		ok     bool
	}{
		"none":      {[]float64{50, 60, 70}, [][2]int{{0, 0}, {1, 1}, {2, 2}}, true},
		"first":     {[]float64{1, 0, 60, 70}, [][2]int{{0, 2}, {3, 3}}, true},
		"last":      {[]float64{50, 60, 2, 0}, [][2]int{{0, 0}, {1, 3}}, true},
		"middle":    {[]float64{50, 2, 60, 70}, [][2]int{{0, 0}, {1, 2}, {3, 3}}, true},
		"below 0":   {[]float64{50, 5, -3}, [][2]int{{0, 2}}, true},
		"all":       {[]float64{2, 2, 2}, [][2]int{{0, 2}}, true},
		"too few":   {[]float64{2, 0, 2}, [][2]int{{0, 2}}, false},
		"one":       {[]float64{4}, [][2]int{{0, 0}}, false},
		"below all": {[]float64{6, -9, 7, -9}, [][2]int{{0, 3}}, false},
	} {
		s := Strata{Events: [][]float64{make([]float64, len(c.people))}, Others: [][]float64{c.people}, Ordered: true}
		for _, direct := range []bool{true, false} {
			parts, ok := s.parts([]int{0}, 1, len(c.people), direct)
			if !slices.Equal(parts, c.want) || ok != c.ok {
				t.Errorf("%s: %v, %t", name, parts, ok)
			}
		}
		s.Rates = make([]float64, len(c.people))
		if parts, ok := s.parts([]int{0}, 1, len(c.people), false); !slices.Equal(parts, each(len(c.people))) || !ok {
			t.Errorf("%s with given rates: %v, %t", name, parts, ok)
		}
	}
	// merging what has the same rate in each group changes nothing; weights are summed
	s := Strata{
		Events: [][]float64{{10, 0, 40}, {20, 1, 120}, {1, 0, 1}}, Others: [][]float64{{990, 1, 960}, {495, 99, 2880}, {1, 0, 0}},
		Weights: []float64{.5, .2, .3}, Ordered: true,
	}
	direct, err := s.Direct(.95)
	if err != nil {
		t.Fatal(err)
	}
	if want := .5*10/1000 + .5*40/1001; math.Abs(direct[0].Value-want) > 1e-12 {
		t.Errorf("%+v, not %v", direct, want)
	}
	// the strata of all groups are alike, although only the first needs merged ones; a group without a rate does not decide
	want := [][2]int{{0, 0}, {1, 2}}
	if !slices.Equal(direct[0].Merged, want) || !slices.Equal(direct[1].Merged, want) || !math.IsNaN(direct[2].Value) {
		t.Errorf("strata %v and %v, not %v: %+v", direct[0].Merged, direct[1].Merged, want, direct[2])
	}
	if want := .5*20/515 + .5*121/3100; math.Abs(direct[1].Value-want) > 1e-12 {
		t.Errorf("%+v, not %v", direct[1], want)
	}
}

// Intervals contain the rates and the ratios, for the strata that the noisy counts merged, in at least 93.5 % of samples.
// A rate that noise hides counts as covered. There are ten strata, and those at both ends are nearly empty, as in a town whose policy states wide
// bounds. The event is rare, or about as frequent as not. A false alarm has a probability of at most a millionth for each
// comparison.
func TestMergedRatesCover(t *testing.T) {
	t.Parallel()
	trials := 100
	if long() {
		trials = 1500
	}
	share := [][]float64{{.08, .08, .08, .07, .06, .05, .04, .02, .003, .0001}, {0, .01, .1, .12, .1, .08, .06, .03, .008, .0002}}
	for kind, d := range map[string]noise.Distribution{
		"none": nil, "scale 4": laplaceOf(t, big.NewRat(4, 1)), "σ² = 100": gaussianOf(t, big.NewRat(100, 1)),
	} {
		for often, least := range map[string]float64{"rare": .005, "often": .06} {
			var q []float64
			total := 0.0
			for g := range share {
				for e := range 2 {
					for j, p := range share[g] {
						r := least * float64((1+j)*(1+g))
						if often == "often" {
							r = .3 + least*float64(j)
						}
						if e == 1 {
							r = 1 - r
						}
						q, total = append(q, p*r), total+p*r
					}
				}
			}
			for i := range q {
				q[i] /= total
			}
			for _, n := range []int64{400, 1500, 40_000} {
				mergedCovers(t, Strata{Noise: d, Ordered: true, How: How{Simulations: 999}}, q, n, trials,
					fmt.Sprintf("n = %d, noise %s, event %s", n, kind, often))
			}
		}
	}
}

// mergedCovers tests how often the intervals of samples of n people, with the probabilities q, contain the truth.
func mergedCovers(t *testing.T, s Strata, q []float64, n int64, trials int, about string) {
	stream, law, x := newStream(7), newLaw(s.Noise), make([]float64, len(q))
	var hits, hidden, estimated, strata [3]int
	given := []float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}
	for range trials {
		draw(stream, law, x, n, q)
		s.Events, s.Others = [][]float64{x[0:10], x[20:30]}, [][]float64{x[10:20], x[30:40]}
		s.Seed = stream.words.Word()
		for i := range hits {
			s.Weights = nil
			if i == 1 {
				s.Weights = given
			}
			a, err := s.standardised(.95, i < 2)
			if err != nil {
				t.Fatal(err)
			}
			r := a[1] // the groups' ratios depend on each other
			if math.IsNaN(r.Value) {
				hidden[i]++
				continue
			}
			estimated[i], strata[i] = estimated[i]+1, strata[i]+len(r.Merged)
			if want := s.rate(q, 1, 2, 10, r.Merged, i < 2); r.Low <= want && want <= r.High {
				hits[i]++
			}
		}
	}
	for i, what := range []string{"direct", "direct with weights", "indirect"} {
		if estimated[i] == 0 {
			continue
		}
		t.Logf("%s: %s %.4f of %d estimates, %.1f strata", about, what, float64(hits[i])/float64(estimated[i]), estimated[i],
			float64(strata[i])/float64(estimated[i]))
		if err := (stattest.Proportion{
			Successes: hits[i] + hidden[i], Of: stattest.Binomial{Trials: estimated[i] + hidden[i], Probability: .935}, FalseAlarm: falseAlarm,
		}).CheckAtLeast(); err != nil {
			t.Errorf("%s: %s: %v", about, what, err)
		}
	}
}

// Where there is nothing to divide by there is no rate, and bad input is refused.
func TestDifficultRates(t *testing.T) {
	d := laplaceOf(t, big.NewRat(50, 1))
	for name, s := range map[string]Strata{
		"nobody": {Events: [][]float64{{0, 0}}, Others: [][]float64{{0, 0}}},
		"noise":  {Events: [][]float64{{-40, 3}}, Others: [][]float64{{90, -100}}, Noise: d},
		"a stratum absent": {
			Events: [][]float64{{50, 0}, {5, 7}}, Others: [][]float64{{50, 0}, {90, 90}}, Weights: []float64{.5, .5},
		},
		"no events": {Events: [][]float64{{0, 0}}, Others: [][]float64{{500, 300}}},
	} {
		direct, err := s.Direct(.95)
		if err != nil {
			t.Fatal(err)
		}
		indirect, err := s.Indirect(.95)
		if err != nil {
			t.Fatal(err)
		}
		if got := direct[0].Value; (name == "no events") != (got == 0) || name != "no events" && !math.IsNaN(got) {
			t.Errorf("%s: %+v", name, direct)
		}
		if name != "a stratum absent" && !math.IsNaN(indirect[0].Value) {
			t.Errorf("%s: %+v", name, indirect)
		}
		for _, r := range append(direct, indirect...) {
			if math.IsNaN(r.Low) || math.IsNaN(r.High) || r.Low > r.High {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	for _, bad := range []Strata{
		{},
		{Events: [][]float64{{1}}},
		{Events: [][]float64{{1}}, Others: [][]float64{{1, 2}}},
		{Events: [][]float64{{1, 2}}, Others: [][]float64{{1, 2}}, Weights: []float64{1}, Rates: []float64{1}},
		{Events: [][]float64{{1, 2}}, Others: [][]float64{{1, 2}}, Weights: []float64{.5, .6}, Rates: []float64{0, 1}},
		{Events: [][]float64{{math.Inf(1)}}, Others: [][]float64{{1}}},
		{Events: [][]float64{{1}}, Others: [][]float64{{1}}, How: How{Method: Naive}},
	} {
		if _, err := bad.Direct(.95); !errors.Is(err, ErrInput) {
			t.Errorf("%+v: %v", bad, err)
		}
		if _, err := bad.Indirect(.95); !errors.Is(err, ErrInput) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := (Strata{Events: [][]float64{{1}}, Others: [][]float64{{1}}}).Direct(1); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
}
