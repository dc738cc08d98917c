package hypothesis

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

var (
	someEvents   = [][]float64{{5, 8, 6, 4, 3, 2}, {2, 3, 5, 4, 4, 6}}
	someCensored = [][]float64{{1, 2, 3, 4, 5, 7}, {2, 1, 4, 6, 5, 8}}
)

// Without noise the curves and the log-rank test are those of lifelines, of the same 100 people.
func TestLifetimesWithoutNoise(t *testing.T) {
	l := Lifetimes{Events: someEvents, Censored: someCensored}
	for g, want := range [][]float64{
		{.9, 0.7363636363636363, 0.606417112299465, 0.5093903743315508, 0.41949795533186524, 0.32627618748033954},
		{.96, 0.8973913043478262, 0.7905590062111801, 0.6947336721249766, 0.5739104247988935, 0.32794881417079635},
	} {
		points, err := l.Curve(g, .95)
		if err != nil || len(points) != len(want) {
			t.Fatal(points, err)
		}
		for j, p := range points {
			if math.Abs(p.Share-want[j]) > 1e-12 || !(p.BandLow <= p.Low && p.Low < p.Share && p.Share < p.High && p.High <= p.BandHigh) {
				t.Errorf("group %d, period %d: %+v, not %v", g, j, p, want[j])
			}
		}
		// the error of the first share is that of a binomial proportion, with two more people on either side
		if p := (want[0]*50 + 2) / 54; math.Abs(points[0].StdError/(math.Sqrt(p*(1-p)/54)*want[0]/p)-1) > .05 {
			t.Errorf("group %d: standard error %v of %v", g, points[0].StdError, want[0])
		}
	}
	r, err := l.LogRank()
	if err != nil || math.Abs(r.Statistic-1.9800361400093822) > 1e-9 || r.DF != 1 || math.Abs(r.P-.159) > .015 {
		t.Errorf("%+v: %v", r, err)
	}
}

// lived draws the lifetimes of groups with a hazard in each period each, and with censoring by 4 % a period.
func lived(s *stream, d noise.Distribution, law *law, sizes []int, hazard func(g, j int) float64, periods int) Lifetimes {
	out := Lifetimes{Noise: d, How: How{Simulations: 199, Seed: s.words.Word()}}
	for g, size := range sizes {
		left := int64(size)
		var events, censored []float64
		for j := range periods {
			e := s.binomial(left, hazard(g, j))
			c := s.binomial(left-e, .04)
			if j == periods-1 {
				c = left - e
			}
			left -= e + c
			events, censored = append(events, float64(e)+law.draw(s)), append(censored, float64(c)+law.draw(s))
		}
		out.Events, out.Censored = append(out.Events, events), append(out.Censored, censored)
	}
	return out
}

// Intervals of shares contain the true ones, and bands the whole curve, in at least 93.5 % of samples, and log-rank
// tests
// at level .05 reject equal hazards in at most 5.5 % of them: for 150 to 10,000 people, all noises, and hazards that
// are
// small, large or rising. A sample without a curve counts as covered: nothing is said about it. A false alarm has a
// probability of at most a millionth for each comparison.
func TestLifetimesCover(t *testing.T) {
	t.Parallel()
	trials := 60
	if long() {
		trials = 800
	}
	const periods = 12
	hazards := map[string]func(j int) float64{
		"small": func(int) float64 { return .01 }, "large": func(int) float64 { return .2 },
		"rising": func(j int) float64 { return .01 + .02*float64(j) },
	}
	for kind, d := range map[string]noise.Distribution{
		"none": nil, "scale 5": laplaceOf(t, big.NewRat(5, 1)), "σ² = 100": gaussianOf(t, big.NewRat(100, 1)),
	} {
		for _, size := range []int{150, 1000, 10_000} {
			for name, hazard := range hazards {
				s, law := newStream(41), newLaw(d)
				points, within, curves, rejected, found := 0, 0, 0, 0, 0
				banded, first, last := 0, 0, 0
				for range trials {
					l := lived(s, d, law, []int{size, size / 2}, func(_, j int) float64 { return hazard(j) }, periods)
					c, err := l.Curve(0, .95)
					if err != nil {
						t.Fatal(err)
					}
					share, inside := 1.0, true
					for j, p := range c {
						share *= 1 - hazard(j)
						points++
						if p.Low <= share && share <= p.High {
							within++
							if j == 0 {
								first++
							}
							if j == len(c)-1 {
								last++
							}
						}
						inside = inside && p.BandLow <= share && share <= p.BandHigh
					}
					if len(c) > 0 {
						curves++
						if inside {
							banded++
						}
					}
					r, err := l.LogRank()
					if err != nil {
						t.Fatal(err)
					}
					if r.P <= .05 {
						rejected++
					}
					other := lived(s, d, law, []int{size, size / 2}, func(g, j int) float64 { return min(1, hazard(j)*float64(1+2*g)) }, periods)
					if r, err = other.LogRank(); err != nil {
						t.Fatal(err)
					}
					if r.P <= .05 {
						found++
					}
				}
				t.Logf("%d people, hazard %s, noise %s: %d curves of %.1f points; covered %.3f, first %.3f, last %.3f, bands %.3f; rejected %.4f, trebled hazard %.3f",
					size, name, kind, curves, float64(points)/float64(trials), float64(within)/float64(points), float64(first)/float64(curves),
					float64(last)/float64(curves), float64(banded)/float64(curves), float64(rejected)/float64(trials), float64(found)/float64(trials))
				for what, hits := range map[string]int{"first": first, "last": last, "band": banded} {
					if err := (stattest.Proportion{
						Successes: hits + trials - curves, Of: stattest.Binomial{Trials: trials, Probability: .935},
						FalseAlarm: falseAlarm,
					}).CheckAtLeast(); err != nil {
						t.Errorf("%d people, hazard %s, noise %s: %s: %v", size, name, kind, what, err)
					}
				}
				if err := level(rejected, trials, .055); err != nil {
					t.Errorf("%d people, hazard %s, noise %s: %v", size, name, kind, err)
				}
				if size == 10_000 && found < trials*95/100 {
					t.Errorf("hazard %s, noise %s: a trebled hazard was found in %d of %d", name, kind, found, trials)
				}
			}
		}
	}
}

