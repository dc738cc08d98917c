package hypothesis

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

// observed is a person with an exact time.
type observed struct {
	at    float64
	event bool
}

// exactTimes draws people with exponential times to the event, of a hazard per month, who leave at times drawn by leave.
func exactTimes(s *stream, n int, hazard float64, leave func(*stream) float64) []observed {
	out := make([]observed, n)
	for i := range out {
		event, left := -math.Log(s.uniform())/hazard, leave(s)
		out[i] = observed{min(event, left), event <= left}
	}
	return out
}

// gridded counts people by equal periods up to a last month, with noise. The last period has everybody who is left.
func gridded(s *stream, d noise.Distribution, law *law, months float64, periods int, groups ...[]observed) Lifetimes {
	out := Lifetimes{Noise: d, Grouped: true, How: How{Simulations: 199, Seed: s.words.Word()}}
	for _, people := range groups {
		events, censored := make([]float64, periods), make([]float64, periods)
		for _, p := range people {
			j := min(periods-1, int(p.at/months*float64(periods)))
			if p.event && p.at <= months {
				events[j]++
			} else {
				censored[j]++
			}
		}
		for j := range periods {
			events[j] += law.draw(s)
			censored[j] += law.draw(s)
		}
		out.Events, out.Censored = append(out.Events, events), append(out.Censored, censored)
	}
	return out
}

// uniformly leaves evenly up to a month; soon leaves at an exponential time.
func uniformly(months float64) func(*stream) float64 {
	return func(s *stream) float64 { return months * s.uniform() }
}

func soon(rate float64) func(*stream) float64 {
	return func(s *stream) float64 { return -math.Log(s.uniform()) / rate }
}

// Without noise, the Kaplan–Meier curve by exact times is within Grouping of the curve in every sample, but for the last
// period, and all who leave before the events of their period, or after them, attain it.
func TestExactTimesWithinGrouping(t *testing.T) {
	s, attained := newStream(3), 0
	for i := range 90 {
		people := exactTimes(s, 400, .04, []func(*stream) float64{uniformly(40), soon(.08), soon(.01)}[i%3])
		const months = 30.0
		periods := 2 + i%9
		width := months / float64(periods)
		for k, p := range people {
			if i >= 60 && !p.event { // leave at the start of the period
				people[k].at = width * math.Floor(p.at/width)
			}
		}
		l := gridded(s, nil, newLaw(nil), months, periods, people)
		c, err := l.Curve(0, .95)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(people, func(a, b observed) int { return cmp.Compare(a.at, b.at) })
		exact, next := 1.0, 0
		for j, p := range c[:min(len(c), periods-1)] {
			for ; next < len(people) && people[next].at < width*float64(j+1); next++ {
				if people[next].event {
					exact *= 1 - 1/float64(len(people)-next)
				}
			}
			if math.Abs(exact-p.Share) > p.Grouping+1e-9 {
				t.Errorf("%d periods, period %d: exact %.5f, %+v", periods, j, exact, p)
			}
			if j > 0 && math.Abs(exact-p.Share) > p.Grouping-1e-9 {
				attained++
			}
		}
		l.Grouped = false
		if c, err = l.Curve(0, .95); err != nil || c[0].Grouping != 0 {
			t.Errorf("exact times: %+v, %v", c[0], err)
		}
	}
	if attained == 0 {
		t.Error("Grouping is attained nowhere: it may be too wide")
	}
}

// In a period of a single time, people leave after the events although the times of other periods are grouped, so such a
// period does not widen Grouping. The shares are by hand. The log-rank statistic is that of exact times if only the last
// period has several.
func TestPeriodsOfSingleTimes(t *testing.T) {
	l := Lifetimes{
		Events: [][]float64{{20, 10, 15, 5}, {10, 15, 5, 10}}, Censored: [][]float64{{40, 30, 20, 60}, {5, 30, 40, 35}},
		Grouped: true, Single: []bool{false, true, true, false},
	}
	c, err := l.Curve(0, .95)
	if err != nil || len(c) != 4 {
		t.Fatal(c, err)
	}
	first := 1 - 20./(200-20)
	second := first * (1 - 10./140)
	third := second * (1 - 15./100)
	for j, want := range []float64{first, second, third, third * (1 - 5./65)} {
		if math.Abs(c[j].Share-want) > 1e-12 {
			t.Errorf("period %d: %v, not %v", j, c[j].Share, want)
		}
		lowest := 1 - 20./(200-40) // all leave the first period before its events
		if want := want / first * (first - lowest); math.Abs(c[j].Grouping-want) > 1e-12 {
			t.Errorf("period %d: off by at most %v, not %v", j, c[j].Grouping, want)
		}
	}
	l.Single[0] = true
	got, err := l.LogRank()
	if err != nil {
		t.Fatal(err)
	}
	l.Grouped = false
	want, err := l.LogRank()
	if err != nil || got.Statistic != want.Statistic || len(got.Warnings) != len(want.Warnings) {
		t.Errorf("%+v, not %+v: %v", got, want, err)
	}
}

