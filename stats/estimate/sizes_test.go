package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/splitmix"
	"dither/internal/stattest"
	"dither/stats/internal/statstest"
)

// sizedPrices are the prices of simulations at each size.
var sizedPrices = []pricing{{epsilon: 1}, {epsilon: 10}, {rho: 0.5}}

// atSizes simulates statistics for each number of rows and each price.
func atSizes(t *testing.T, few, many int, simulate func(w *sizedWorld)) {
	t.Helper()
	for _, n := range stattest.Sizes {
		for i, price := range sizedPrices[:stattest.Simulations(1, len(sizedPrices))] {
			w := &sizedWorld{
				T: t, n: n, price: price, random: rand.New(rand.NewPCG(uint64(n), uint64(i))),
				simulator: &simulator{splitmix.At(splitmix.Mix(uint64(n + i)))},
			}
			for range stattest.Simulations(few, many) {
				simulate(w)
			}
			w.study.Check(t, fmt.Sprintf("n = %d, %s", n, price))
		}
	}
}

// sizedWorld is a simulation of n rows at a price.
type sizedWorld struct {
	*testing.T
	n         int
	price     pricing
	random    *rand.Rand
	simulator *simulator
	study     stattest.Study
}

// value counts the interval of a value. One that reaches both bounds of the statistic says nothing.
func (w *sizedWorld) value(name string, v Value, truth, least, most float64) {
	low, high := math.Inf(-1), math.Inf(1)
	if v.Low != nil && v.Low.Real > least {
		low = v.Low.Real
	}
	if v.High != nil && v.High.Real < most {
		high = v.High.Real
	}
	w.study.Covers(name, v.Name).Interval(low, truth, high)
}

// lawOf returns the noise of sums over blocks of one coordinate, of which each has a largest magnitude.
func (w *sizedWorld) lawOf(v curator.Vectors, most ...float64) (out vectorLaw) {
	weight := func(s curator.Sum) float64 {
		if x, err := strconv.ParseFloat(s.Weight, 64); err == nil {
			return x
		}
		return 1
	}
	total := 0.0
	for _, s := range v.Sums {
		total += weight(s)
	}
	for _, s := range v.Sums {
		law := func(x float64) noiseLaw { return w.price.law(weight(s)/total, x, x) }
		switch s.Kind {
		case curator.Count().Kind:
			out.count = law(1)
		case curator.First(0).Kind:
			out.first = append(out.first, law(most[s.I]))
		default:
			l := law(most[s.I] * most[s.J])
			out.products, out.off = append(out.products, l), append(out.off, l)
		}
	}
	return out
}

// Means of a population, and variances of the rows and of a population. The values are skewed, within [−1, 1].
func TestMomentsAtSizes(t *testing.T) {
	t.Parallel()
	of := []centredColumn{{low: -1, high: 1}}
	const mean, variance = 0.25, 1./7 - 1./16 // of u³ for a uniform u
	atSizes(t, 12, 1000, func(w *sizedWorld) {
		rows, halved := make([][]float64, w.n), make([][]float64, w.n)
		for i := range rows {
			x := math.Pow(w.random.Float64(), 3)
			rows[i], halved[i] = []float64{x, x * x}, []float64{x, x*x - 0.5}
		}
		estimate := func(v curator.Vectors, rows [][]float64, population bool, one populationValue, most ...float64) Value {
			sums := noisyRows(w.simulator, v, rows, w.lawOf(v, most...))
			return simulated(&sums, of, []string{""}, nil, 0.05, productSymmetric(v), population, one)[0]
		}
		w.value("mean of a population", estimate(meanSums(of), rows, true, meanOf, 1), mean, -1, 1)
		w.value("variance", estimate(squareSums(of), halved, false, squareOf, 1, 0.5), sampleVariance(rows), 0, 1)
		w.value("variance of a population", estimate(varianceSums(of), rows, true, varianceOf, 1, 1), variance, 0, 1)
	})
}

// sizedForm is a covariance of three columns: L with LLᵀ, of rows within [−1, 1] nearly always.
var sizedForm = [][]float64{{.3}, {.2, .2}, {.05, .1, .25}}

