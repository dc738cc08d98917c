package marginal_test

import (
	"math"
	"os"
	"testing"

	"dither/curator"
	"dither/internal/stattest"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/marginal"
)

// TestConsistentMarginsCover measures a consistent plan many times. The margins of some cells have at most the nominal
// share of errors beyond them, and margins that are shorter by 1 would have at least three quarters of it: errors are whole
// numbers. The false-alarm rate is 1e-6 for each check. The price is the request's, and the same request replays the
// release.
func TestConsistentMarginsCover(t *testing.T) {
	files, exact := survey()
	o, _ := testhome.Opened(t, files, "people")
	s := o.Session()
	r := curator.Request{SQL: question, Epsilon: "0.5"}
	d := must(marginal.DomainOf(t.Context(), s, r, "region", "smokes", "age"))(t)
	p := must(must(d.Ways(1, 2))(t).Consistent())(t)
	x := must(p.Explain(t.Context(), s, r))(t)
	if x.Price.Rho != "0.125" {
		t.Errorf("the price is %+v", x.Price)
	}
	times := 25
	if os.Getenv("DITHER_LONG") != "" {
		times = 1500
	}
	const alpha = 0.2
	truth := make([]float64, 12)
	for k, n := range exact {
		truth[k[0]*4+k[2]] += n
	}
	beyond, nearly := make([]int, 12), make([]int, 12)
	r.Fresh = true
	for range times {
		e := must(p.Measure(t.Context(), s, r))(t)
		table := must(e.Marginal("region", "age"))(t)
		margins := must(e.Margins(1-alpha, "region", "age"))(t)
		for i, v := range table.Values {
			if math.Abs(v-truth[i]) > margins[i] {
				beyond[i]++
			}
			if math.Abs(v-truth[i]) > margins[i]-1 {
				nearly[i]++
			}
		}
	}
	for _, i := range []int{0, 5, 11} {
		few, many := stattest.Binomial{Trials: times, Probability: alpha * 0.75}, stattest.Binomial{Trials: times, Probability: alpha}
		if many.AtLeast(beyond[i]) < 1e-6 || few.AtMost(nearly[i]) < 1e-6 {
			t.Errorf("cell %d was beyond its margin in %d of %d releases, and beyond one that is shorter by 1 in %d", i, beyond[i], times, nearly[i])
		}
	}
	r.Fresh = false
	first, again := must(p.Measure(t.Context(), s, r))(t), must(p.Measure(t.Context(), s, r))(t)
	if !again.Releases[0].Replayed || must(first.Marginal("age"))(t).Values[0] != must(again.Marginal("age"))(t).Values[0] {
		t.Error("the measurement was not replayed")
	}
	both, one := must(first.Marginal("smokes", "age"))(t), must(first.Marginal("smokes"))(t)
	for i, v := range one.Values {
		below := 0.0
		for _, c := range both.Values[4*i : 4*i+4] {
			below += c
		}
		if math.Abs(below-v) > 1e-6 {
			t.Errorf("smokes = %d: %v, and %v by age", i, v, below)
		}
	}
	if choice := must(d.Ways(1, 2))(t).Choose(strategy.Epsilon); choice.Plan == nil || choice.Plan.RMSE != p.RMSE {
		t.Errorf("the choice is %+v", choice.Chosen)
	}
}