// With continuous times and people who leave evenly, or at an exponential time, intervals at month 24 contain the true share
// in at least 91 % of samples with periods of up to 6 months, and in at least 93.5 % with an allowance of Grouping. Bands
// of periods below 2 months contain the curve in at least 91 %. The grids
// of 12 months are coarse, the finest are not. But for the last period, the share is biased by at most 0.02 for periods of
// 12 months, where counting events first biases it by 0.05 to 0.07. A false alarm has a probability of at most 1e-7 for each of the comparisons.
func TestGroupedTimesCover(t *testing.T) {
	t.Parallel()
	trials := 60
	if long() {
		trials = 1000
	}
	const hazard, at = .0397, 24.0
	truth := math.Exp(-hazard * at)
	for leaving, leave := range map[string]func(*stream) float64{"evenly to month 60": uniformly(60), "soon": soon(.03)} {
		for noisy, d := range map[string]noise.Distribution{"none": nil, "scale 2": laplaceOf(t, big.NewRat(2, 1))} {
			for _, grid := range []struct {
				months  float64
				periods int
			}{{24, 2}, {24, 10}, {24, 40}, {48, 2}, {48, 4}, {48, 40}, {120, 10}, {120, 20}} {
				width := grid.months / float64(grid.periods)
				name := fmt.Sprintf("leaving %s, noise %s, %d periods of %g months", leaving, noisy, grid.periods, width)
				s, law := newStream(5), newLaw(d)
				j := int(math.Round(at/width)) - 1
				var allowed, plain, band stattest.Coverage
				coarse, shares, squares, first := 0, 0.0, 0.0, 0.0
				for range trials {
					l := gridded(s, d, law, grid.months, grid.periods, exactTimes(s, 1500, hazard, leave))
					c, err := l.Curve(0, .95)
					if err != nil || len(c) <= j {
						t.Fatal(name, len(c), err)
					}
					p := c[j]
					shares, squares = shares+p.Share/float64(trials), squares+p.Share*p.Share/float64(trials)
					allowed.Interval(p.Low-p.Grouping, truth, p.High+p.Grouping)
					plain.Interval(p.Low, truth, p.High)
					inside := true
					for i, p := range c[:min(len(c), grid.periods-1)] {
						share := math.Exp(-hazard * width * float64(i+1))
						inside = inside && p.BandLow <= share && share <= p.BandHigh
					}
					band.Observe(inside)
					if p.Coarse() {
						coarse++
					}
					l.Grouped = false
					if c, err = l.Curve(0, .95); err != nil {
						t.Fatal(err)
					}
					first += c[j].Share / float64(trials)
				}
				t.Logf("%s: S(24) = %.3f, mean share %.3f, with events first %.3f; covered %d, with the allowance %d, bands %d, of %d; %d coarse",
					name, truth, shares, first, plain.Held, allowed.Held, band.Held, trials, coarse)
				type bounded struct {
					of    stattest.Coverage
					least float64
				}
				var least []bounded
				if j < grid.periods-1 {
					least = append(least, bounded{allowed, .935})
				}
				if width <= 6 {
					least = append(least, bounded{plain, .91})
				}
				if width < 2 {
					least = append(least, bounded{band, .91})
				}
				for _, b := range least {
					if err := (stattest.Proportion{
						Successes: b.of.Held, Of: stattest.Binomial{Trials: trials, Probability: b.least}, FalseAlarm: falseAlarm,
					}).CheckAtLeast(); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
				most := 5.3 * math.Sqrt((squares-shares*shares)/float64(trials)) // a normal mean is beyond it with probability 1.2e-7
				if bias := math.Abs(shares - truth); width <= 12 && j < grid.periods-1 && bias > .02+most {
					t.Errorf("%s: biased by %.3f", name, bias)
				}
				if width >= 12 && j < grid.periods-1 && coarse < trials*9/10 || width < 1 && coarse > trials/10 {
					t.Errorf("%s: %d of %d are coarse", name, coarse, trials)
				}
			}
		}
	}
}

// A log-rank test of equal hazards where only one group leaves early keeps its level on fine grids, and warns on coarse ones.
// With events first, it would reject up to all of them. A false alarm has a probability of at most 1e-7 for each of the
// comparisons.
func TestGroupedLogRank(t *testing.T) {
	t.Parallel()
	trials := 60
	if long() {
		trials = 1000
	}
	for _, periods := range []int{2, 4, 20, 80, 160} {
		d := laplaceOf(t, big.NewRat(2, 1))
		s, law := newStream(9), newLaw(d)
		rejected, warned, first := 0, 0, 0
		for range trials {
			l := gridded(s, d, law, 48, periods, exactTimes(s, 1000, .04, soon(1e-9)), exactTimes(s, 1000, .04, soon(.08)))
			r, err := l.LogRank()
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "known to the period only") }) {
				warned++
			}
			if r.P <= .05 {
				rejected++
			}
			l.Grouped = false
			if r, err = l.LogRank(); err != nil || len(r.Warnings) > 0 {
				t.Fatal(r, err)
			}
			if r.P <= .05 {
				first++
			}
		}
		t.Logf("%d periods: %d of %d rejected, %d warned, %d rejected with events first", periods, rejected, trials, warned, first)
		if periods >= 20 {
			if err := level(rejected, trials, .06); err != nil {
				t.Errorf("%d periods: %v", periods, err)
			}
		}
		if coarse := periods <= 4; coarse && (warned < trials*9/10 || first < trials*9/10) || periods > 100 && warned > trials/10 {
			t.Errorf("%d periods: %d of %d rejected with events first, %d warned", periods, first, trials, warned)
		}
	}
}