func covarianceOf(l [][]float64) [][]float64 {
	out := pressZero(len(l))
	for i := range l {
		for j := range l {
			for k := range min(i, j) + 1 {
				out[i][j] += l[i][k] * l[j][k]
			}
		}
	}
	return out
}

// clamped moves rows into [−1, 1].
func clamped(rows [][]float64) [][]float64 {
	for _, r := range rows {
		for i, x := range r {
			r[i] = min(max(x, -1), 1)
		}
	}
	return rows
}

// covariances counts the intervals of covarianceValues.
func (w *sizedWorld) covariances(about string, all []Value, of [][]float64) {
	for i := range of {
		for j := range i + 1 {
			at := func(kind string) Value {
				a, b := string(rune('a'+j)), string(rune('a'+i))
				return all[slices.IndexFunc(all, func(v Value) bool { return v.Name == kind+"("+a+", "+b+")" })]
			}
			if i == j {
				continue
			}
			w.value("covariance"+about, at("cov"), of[i][j], math.Inf(-1), math.Inf(1))
			w.value("correlation"+about, at("corr"), of[i][j]/math.Sqrt(of[i][i]*of[j][j]), -1, 1)
		}
	}
}

// all says that products are symmetric.
func all(int) bool { return true }

// Covariances and correlations of the rows and of a population, and principal components.
func TestCovariancesAtSizes(t *testing.T) {
	t.Parallel()
	s, truth := Sample{Columns: []string{"a", "b", "c"}}, covarianceOf(sizedForm)
	plain := plainForms(make([]float64, 3), []float64{1, 1, 1})
	atSizes(t, 8, 200, func(w *sizedWorld) {
		rows := clamped(gaussianRows(w.random, w.n, make([]float64, 3), sizedForm))
		sums, err := pressing(w.simulator, rows, w.price, []float64{1}, true)(0, plain, math.Sqrt(3))
		if err != nil {
			t.Fatal(err)
		}
		p := &pressed{sums: sums, forms: plain}
		for about, of := range map[string][][]float64{"": rowCovariances(rows), " of a population": truth} {
			s.Population = about != ""
			values, _ := covarianceValues(p, s, slices.Repeat([][2]float64{{-1, 1}}, 3), nil, .05, all)
			w.covariances(about, values, of)
			exact := components(of)
			values, _ = componentValues(p, s, nil, nil, .05, all)
			w.shares("share of a component"+about, values, exact)
			w.loadings("loading"+about, values, exact)
		}
	})
}

// equalCorrelations returns the lower triangular L with LLᵀ of d columns with standard deviation .3 and correlations r.
func equalCorrelations(d int, r float64) [][]float64 {
	out, free := make([][]float64, d), 1.0
	for i := range d {
		if out[i] = make([]float64, i+1); i > 0 {
			copy(out[i], out[i-1])
			below := out[i-1][i-1] / .3
			x := (r - 1 + below*below) / below
			out[i][i-1] = .3 * x
			free -= x * x
		}
		out[i][i] = .3 * math.Sqrt(free)
	}
	return out
}

// Shares hold where two or more are equal. Loadings hold there too, although the components have no direction of their
// own, and where one loading is 1, because a column correlates with no other.
func TestComponentsApart(t *testing.T) {
	t.Parallel()
	for about, form := range map[string][][]float64{
		"a column by itself":       {{.3}, {.27, .13}, {0, 0, .3}},
		"three equal correlations": equalCorrelations(3, .5),
		"five equal correlations":  equalCorrelations(5, .4),
		"no correlations":          equalCorrelations(4, 0),
	} {
		d := len(form)
		plain := plainForms(make([]float64, d), slices.Repeat([]float64{1}, d))
		columns := strings.Split("abcdefgh"[:d], "")
		atSizes(t, 2, 60, func(w *sizedWorld) {
			rows := clamped(gaussianRows(w.random, w.n, make([]float64, d), form))
			sums, err := pressing(w.simulator, rows, w.price, []float64{1}, true)(0, plain, math.Sqrt(float64(d)))
			if err != nil {
				t.Fatal(err)
			}
			values, _ := componentValues(&pressed{sums: sums, forms: plain}, Sample{Columns: columns}, nil, nil, .05, all)
			exact := components(rowCovariances(rows))
			w.shares("share, "+about, values, exact)
			w.loadings("loading, "+about, values, exact)
		})
	}
}

