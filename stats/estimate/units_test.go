package estimate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"dither/curator"
	"dither/stats/internal/statstest"
)

// declaredPeople has x about 20, far from the middle of its bounds, and y and the group g. Column none may be missing.
func declaredPeople(t testing.TB, budget string, n int) (c *curator.Session, x, y []float64) {
	t.Helper()
	s := newSimulator()
	c = statstest.Declared(t, budget, estimateColumns, "x,y,g,same,none", func(i int) string {
		a := math.Round(1000*(20+5*s.normal())) / 1000
		b := math.Round(1000*(a/4+5*s.normal())) / 1000
		x, y = append(x, a), append(y, b)
		return fmt.Sprintf("%g,%g,%s,5,1", a, b, []string{"a", "b"}[i%2])
	}, n)
	return c, x, y
}

// Estimates of the whole table count no rows where the number is declared. Those of a part of the rows, of groups, and of
// columns in which a value may be missing do. Each costs its price.
func TestDeclaredUnits(t *testing.T) {
	type planner func(context.Context, *curator.Session, Sample) (*Plan, error)
	counting := func(p *Plan) bool { // by what a plan says
		declared, counts := strings.Contains(strings.Join(p.Notes, " "), "number of units"), false
		for _, a := range p.Accesses {
			counts = counts || strings.Contains(a.Expected, "count: ") || a.What == "rows"
		}
		if declared == counts {
			t.Errorf("%s: declared %t, counts %t: %v %v", p.Kind, declared, counts, p.Notes, p.Accesses)
		}
		return !declared
	}
	for _, budget := range []string{"epsilon: 1000", "rho: 1000, delta: 1e-6"} {
		c, x, y := declaredPeople(t, budget, 2000)
		truth := statstest.Exact(x, y)
		ask := func(counted bool, plan planner, s Sample) {
			t.Helper()
			s.Epsilon, s.Table = "4", "people"
			p, err := plan(t.Context(), c, s)
			if err != nil {
				t.Errorf("%+v: %v", s, err)
				return
			}
			if p.Method == MethodBounded && counting(p) != counted {
				t.Errorf("%s of %v: counts %t", p.Kind, s.Columns, !counted)
			}
			before := statstest.Remaining(t, c)
			r, err := p.Run(t.Context())
			if err != nil {
				t.Errorf("%s of %v: %v", p.Kind, s.Columns, err)
				return
			}
			if before.Sub(before, statstest.Remaining(t, c)); !r.Replayed && before.Sign() <= 0 {
				t.Errorf("%s of %v is free", p.Kind, s.Columns)
			}
			if again, err := plan(t.Context(), c, s); err != nil || !again.Replayed {
				t.Errorf("%s of %v is not replayed: %v", p.Kind, s.Columns, err)
			}
			for _, v := range r.Values { // seven half-widths are exceeded by chance once in 10⁹ times
				want, known := truth[v.Name]
				if counted || s.Population || !known {
					continue
				}
				if half := (v.High.Real - v.Low.Real) / 2; math.Abs(v.Value.Real-want) > 7*half {
					t.Errorf("%s: %g ± %g, not %g", v.Name, v.Value.Real, half, want)
				}
			}
		}
		for _, plan := range []planner{PlanVariance, PlanCovariance, PlanMean} {
			for _, population := range []bool{false, true} {
				s := Sample{Columns: []string{"x", "y"}, Population: population}
				if kind, err := plan(t.Context(), c, Sample{Table: "people", Columns: s.Columns}); err == nil && kind.Kind == "mean" && !population {
					continue // AVG, whose plan is that of SQL
				}
				ask(false, plan, s)
				s.Where = "x > 10"
				ask(true, plan, s)
				s.Where, s.By = "", []string{"g"}
				ask(true, plan, s)
				ask(true, plan, Sample{Columns: []string{"x", "none"}, Population: population})
			}
		}
		ask(false, PlanComponents, Sample{Columns: []string{"x", "y"}})
		ask(true, PlanComponents, Sample{Columns: []string{"x", "y"}, Where: "x > 10"})
		ask(false, PlanVariance, Sample{Columns: []string{"x * 2 + 1"}})
		ask(false, PlanVariance, Sample{Columns: []string{"same"}})
		ask(false, PlanMean, Sample{Columns: []string{"x"}, Method: MethodCoinPress, Deviations: []string{"5"}})
		ask(false, PlanMean, Sample{Columns: []string{"x", "y"}, Method: MethodCoinPress})
		ask(false, PlanCovariance, Sample{Columns: []string{"x", "y"}, Method: MethodCoinPress})
		quantile := func(ctx context.Context, c *curator.Session, s Sample) (*Plan, error) {
			return PlanQuantile(ctx, c, s, "0.5")
		}
		ask(false, quantile, Sample{Columns: []string{"x"}, Population: true})
		p, err := PlanQuantile(t.Context(), c, Sample{
			Request: curator.Request{Epsilon: "4"}, Table: "people", Columns: []string{"x"}, Population: true,
		}, "0.5")
		if err != nil || len(p.Accesses) != 1 || p.Accesses[0].Price != p.Price {
			t.Errorf("a population's quantile: %+v, %v", p, err)
		}
	}
}

