package hypothesis

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

// sizedNoises are the noises of counts at ε = 1 and ε = 0.1, and at ρ = 0.005, under add/remove.
func sizedNoises(t testing.TB) map[string]noise.Distribution {
	return map[string]noise.Distribution{
		"ε = 1": laplaceOf(t, big.NewRat(1, 1)), "ε = 0.1": laplaceOf(t, big.NewRat(10, 1)), "ρ = 0.005": gaussianOf(t, big.NewRat(100, 1)),
	}
}

// atSizes simulates a statistic for each number of people and each noise.
func atSizes(t *testing.T, few, many int, simulate func(w *sizedWorld)) {
	t.Helper()
	for _, n := range stattest.Sizes {
		for price, d := range sizedNoises(t) {
			w := &sizedWorld{
				T: t, n: n, noise: d, law: newLaw(d), stream: newStream(uint64(n)),
			}
			for range stattest.Simulations(few, many) {
				simulate(w)
			}
			w.study.Check(t, fmt.Sprintf("n = %d, %s", n, price))
		}
	}
}

// sizedWorld is a simulation of n people with noise.
type sizedWorld struct {
	*testing.T
	n      int
	noise  noise.Distribution
	law    *law
	stream *stream
	study  stattest.Study
}

// share returns a whole number of people.
func (w *sizedWorld) share(of float64) int { return int(math.Round(of * float64(w.n))) }

// table draws noisy counts of a multinomial distribution.
func (w *sizedWorld) table(n int, q []float64) []float64 {
	x := make([]float64, len(q))
	draw(w.stream, w.law, x, int64(n), q)
	return x
}

func (w *sizedWorld) how() How { return How{Simulations: 499, Seed: w.stream.words.Word()} }

// tested counts the p-value of a true hypothesis, and returns the test.
func (w *sizedWorld) tested(name string) func(*Test, error) *Test {
	return func(r *Test, err error) *Test {
		w.Helper()
		if err != nil {
			w.Fatal(name, err)
		}
		w.study.Level(name).P(r.P)
		return r
	}
}

// interval counts an interval.
func (w *sizedWorld) interval(name string, low, truth, high float64) {
	w.covers(name).Interval(low, truth, high)
}

func (w *sizedWorld) covers(name string) *stattest.Coverage { return w.study.Covers(name, "") }

// Counts: goodness of fit, independence, proportions and their difference, and a binomial probability.
func TestCountsAtSizes(t *testing.T) {
	t.Parallel()
	null, pi, tau := []float64{.5, .3, .15, .05}, []float64{.3, .7}, []float64{.5, .3, .2}
	var q []float64
	for _, a := range pi {
		for _, b := range tau {
			q = append(q, a*b)
		}
	}
	atSizes(t, 10, 1000, func(w *sizedWorld) {
		w.tested("goodness of fit")(GoodnessOfFit{Counts: w.table(w.n, null), Noise: w.noise, Null: null, How: w.how()}.Test())
		w.tested("goodness of fit, n known")(GoodnessOfFit{
			Counts: w.table(w.n, null), Noise: w.noise, Null: null, N: float64(w.n), How: w.how(),
		}.Test())
		x := w.table(w.n, q)
		w.tested("independence")(Table{Counts: [][]float64{x[:3], x[3:]}, Noise: w.noise, How: w.how()}.Independence())
		samples := [][]float64{w.table(w.share(.3), tau), w.table(w.share(.7), tau)}
		w.tested("proportions")(Table{Counts: samples, Noise: w.noise, How: w.how()}.Proportions())
		two := [][]float64{w.table(w.share(.5), []float64{.5, .5}), w.table(w.share(.5), []float64{.4, .6})}
		r, err := Table{Counts: two, Noise: w.noise, How: How{Simulations: 999, Seed: w.stream.words.Word()}}.Difference(.95)
		if err != nil {
			t.Fatal(err)
		}
		w.interval("difference of proportions", r.Interval.Low, .1, r.Interval.High)
		if d, ok := w.noise.(noise.DiscreteLaplace); ok {
			x := w.stream.binomial(int64(w.n), .3) + int64(w.law.draw(w.stream))
			b, err := Dither(big.NewInt(x), d, w.n, fmt.Sprint(w.stream.words.Word()))
			if err != nil {
				t.Fatal(err)
			}
			in, err := b.Interval(.95, TwoSided)
			if err != nil {
				t.Fatal(err)
			}
			w.interval("binomial probability", in.Low, .3, in.High)
		}
	})
}

