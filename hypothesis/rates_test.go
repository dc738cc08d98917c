package hypothesis

import (
	"errors"
	"math"
	"math/big"
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
				trueDirect, trueIndirect := whole.rate(q, 1, 2, 3, true), whole.rate(q, 1, 2, 3, false)
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