// shares counts the intervals of shares.
func (w *sizedWorld) shares(name string, values []Value, exact *principal) {
	for k, x := range exact.share {
		w.value(name, values[k*(len(exact.share)+1)], x, 0, 1)
	}
}

// loadings counts the intervals of loadings. A component is its opposite too.
func (w *sizedWorld) loadings(name string, values []Value, exact *principal) {
	d := len(exact.share)
	for k := range d {
		sign := 1.0
		if along := 0.0; values[k*(d+1)+1].Value != nil {
			for i, x := range exact.loading[k] {
				along += x * values[k*(d+1)+1+i].Value.Real
			}
			sign = math.Copysign(1, along)
		}
		for i := range d {
			w.value(name, values[k*(d+1)+1+i], sign*exact.loading[k][i], -1, 1)
		}
	}
}

// CoinPress with bounds that are some fifty times too wide: means with stated deviations, and covariances.
func TestCoinPressAtSizes(t *testing.T) {
	t.Parallel()
	form, mean := [][]float64{{1}, {0.9, 0.5}, {-0.3, 0.2, 2}}, []float64{3, -7, 10}
	truth, columns := covarianceOf(form), []string{"a", "b", "c"}
	ranges := slices.Repeat([][2]float64{{-50, 50}}, 3)
	deviations := []float64{1, 1.1, 2.1}
	atSizes(t, 8, 400, func(w *sizedWorld) {
		rows := gaussianRows(w.random, w.n, mean, form)
		s := Sample{Columns: columns, Population: true}
		plain, norm := plainForms(make([]float64, 3), deviations), 0.0
		for _, x := range deviations {
			norm = math.Hypot(norm, 50/x)
		}
		last, err := pressMean(3, plain, norm, 2, pressing(w.simulator, rows, w.price, floats(t, 2), false))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range pressedMeans(&last, s, ranges, .05, deviations) {
			w.value("mean by coinpress", v, mean[i], -50, 50)
		}
		wide := plainForms(make([]float64, 3), slices.Repeat([]float64{50}, 3))
		last, err = pressCovariance(3, wide, math.Sqrt(3), 3, pressing(w.simulator, rows, w.price, floats(t, 3), true))
		if err != nil {
			t.Fatal(err)
		}
		values, _ := covarianceValues(&last, s, ranges, nil, .05, all)
		w.covariances(" by coinpress", values, truth)
	})
}

// Quantiles of a population, from samples that are rows of one table.
func TestPopulationQuantilesAtSizes(t *testing.T) {
	for _, n := range stattest.Sizes {
		samples := stattest.Simulations(8, max(60, 20_000/max(50, n/4)))
		r := rand.New(rand.NewPCG(uint64(n), 9))
		columns := "      g: {type: integer, bounds: [0, 1000]}\n      x: {type: real, bounds: [0, 20]}\n"
		c := statstest.People(t, "epsilon: 1000", columns, "g,x", func(i int) string {
			return fmt.Sprintf("%d,%.6f", i/n, min(20, 2*r.ExpFloat64()))
		}, n*samples)
		var study stattest.Study
		for i := range samples {
			found, err := Quantile(t.Context(), c, Sample{
				Request: curator.Request{Epsilon: "2"}, Table: "people", Columns: []string{"x"}, Population: true,
				Where: fmt.Sprintf("g = %d", i), Method: MethodIndependent,
			}, "0.5", "0.9")
			if err != nil {
				t.Fatal(err)
			}
			for j, q := range []float64{0.5, 0.9} {
				low, high := math.Inf(-1), math.Inf(1)
				if x := found.Values[j].Low; x != nil && x.Real > 0 {
					low = x.Real
				}
				if x := found.Values[j].High; x != nil && x.Real < 20 {
					high = x.Real
				}
				study.Covers("quantile of a population", fmt.Sprint(q)).Interval(low, -2*math.Log(1-q), high)
			}
		}
		study.Check(t, fmt.Sprintf("n = %d, ε = 2", n))
	}
}