// Means: of one sample, the difference of two, and the analysis of variance.
func TestMeansAtSizes(t *testing.T) {
	t.Parallel()
	const p = .3
	mean := p + (1-p)/7
	atSizes(t, 10, 1000, func(w *sizedWorld) {
		sample := func(share float64) Sample {
			return grown(w.stream, w.share(share), p, w.noise, w.law, true, false)
		}
		c := Comparison{Simulations: 999, Seed: w.stream.words.Word()}
		one := c
		one.Null = mean
		r := w.tested("mean")(Mean(sample(1), one))
		w.interval("mean of noisy sums", r.Interval.Low, mean, r.Interval.High)
		r = w.tested("difference of means")(Means(sample(.4), sample(.6), c))
		w.interval("difference of means", r.Interval.Low, 0, r.Interval.High)
		w.tested("analysis of variance")(Anova([]Sample{sample(.2), sample(.3), sample(.5)}, c))
	})
}

// Ranks: Kruskal–Wallis, and the rank correlation.
func TestRanksAtSizes(t *testing.T) {
	t.Parallel()
	tau := []float64{.4, .3, .2, .1}
	bilinear, even := make([]float64, 0, 25), make([]float64, 0, 25)
	for i := range 5 {
		for j := range 5 {
			bilinear, even = append(bilinear, (1+0.8*(float64(i)-2)*(float64(j)-2)/4)/25), append(even, 1./25)
		}
	}
	truth, _, _ := model{rows: 5, columns: 5}.spearman(bilinear)
	atSizes(t, 10, 1000, func(w *sizedWorld) {
		w.tested("Kruskal–Wallis")(Table{Counts: [][]float64{
			w.table(w.share(.5), tau), w.table(w.share(.3), tau), w.table(w.share(.2), tau),
		}, Noise: w.noise, How: w.how()}.Kruskal())
		square := func(q []float64) Table {
			x, out := w.table(w.n, q), Table{Noise: w.noise, How: w.how()}
			for i := range 5 {
				out.Counts = append(out.Counts, x[5*i:5*i+5])
			}
			return out
		}
		w.tested("rank correlation")(square(even).RankCorrelation(.95))
		r, err := square(bilinear).RankCorrelation(.95)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(r.Estimate) {
			w.covers("rank correlation").Hidden()
			return
		}
		w.interval("rank correlation", r.Interval.Low, truth, r.Interval.High)
	})
}

// Survival curves of two thirds of the people, at the first and at the last point, and over the whole curve; and the
// log-rank test.
func TestLifetimesAtSizes(t *testing.T) {
	t.Parallel()
	const periods = 8
	hazard := func(_, j int) float64 { return .03 + .01*float64(j) }
	atSizes(t, 10, 1000, func(w *sizedWorld) {
		l := lived(w.stream, w.noise, w.law, []int{w.share(2. / 3), w.share(1. / 3)}, hazard, periods)
		l.Simulations = 399
		w.tested("log-rank")(l.LogRank())
		c, err := l.Curve(0, .95)
		if err != nil {
			t.Fatal(err)
		}
		if len(c) == 0 {
			for _, name := range []string{"survival, first point", "survival, last point", "survival, band"} {
				w.covers(name).Hidden()
			}
			return
		}
		share, inside := 1.0, true
		for j, p := range c {
			share *= 1 - hazard(0, j)
			inside = inside && p.BandLow <= share && share <= p.BandHigh
			if j == 0 {
				w.interval("survival, first point", p.Low, share, p.High)
			}
			if j == len(c)-1 {
				w.interval("survival, last point", p.Low, share, p.High)
			}
		}
		w.covers("survival, band").Observe(inside)
	})
}

// Standardised rates of the second of two groups, with the standard of the noisy counts, and with strata that are merged.
func TestRatesAtSizes(t *testing.T) {
	t.Parallel()
	share, rates := [][]float64{{.3, .2, .1}, {.1, .1, .2}}, []float64{.02, .08, .25}
	var q []float64
	for g := range share {
		for e := range 2 {
			for j, p := range share[g] {
				q = append(q, p*math.Abs(float64(e)-rates[j]*float64(1+g)))
			}
		}
	}
	atSizes(t, 10, 1000, func(w *sizedWorld) {
		x := w.table(w.n, q)
		for name, direct := range map[string]bool{"direct rate": true, "indirect ratio": false} {
			for _, merged := range []bool{false, true} {
				if merged {
					name += ", merged strata"
				}
				s := Strata{
					Events: [][]float64{x[0:3], x[6:9]}, Others: [][]float64{x[3:6], x[9:12]}, Noise: w.noise, Ordered: merged,
					How: How{Simulations: 999, Seed: w.stream.words.Word()},
				}
				all, err := s.standardised(.95, direct)
				if err != nil {
					t.Fatal(err)
				}
				r := all[1]
				if math.IsNaN(r.Value) {
					w.covers(name).Hidden()
					continue
				}
				parts := each(3)
				if merged {
					parts = r.Merged
				}
				w.interval(name, r.Low, s.rate(q, 1, 2, 3, parts, direct), r.High)
			}
		}
	})
}
