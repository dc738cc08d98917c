package plan_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dither/internal/derive"
	"dither/internal/plan"
	"dither/internal/policy"
)

func besidePolicy(t *testing.T, neighbours, budget, bounds string) *policy.Policy {
	t.Helper()
	text := `
version: 1
population: {name: town, neighbours: ` + neighbours + `}
budget: ` + budget + `
tables:
  people: {source: {csv: p.csv}, unit: row, units: 100, columns: {x: {type: real, bounds: ` + bounds + `}}}
  visits:
    source: {csv: v.csv}
    unit: person
    rows_per_unit: 5
    columns:
      person: {type: integer}
      x: {type: real, bounds: ` + bounds + `, nullable: true}
      y: {type: integer, bounds: [0, 7]}
      city: {type: text, values: [a, b, c]}
`
	if neighbours == "add-remove" { // the number of units is public under change-one alone
		text = strings.Replace(text, "units: 100, ", "", 1)
	}
	p, err := policy.Decode([]byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const pureBudget, rhoBudget = "{epsilon: 10}", "{rho: 1, delta: 1e-6}"

// SUM(x) beside AVG(x) is computed from the two measures of AVG(x), which share the price equally, and other sums are
// measured by themselves.
func TestSumsBesideAveragesAreShared(t *testing.T) {
	p := besidePolicy(t, "add-remove", pureBudget, "[0, 100]")
	for _, c := range []struct {
		items  string
		shares string // of the measures, in canonical order
	}{
		{"SUM(x), AVG(x)", "1/2 1/2"},
		{"AVG(x), COUNT(x), SUM(x)", "1/2 1/2"},
		{"SUM(y), AVG(y), SUM(x)", "1/3 1/3 1/3"},
		{"SUM(x) FILTER (WHERE y > 2), AVG(x) FILTER (WHERE y > 2)", "1/2 1/2"},
		{"SUM(x, bounds => (0, 10)), AVG(x, bounds => (0, 10))", "1/2 1/2"},
		{"SUM(x) / COUNT(*), AVG(x)", "1/3 1/3 1/3"},
		// apart: another argument, a share or an epsilon of its own, distinct values
		{"SUM(x), AVG(y)", "1/2 1/4 1/4"},
		{"SUM(x) FILTER (WHERE y > 2), AVG(x)", "1/2 1/4 1/4"},
		{"SUM(x, weight => 1), AVG(x)", "1/2 1/4 1/4"},
		{"SUM(x), AVG(x, weight => 2)", "1/3 1/3 1/3"},
		{"SUM(DISTINCT y), AVG(y)", "1/2 1/4 1/4"},
		{"SUM(x)", "1"},
	} {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT " + c.items + " FROM visits"})
		if err != nil {
			t.Fatalf("%s: %v", c.items, err)
		}
		var shares []string
		for _, m := range q.Measures {
			e, _ := m.Loss.Pure()
			whole, _ := q.Price.Pure()
			shares = append(shares, e.Rat().Quo(e.Rat(), whole.Rat()).RatString())
		}
		if slices.Sort(shares); strings.Join(shares, " ") != c.shares {
			t.Errorf("%s: shares %s, not %s", c.items, shares, c.shares)
		}
	}
	// also where the average stands in HAVING or ORDER BY alone, by group, and by grouping set
	for _, rest := range []string{
		"SUM(x) FROM visits HAVING AVG(x) > 1", "city, SUM(x) FROM visits GROUP BY city ORDER BY AVG(x)",
		"city, SUM(x), AVG(x) FROM visits GROUP BY ROLLUP (city)",
	} {
		if q, err := plan.Build(p, plan.Request{SQL: "SELECT " + rest}); err != nil || len(q.Measures) != 2 {
			t.Errorf("%s: %v", rest, err)
		}
	}
	// with a declared number of rows, nothing but the centred sum is measured
	p = besidePolicy(t, "change-one", pureBudget, "[0, 100]")
	if q, err := plan.Build(p, plan.Request{SQL: "SELECT SUM(x), AVG(x) FROM people"}); err != nil || len(q.Measures) != 1 ||
		q.Declared != 100 {
		t.Errorf("with a declared number: %v", err)
	}
	if q, err := plan.Build(p, plan.Request{SQL: "SELECT SUM(x) FROM people"}); err != nil || q.Declared != 0 {
		t.Errorf("a sum alone uses the declared number: %v", err)
	}
}

// Plans of releases that measured each sum by itself can still be made, and have other keys.
func TestSumsApartKeepTheirPlans(t *testing.T) {
	p := besidePolicy(t, "add-remove", pureBudget, "[0, 100]")
	q, err := plan.Build(p, plan.Request{SQL: "SELECT SUM(x), AVG(x) FROM visits", Sums: plan.SumsApart})
	if err != nil || len(q.Measures) != 3 {
		t.Fatal(err)
	}
	now, err := plan.Build(p, plan.Request{SQL: "SELECT SUM(x), AVG(x) FROM visits"})
	if err != nil || now.Key(1) == q.Key(1) {
		t.Fatalf("one key for both: %v", err)
	}
	if _, ok := q.Aggregates[0], now.Aggregates[0].Centred(); !ok || q.Aggregates[0].Centred() {
		t.Error("which sums are centred")
	}
}

// SUM(x) beside AVG(x) has at most 1.12 times the standard deviation that a measure of its own has, and an interval
// that is at most 1.13 times as wide, for all bounds. Under add/remove, the factors are 1 and 1.03.
func TestSumsBesideAverages(t *testing.T) {
	for _, neighbours := range []string{"add-remove", "change-one"} {
		for _, budget := range []string{pureBudget, rhoBudget} {
			worst, widest := 0.0, 0.0
			for _, bounds := range []string{
				"[0, 1]", "[0, 1000]", "[-1, 1000]", "[-500, 1000]", "[-999, 1000]", "[100, 1000]", "[900, 1000]", "[999, 1000]",
				"[-1000, -10]", "[-3, 0.5]", "[333, 1000]", "[200, 600]",
			} {
				p := besidePolicy(t, neighbours, budget, bounds)
				for _, sql := range []string{
					"SELECT SUM(x), AVG(x) FROM visits", "SELECT COUNT(x), SUM(x), AVG(x) FROM visits",
					"SELECT SUM(x), AVG(x) FROM visits GROUP BY city", "SELECT SUM(x), AVG(x), COUNT(*) FROM visits WHERE y > 3",
				} {
					var by [2]derive.Forecast
					for i, sums := range []plan.Sums{plan.SumsBeside, plan.SumsApart} {
						q, err := plan.Build(p, plan.Request{SQL: sql, Sums: sums})
						if err != nil {
							t.Fatal(err)
						}
						a, err := derive.New(q)
						if err != nil {
							t.Fatal(err)
						}
						o := q.Outputs[slices.IndexFunc(q.Outputs, func(o plan.Output) bool { return o.Name == "sum" })]
						by[i] = a.Forecast(o, 0.05, 0)
					}
					worst, widest = max(worst, by[0].StdDev/by[1].StdDev), max(widest, by[0].HalfWidth/by[1].HalfWidth)
				}
			}
			most, mostWide := 1.12, 1.13
			if neighbours == "add-remove" {
				most, mostWide = 1, 1.03
			}
			if math.IsNaN(worst) || worst > most || widest > mostWide {
				t.Errorf("%s under %s: %.3f times the standard deviation, %.3f times the interval", budget, neighbours, worst, widest)
			}
			t.Logf("%s under %s: at most %.3f times the standard deviation and %.3f times the interval", budget, neighbours, worst, widest)
		}
	}
}