// A sum has no more noise without the count than beside it, and one of one block has less. The shares add up to the price.
func TestWithoutCount(t *testing.T) {
	c, _, _ := declaredPeople(t, "epsilon: 1000", 100)
	columns := []centredColumn{centredOn("x", 0, 100), centredOn("y", -50, 50)}
	forms := plainForms([]float64{50, 0}, []float64{50, 50})
	for name, of := range map[string]struct {
		v           curator.Vectors
		coordinates []string
	}{
		"mean":       {meanSums(columns), []string{columns[0].sql, columns[1].sql}},
		"square":     {squareSums(columns), []string{columns[0].sql, columns[0].square(), columns[1].sql, columns[1].square()}},
		"variance":   {varianceSums(columns), []string{columns[0].sql, columns[0].sql + " * 1", columns[1].sql, columns[1].sql + " * 1"}},
		"covariance": {pressVectors(Sample{}, forms, "", true), forms.sql([]string{"x", "y"})},
		"press":      {pressVectors(Sample{}, forms, "", false), forms.sql([]string{"x", "y"})},
	} {
		of.v.Request = curator.Request{SQL: "SELECT " + strings.Join(of.coordinates, ", ") + " FROM people", Epsilon: "1"}
		before, err := c.ExplainMoments(t.Context(), of.v)
		if err != nil {
			t.Fatal(name, err)
		}
		v, err := uncounted(t.Context(), c, of.v)
		if err != nil || counts(v) {
			t.Fatalf("%s: %v, %v", name, v.Sums, err)
		}
		after, err := c.ExplainMoments(t.Context(), v)
		if err != nil || after.Price != before.Price || after.DeclaredUnits != 100 {
			t.Fatalf("%s: %+v, %v", name, after, err)
		}
		for _, s := range after.Sums {
			i := slices.IndexFunc(before.Sums, func(o curator.NoisySum) bool { return o.Name == s.Name })
			was, is := before.Sums[i].Noise.StdDev(), s.Noise.StdDev()
			if single := strings.HasPrefix(s.Name, "sum "); is > was*(1+1e-12) || single && is > 0.99*was && name != "press" || is > was && single {
				t.Errorf("%s: %s has noise of %g, and %g beside a count", name, s.Name, is, was)
			}
		}
	}
}