// The ends of a band never rise, also where few people at risk make the intervals of single points rise, and the band
// contains the curve. TestLifetimesCover simulates the coverage.
func TestBandsFall(t *testing.T) {
	s, d := newStream(7), laplaceOf(t, big.NewRat(4, 1))
	law, rose := newLaw(d), 0
	for range 40 {
		l := lived(s, d, law, []int{300}, func(_, j int) float64 { return .001 + .03*float64(j%2) }, 12)
		c, err := l.Curve(0, .95)
		if err != nil {
			t.Fatal(err)
		}
		for j, p := range c {
			if !(p.BandLow <= p.Share && p.Share <= p.BandHigh) {
				t.Errorf("period %d: the band misses the curve: %+v", j, p)
			}
			if j == 0 {
				continue
			}
			if p.BandHigh > c[j-1].BandHigh || p.BandLow > c[j-1].BandLow {
				t.Errorf("period %d: the band rises from %+v to %+v", j, c[j-1], p)
			}
			if p.High > c[j-1].High {
				rose++
			}
		}
	}
	if rose == 0 {
		t.Error("no interval rose: this shows nothing")
	}
	band := []Survived{{BandLow: .7, BandHigh: .9}, {BandLow: .5, BandHigh: .95}, {BandLow: .6, BandHigh: .8}}
	fall(band)
	for j, want := range [][2]float64{{.7, .9}, {.6, .9}, {.6, .8}} {
		if got := [2]float64{band[j].BandLow, band[j].BandHigh}; got != want {
			t.Errorf("point %d: %v, not %v", j, got, want)
		}
	}
}

// What cannot be estimated has no curve and is not rejected, and bad input is refused.
func TestDifficultLifetimes(t *testing.T) {
	d := laplaceOf(t, big.NewRat(50, 1))
	for name, l := range map[string]Lifetimes{
		"nobody":         {Events: [][]float64{{0, 0}, {0, 0}}, Censored: [][]float64{{0, 0}, {0, 0}}},
		"noise":          {Events: [][]float64{{-40, 20}, {30, -80}}, Censored: [][]float64{{90, 0}, {-100, 60}}, Noise: d},
		"a group absent": {Events: [][]float64{{50, 50}, {0, 0}}, Censored: [][]float64{{50, 50}, {0, 0}}},
		"no events":      {Events: [][]float64{{0, 0}, {0, 0}}, Censored: [][]float64{{50, 50}, {70, 30}}},
	} {
		r, err := l.LogRank()
		if err != nil || r.P != 1 || len(r.Warnings) == 0 || r.Null != "none" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		for g := range l.Events {
			c, err := l.Curve(g, .95)
			if err != nil || name == "nobody" && len(c) > 0 {
				t.Errorf("%s: %v, %v", name, c, err)
			}
		}
	}
	all := Lifetimes{Events: [][]float64{{1e15, 0}, {30, 5}}, Censored: [][]float64{{0, 0}, {0, 5}}}
	c, err := all.Curve(0, .9)
	if err != nil || len(c) != 1 || c[0].Share != 0 || math.IsNaN(c[0].High) {
		t.Errorf("%+v: %v", c, err)
	}
	if r, err := all.LogRank(); err != nil || math.IsNaN(r.Statistic) {
		t.Errorf("%+v: %v", r, err)
	}
	for _, bad := range []Lifetimes{
		{},
		{Events: someEvents},
		{Events: someEvents, Censored: someCensored[:1]},
		{Events: [][]float64{{1}, {1, 2}}, Censored: [][]float64{{1}, {1, 2}}},
		{Events: [][]float64{{math.NaN()}}, Censored: [][]float64{{1}}},
		{Events: [][]float64{make([]float64, 3000)}, Censored: [][]float64{make([]float64, 3000)}},
		{Events: someEvents, Censored: someCensored, How: How{Method: Corrected}},
		{Events: someEvents, Censored: someCensored, Grouped: true, Single: []bool{true}},
	} {
		if _, err := bad.LogRank(); !errors.Is(err, ErrInput) {
			t.Errorf("%+v: %v", bad, err)
		}
		if _, err := bad.Curve(0, .95); !errors.Is(err, ErrInput) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	l := Lifetimes{Events: someEvents, Censored: someCensored}
	if _, err := l.Curve(2, .95); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
	if _, err := l.Curve(0, 0); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
	l.Events, l.Censored = l.Events[:1], l.Censored[:1]
	if _, err := l.LogRank(); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
}
