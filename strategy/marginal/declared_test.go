package marginal_test

import (
	"math"
	"strings"
	"testing"

	"dither/curator"
	"dither/internal/testhome"
	"dither/strategy"
	"dither/strategy/marginal"
)

// TestDeclaredTotals measures marginals of a table whose totals the policy declares: under either kind of price, they
// have no error, all marginals add up to them, and other cells have less noise.
func TestDeclaredTotals(t *testing.T) {
	const policy = `
version: 1
population: {name: survey}
budget: BUDGET
price: {minimum: MINIMUM}
tables:
  people:
    source: {csv: people.csv}
    unit: row
TOTALS
    columns:
      region: {type: text, values: [east, west]}
      age: {type: integer, bounds: [1, 3]}
`
	var rows strings.Builder
	rows.WriteString("region,age\n")
	for i := range 90 {
		rows.WriteString([]string{"east", "west", "west"}[i%3] + "," + []string{"1", "2", "3", "3", "3"}[i%5] + "\n")
	}
	for _, unit := range []strategy.Unit{strategy.Rho, strategy.Epsilon} {
		r := curator.Request{SQL: "SELECT COUNT(*) FROM people GROUP BY region, age", Rho: "0.01"}
		budget, minimum := "{rho: 1, delta: 1e-6}", "{rho: 0.0001}"
		if unit == strategy.Epsilon {
			r.Rho, r.Epsilon, budget, minimum = "", "0.1", "{epsilon: 1}", "0.0001"
		}
		measure := func(totals string) (*marginal.Table, *marginal.Table, []float64) {
			text := strings.NewReplacer("BUDGET", budget, "MINIMUM", minimum, "TOTALS", totals).Replace(policy)
			o, _ := testhome.Opened(t, testhome.Files(text, map[string]string{"people.csv": rows.String()}), "people")
			s := o.Session()
			d := must(marginal.DomainOf(t.Context(), s, r, "region", "age"))(t)
			plan := must(d.Ways(1, 2))(t).Choose(unit).Plan
			e := must(plan.Measure(t.Context(), s, r))(t)
			return must(e.Marginal("region"))(t), must(e.Marginal("region", "age"))(t), must(e.Margins(0.95, "region"))(t)
		}
		region, both, margins := measure("    totals: {\"*\": 90, region: {east: 30, west: 60}}")
		_, without, wide := measure("")
		// without the totals of both regions, rows could be in neither
		if _, _, of := measure("    totals: {\"*\": 90}"); of[0] != wide[0] {
			t.Errorf("price %v: the margin is %v with the total of all rows, and %v without totals", unit, of[0], wide[0])
		}
		for i, want := range []float64{30, 60} {
			sum := 0.0
			for _, v := range both.Values[3*i : 3*i+3] {
				sum += v
			}
			if math.Abs(region.Values[i]-want) > 1e-9 || region.Variances[i] != 0 || margins[i] != 0 || math.Abs(sum-want) > 1e-9 {
				t.Errorf("price %v, region %d: %v ± %v, by age %v, not %v", unit, i, region.Values[i], margins[i], sum, want)
			}
			if wide[i] < 1 {
				t.Errorf("without totals, the margin is %v", wide[i])
			}
		}
		if !(both.Variances[0] < without.Variances[0]*0.9) {
			t.Errorf("price %v: the variance of a cell is %v, and %v without totals", unit, both.Variances[0], without.Variances[0])
		}
	}
}