// The variance of a declared number of rows is the release of VAR_SAMP: the question replays it.
func TestDeclaredVarianceIsSampleVariance(t *testing.T) {
	c, _, _ := declaredPeople(t, "epsilon: 1000", 500)
	s := Sample{Request: curator.Request{Epsilon: "2"}, Table: "people", Columns: []string{"x", "y"}}
	e, err := Variance(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Answer(t.Context(), curator.Question{SQL: "SELECT VAR_SAMP(x), VAR_SAMP(y) FROM people", Epsilon: "2"})
	if err != nil || !r.Replayed || r.ID != e.Releases[0] {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, v := range e.Values {
		if x := r.Rows[0][i].Estimate; *v.Value != *x.Value || *v.Low != *x.Low || *v.High != *x.High || *v.StdError != *x.StdDev {
			t.Errorf("%s: %+v, and VAR_SAMP %+v", v.Name, v, x)
		}
	}
}

// A release with a noisy count, as earlier versions made, is replayed at no cost.
func TestReleasesWithCounts(t *testing.T) {
	c, _, _ := declaredPeople(t, "epsilon: 1000", 500)
	s := Sample{Request: curator.Request{Epsilon: "2"}, Table: "people", Columns: []string{"x"}}
	of := centredOn("x", 0, 100)
	v := squareSums([]centredColumn{of})
	v.Request = s.requesting(s.sql(false, of.sql, of.square()))
	m, err := c.Moments(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Variance(t.Context(), c, s)
	if err != nil || !e.Replayed || !slices.Equal(e.Releases, []string{m.ID}) {
		t.Errorf("%+v, %v", e, err)
	}
	s.Fresh = true
	if e, err = Variance(t.Context(), c, s); err != nil || e.Replayed {
		t.Errorf("a fresh one: %+v, %v", e, err)
	}
}

// CoinPress says why it kept its region: one declared unit has no noise, and a noisy count has.
func TestOneDeclaredUnit(t *testing.T) {
	c, _, _ := declaredPeople(t, "epsilon: 1000", 1)
	for _, s := range []Sample{{Columns: []string{"x"}, Deviations: []string{"5"}}, {Columns: []string{"x", "y"}}} {
		s.Request, s.Table, s.Method = curator.Request{Epsilon: "4"}, "people", MethodCoinPress
		r, err := Mean(t.Context(), c, s)
		if notes := fmt.Sprint(r, err); err != nil || !strings.Contains(notes, "the policy declares one unit") || strings.Contains(notes, "its noise") {
			t.Errorf("%v: %s", s.Columns, notes)
		}
	}
	noisy := vectorSums{count: 3, law: vectorLaw{count: noiseLaw{deviation: 2}}}
	if note := keeps(&noisy); !strings.Contains(note, "no larger than its noise") {
		t.Error(note)
	}
}

// A quantile of a population over declared units counts no rows, and costs the whole price: the policy's minimum is no minimum of
// the price of a count. The count that an earlier version released is used as it was, and so are its quantiles.
func TestDeclaredPopulationQuantiles(t *testing.T) {
	c, _, _ := declaredPeople(t, "epsilon: 1000}\nprice: {minimum: 0.1", 500)
	asked := func(price, column string) Sample {
		return Sample{Request: curator.Request{Epsilon: price}, Table: "people", Columns: []string{column}, Population: true}
	}
	ranks := []string{"0.5", "0.9"}
	for _, price := range []string{"0.1", "1"} {
		s := asked(price, "x")
		p, err := PlanQuantile(t.Context(), c, s, ranks...)
		if err != nil || len(p.Accesses) != 1 || p.Accesses[0].Price.Epsilon != price || p.Replayed {
			t.Fatalf("at ε = %s: %+v, %v", price, p, err)
		}
		r, err := p.Run(t.Context())
		if err != nil || len(r.Releases) != 1 || len(r.Values) != 2 {
			t.Fatalf("at ε = %s: %+v, %v", price, r, err)
		}
	}
	if _, err := PlanQuantile(t.Context(), c, asked("1", "none"), ranks...); err == nil || !strings.Contains(err.Error(), "0.05 is below the policy's minimum") {
		t.Errorf("a count of a nullable column, at ε = 0.05: %v", err)
	}

	s, alpha := asked("4", "x"), 0.05-2*bracketAlpha-countAlpha // as an earlier version asked
	counting := s.asking("SELECT COUNT(x, weight => 1) FROM people")
	counting.Epsilon, counting.Truncation, counting.Confidence = "0.2", "0", "0.998"
	before := &Result{}
	n, err := fewestRows(t.Context(), c, counting, before)
	if err != nil {
		t.Fatal(err)
	}
	rest := s
	rest.Epsilon, rest.Confidence = "3.8", "0.992"
	if err := before.populationQuantiles(t.Context(), c, s, rest, ranks, n, alpha); err != nil {
		t.Fatal(err)
	}
	remaining := statstest.Remaining(t, c)
	for range 2 {
		p, err := PlanQuantile(t.Context(), c, s, ranks...)
		if err != nil || !p.Replayed || len(p.Accesses) != 2 {
			t.Fatalf("a released estimate: %+v, %v", p, err)
		}
		r, err := p.Run(t.Context())
		if err != nil || !slices.Equal(r.Releases, before.Releases) || remaining.Cmp(statstest.Remaining(t, c)) != 0 {
			t.Fatalf("%+v, %v, want the releases %v", r, err, before.Releases)
		}
		for i, v := range r.Values {
			if want := before.Values[i]; *v.Value != *want.Value || *v.Low != *want.Low || *v.High != *want.High {
				t.Errorf("%+v, want %+v", v, want)
			}
		}
	}
	s.Fresh = true // now without a count
	r, err := Quantile(t.Context(), c, s, ranks...)
	if err != nil || len(r.Releases) != 1 {
		t.Fatalf("a fresh one: %+v, %v", r, err)
	}
	s.Fresh = false
	if again, err := Quantile(t.Context(), c, s, ranks...); err != nil || !slices.Equal(again.Releases, r.Releases) {
		t.Errorf("the latest release is not repeated: %+v, %v", again, err)
	}
}

// The error of a variance is no larger than the noise of VAR_SAMP, of scale b = R²/(nε): the absolute errors of k estimates
// add up to at most the quantile of their law, b times a Gamma variable of shape k, which they exceed with probability 10⁻⁶.
// Their intervals hold 95 % of the time, with the same false-alarm rate.
func TestDeclaredVarianceErrors(t *testing.T) {
	const n, k, epsilon = 400, 100, 1.0
	c, x, y := declaredPeople(t, "epsilon: 1000", n)
	truth := statstest.Exact(x, y)["variance(x)"]
	scale, total := 100.0*100/n/epsilon, 0.0
	var held statstest.Covers
	for range k {
		e, err := Variance(t.Context(), c, Sample{
			Request: curator.Request{Epsilon: "1", Fresh: true}, Table: "people", Columns: []string{"x"},
		})
		if err != nil {
			t.Fatal(err)
		}
		v := e.Values[0]
		if math.Abs(*v.StdError/(math.Sqrt2*scale)-1) > 1e-6 {
			t.Fatalf("standard error %g, and that of VAR_SAMP %g", *v.StdError, math.Sqrt2*scale)
		}
		total += math.Abs(v.Value.Real - truth) // clamping at 0 only moves it nearer
		cover(&held, v, truth)
	}
	if p := mathext.GammaIncRegComp(k, total/scale); p < 1e-6 {
		t.Errorf("mean error %.3f, of noise with scale %.3f: p = %g", total/k, scale, p)
	}
	held.Check(t, "variances of a declared number of rows")
}

// Intervals from sums without a noisy count hold as often as stated, about the rows and about their population, of few rows
// and with much noise. Each check has a false-alarm rate of one in a million.
func TestDeclaredUnitsCoverage(t *testing.T) {
	r, s := rand.New(rand.NewPCG(51, 1)), newSimulator()
	of := centredColumn{low: -1, high: 1}
	var means, squares, variances, entries, shares statstest.Covers
	for trial := range 2 * estimateTrials() {
		n := []int{100, 1000}[trial%2]
		rows := make([][]float64, n)
		for i := range rows {
			x := math.Min(math.Max(-0.3+0.2*r.NormFloat64(), -1), 1)
			rows[i] = []float64{x, x * x}
		}
		law := func(firsts, products int) vectorLaw {
			l := noiseLaw{math.Sqrt2 * 3, trial%4 < 2}
			return vectorLaw{
				first: slices.Repeat([]noiseLaw{l}, firsts), products: slices.Repeat([]noiseLaw{l}, products),
				off: slices.Repeat([]noiseLaw{l}, products),
			}
		}
		one := func(v curator.Vectors, rows [][]float64, law vectorLaw, population bool, value populationValue) Value {
			v = withoutCount(v)
			sums := noisyRows(s, v, rows, law)
			return simulated(&sums, []centredColumn{of}, []string{""}, nil, 0.05, productSymmetric(v), population, value)[0]
		}
		cover(&means, one(meanSums([]centredColumn{of}), rows, law(1, 1), true, meanOf), -0.3)
		cover(&variances, one(varianceSums([]centredColumn{of}), rows, law(1, 3), true, varianceOf), 0.04)
		halved := make([][]float64, n)
		for i, row := range rows {
			halved[i] = []float64{row[0], row[1] - 0.5}
		}
		cover(&squares, one(squareSums([]centredColumn{of}), halved, law(2, 0), false, squareOf), sampleVariance(rows))
		if trial%4 != 0 {
			continue
		}
		forms := plainForms([]float64{0, 0}, []float64{1, 1})
		pairs := gaussianRows(r, n, []float64{-0.2, 0.1}, [][]float64{{0.2, 0}, {0.1, 0.15}})
		price := pricing{epsilon: 20}
		sums, err := pressing(s, pairs, price, []float64{1}, true)(0, forms, math.Sqrt2)
		if err != nil {
			t.Fatal(err)
		}
		sums.count, sums.law.count = float64(n), noiseLaw{}
		last, exact := pressed{sums: sums, forms: forms}, rowCovariances(pairs)
		sample := Sample{Columns: []string{"a", "b"}}
		values, _ := covarianceValues(&last, sample, [][2]float64{{-1, 1}, {-1, 1}}, nil, 0.05, func(int) bool { return true })
		cover(&entries, values[3], exact[0][1]) // one of the entries, which depend on each other
		parts, _ := componentValues(&last, sample, nil, nil, 0.05, func(int) bool { return true })
		cover(&shares, parts[0], components(exact).share[0])
	}
	means.Check(t, "means of a population")
	variances.Check(t, "variances of a population")
	squares.Check(t, "variances of the rows")
	entries.Check(t, "covariances")
	shares.Check(t, "shares of components")
}
