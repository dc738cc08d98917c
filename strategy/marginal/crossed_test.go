package marginal_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/marginal"
)

// Products answer all ranges of ages by region, in ε: with less noise than the other plans, the stated variances, intervals
// that cover, and the stated mean of the variances.
//
// The squared errors of one draw have the mean of the stated variances. They are correlated, and are at least as good as 16
// independent ones, the numbers of the cells' halves; the fourth moment of Laplace noise is 6 squared variances. So the mean
// ratio of n draws has a deviation of at most √(5/16n), and the test fails beyond five of these: with a probability of about
// 10⁻⁵ for true variances. An interval of 95 % misses with a probability of at most 5 %, and the test fails at 15 %.
func TestCrossed(t *testing.T) {
	var rows strings.Builder
	exact := map[[2]int]float64{}
	rows.WriteString("region,age\n")
	for i := range 600 {
		k := [2]int{i * i % 7 % 3, i * 13 % 32}
		exact[k]++
		fmt.Fprintf(&rows, "%s,%d\n", []string{"east", "north", "west"}[k[0]], k[1])
	}
	owner, _ := testhome.Opened(t, testhome.Files(`
version: 1
population: {name: survey}
budget: {epsilon: 100}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns: {region: {type: text, values: [east, north, west]}, age: {type: integer, bounds: [0, 31]}}
`, map[string]string{"people.csv": rows.String()}), "people")
	s, ctx := owner.Session(), t.Context()
	r := curator.Request{SQL: "SELECT COUNT(*) FROM people GROUP BY region, age", Epsilon: "1"}
	d := must(must(marginal.DomainOf(ctx, s, r, "region", "age"))(t).Ask("age", marginal.Ranges))(t)
	w := must(d.Ways(1, 2))(t)
	c := must(w.Crossed(s, strategy.Epsilon))(t)
	if other := w.Choose(strategy.Epsilon).Plan.RMSE; !(c.Plan.RMSE < other/1.2) {
		t.Errorf("products have the error %g, and other plans %g", c.Plan.RMSE, other)
	}
	// only the ratios of weights count
	heavy := must(must(d.WeightedWays(marginal.Way{Attributes: 1, Weight: 1e8}, marginal.Way{Attributes: 2, Weight: 1e8}))(t).Crossed(s, strategy.Epsilon))(t)
	if heavy.Plan.RMSE > c.Plan.RMSE*(1+1e-9) {
		t.Errorf("with large weights the error is %g, and %g without", heavy.Plan.RMSE, c.Plan.RMSE)
	}
	x := must(c.Explain(ctx, s, r))(t)
	if x.Replayed || x.Price.Epsilon != "1" {
		t.Errorf("price %v, replayed %v", x.Price, x.Replayed)
	}
	ratio, missed, answers, variances := 0.0, 0, 0, 0.0
	draws := 8
	if os.Getenv("DITHER_LONG") != "" {
		draws = 80
	}
	for draw := range draws {
		fresh := r
		fresh.Fresh = draw > 0
		e := must(c.Measure(ctx, s, fresh))(t)
		if e.Release.Replayed || e.Release.Price.Epsilon != "1" {
			t.Fatalf("price %v, replayed %v", e.Release.Price, e.Release.Replayed)
		}
		sums := map[[2]int]float64{} // over the regions, less that of all regions
		for region := range 4 {
			for low := range 32 {
				for high := low + 1; high <= 32; high++ {
					q, want := marginal.Query{"age": make([]float64, 32)}, 0.0
					for age := low; age < high; age++ {
						q["age"][age] = 1
						for k := range 3 {
							if region == 3 || region == k {
								want += exact[[2]int{k, age}]
							}
						}
					}
					if region < 3 {
						q["region"] = make([]float64, 3)
						q["region"][region] = 1
					}
					value, deviation, from, to, err := e.Answer(q, 0.95)
					if err != nil {
						t.Fatal(err)
					}
					ratio += (value - want) * (value - want) / (deviation * deviation)
					variances += deviation * deviation
					if region == 3 {
						value = -value
					}
					sums[[2]int{low, high}] += value
					if answers++; want < from || want > to {
						missed++
					}
				}
			}
		}
		for ages, off := range sums {
			if math.Abs(off) > 1e-6 {
				t.Errorf("the regions add up to %g more than all of them, at the ages %v", off, ages)
			}
		}
		for region := range 3 {
			q := marginal.Query{"region": make([]float64, 3)}
			q["region"][region] = 1
			_, deviation, _, _, err := e.Answer(q, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			variances += deviation * deviation
		}
		if draw == 0 {
			again := must(must(w.Crossed(s, strategy.Epsilon))(t).Measure(ctx, s, r))(t)
			if !again.Release.Replayed || again.Release.ID != e.Release.ID {
				t.Errorf("release %s repeats %s", again.Release.ID, e.Release.ID)
			}
		}
	}
	t.Logf("the squared errors are %.3f times their variances; %.2f %% of intervals miss", ratio/float64(answers), 100*float64(missed)/float64(answers))
	if math.Abs(ratio/float64(answers)-1) > 5*math.Sqrt(5/(16*float64(draws))) || float64(missed) > 0.15*float64(answers) {
		t.Errorf("the squared errors are %g times their variances; %d of %d intervals miss", ratio/float64(answers), missed, answers)
	}
	// one count at ε = 1 has nearly the variance 2 of continuous noise
	stated := c.Plan.RMSE * math.Sqrt2
	if got := math.Sqrt(variances / (float64(draws) * w.Answers())); math.Abs(got/stated-1) > 0.02 {
		t.Errorf("the root of the mean variance is %g, and %g is stated", got, stated)
	}
	e := must(c.Measure(ctx, s, r))(t)
	for name, q := range map[string]marginal.Query{
		"an unknown attribute": {"sex": {1}}, "a wrong length": {"age": {1}}, "no marginal": {},
	} {
		if _, _, _, _, err := e.Answer(q, 0.95); err == nil {
			t.Errorf("%s has an answer", name)
		}
	}
}
