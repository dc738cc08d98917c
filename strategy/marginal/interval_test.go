package marginal_test

import (
	"math"
	"os"
	"testing"

	"dither/curator"
	"dither/internal/stattest"
	"dither/strategy"
	"dither/strategy/marginal"
)

// TestMarginsCover measures marginals many times and counts how often the stated margins of a few cells hold. For plain
// values and for ranges, the estimates have at most the nominal share of errors beyond their margins, and at least three
// quarters of it: they are not conservative. Whole numbers, which post-processing moves, are covered by the margin widened
// by one half per attribute, at least as often as stated. The false-alarm rate is 1e-6 for each check. The cells of one
// release are correlated, so each count is about one cell.
func TestMarginsCover(t *testing.T) {
	s, exact, p := measured(t)
	times := 25
	if os.Getenv("DITHER_LONG") != "" {
		times = 1500
	}
	const alpha = 0.2
	truth := make([]float64, 12) // by age and region, in the order of the domain: region, age
	for k, n := range exact {
		truth[k[0]*4+k[2]] += n
	}
	beyond, moved := make([]int, 12), make([]int, 12)
	for range times {
		e := must(p.Measure(t.Context(), s, curator.Request{SQL: question, Rho: "0.1", Fresh: true}))(t)
		table := must(e.Marginal("region", "age"))(t)
		margins := must(e.Margins(1-alpha, "region", "age"))(t)
		whole := must(e.Whole("region", "age"))(t)
		for i, v := range table.Values {
			if math.Abs(v-truth[i]) > margins[i] {
				beyond[i]++
			}
			if math.Abs(float64(whole[i])-truth[i]) > margins[i]+1 {
				moved[i]++
			}
		}
		low, high, err := e.Interval(cell(5), 1-alpha)
		if err != nil || math.Abs((high-low)/2-margins[5]) > 1e-9*margins[5] || math.Abs((high+low)/2-table.Values[5]) > 1e-6 {
			t.Fatalf("interval %v to %v of cell 5, with the estimate %v and the margin %v (%v)", low, high, table.Values[5], margins[5], err)
		}
	}
	for _, i := range []int{0, 5, 11} {
		few := stattest.Binomial{Trials: times, Probability: alpha * 0.75}
		many := stattest.Binomial{Trials: times, Probability: alpha}
		if many.AtLeast(beyond[i]) < 1e-6 {
			t.Errorf("cell %d was beyond its margin in %d of %d releases", i, beyond[i], times)
		}
		if few.AtMost(beyond[i]) < 1e-6 {
			t.Errorf("cell %d was beyond its margin in %d of %d releases only", i, beyond[i], times)
		}
		if many.AtLeast(moved[i]) < 1e-6 {
			t.Errorf("whole number %d was beyond its margin in %d of %d releases", i, moved[i], times)
		}
	}
}

// TestMarginsOfOneCell compares margins with those of a normal distribution of the stated variance, which they exceed by
// little if the noise is large, and checks refusals.
func TestMarginsOfOneCell(t *testing.T) {
	s, _, d := open(t)
	for _, unit := range []strategy.Unit{strategy.Rho, strategy.Epsilon} {
		w := must(d.Ways(1, 2))(t)
		e := must(w.Sum(unit).Measure(t.Context(), s, curator.Request{SQL: question, Rho: "0.1"}))(t)
		table := must(e.Marginal("region", "smokes"))(t)
		margins := must(e.Margins(0.95, "smokes", "region"))(t)
		for i, m := range margins {
			if ratio := m / (1.959964 * math.Sqrt(table.Variances[i])); ratio < 1-1e-6 || ratio > 1.1 {
				t.Errorf("%v: margin %d is %v, %v times the normal one", unit, i, m, ratio)
			}
		}
		if _, err := e.Margins(1, "region"); err == nil {
			t.Error("a confidence of 1 was accepted")
		}
		if _, _, err := e.Interval(marginal.Query{"region": {1, 0, 0}}, 0); err == nil {
			t.Error("a confidence of 0 was accepted")
		}
		if _, err := e.Margins(0.9, "region", "smokes", "age"); err == nil {
			t.Error("a marginal outside the span was accepted")
		}
	}
}
