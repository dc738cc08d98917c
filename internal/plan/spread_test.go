package plan_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dither/internal/bounded"
	"dither/internal/plan"
)

// A variance over a declared number of units is measured by a spread, unless another aggregate measures a sum that it would
// be computed from. Variances of one expression share one measure, and the whole of their claim.
func TestVariancesOfDeclaredUnits(t *testing.T) {
	p := unitsDeclared(t)
	for items, want := range map[string]string{
		"VAR_SAMP(age)":                       "spread",
		"STDDEV(age), VAR_POP(age)":           "spread",
		"VARIANCE(income) * 2":                "spread",
		"VAR_POP(age), VAR_POP(income)":       "spread spread",
		"VAR_POP(age), AVG(income)":           "spread sum",
		"VAR_POP(age), SUM(age)":              "spread sum",
		"VAR_POP(age), COUNT(*)":              "spread",
		"VAR_POP(age), CORR(income, grade)":   "spread sum sum sum sum sum",
		"VAR_POP(age * 2)":                    "spread",
		"VAR_POP(3)":                          "spread",
		"VAR_POP(age), AVG(age)":              "sum sum",
		"AVG(age), STDDEV(age)":               "sum sum",
		"VAR_POP(age), REGR_AVGX(income,age)": "sum sum",
		"VAR_POP(age), COVAR_POP(age,income)": "sum sum sum sum",
		"VAR_POP(gain)":                       "sum sum values",
		"VAR_POP(age) FILTER (WHERE age > 9)": "sum sum values",
	} {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT " + items + " FROM people"})
		if err != nil {
			t.Errorf("%s: %v", items, err)
			continue
		}
		var kinds []string
		for _, m := range q.Measures {
			kinds = append(kinds, string(m.Kind))
		}
		if slices.Sort(kinds); strings.Join(kinds, " ") != want {
			t.Errorf("%s is measured by %v, want %s", items, kinds, want)
		}
		if len(q.Measures) == 1 && q.Measures[0].Loss != q.Price {
			t.Errorf("%s: the one measure has the share %s of %s", items, q.Measures[0].Loss, q.Price)
		}
		old, err := plan.Build(p, plan.Request{SQL: "SELECT " + items + " FROM people", Variances: plan.VariancesOfSums})
		if err != nil || slices.ContainsFunc(old.Measures, func(m *plan.Measure) bool { return m.Kind == bounded.Spread }) {
			t.Errorf("%s is not planned by sums, as it was: %v", items, err)
		}
	}
	for _, sql := range []string{
		"SELECT VAR_POP(age) FROM people WHERE income > 0", "SELECT ward, VAR_POP(age) FROM people GROUP BY ward",
		"SELECT VAR_POP(age) FROM people HAVING AVG(age) > 0", "SELECT VAR_POP(age) FROM people ORDER BY AVG(age)",
	} {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil || q.Measures[0].Kind == bounded.Spread || q.Measures[len(q.Measures)-1].Kind == bounded.Spread {
			t.Errorf("%s: %v is measured by a spread", sql, err)
		}
	}
}

// The noise on VAR_SAMP has the scale R²/(nε), for values in a range of length R: that of Laplace noise on the variance itself.
func TestNoiseOfVariances(t *testing.T) {
	for _, c := range []struct {
		units, x string
		width    float64
	}{
		{"1000", "income", 8},
		{"1000", "age", 100},
		{"2", "age", 100},
		{"2", "income", 8},
		{"1000000", "income", 8},
		{"100000000", "income", 8},
		{"100000000", "age", 100},
		{"2147483648", "age", 100},
		{"1000", "age + 1", 100},
		{"1000", "age * 3 + 1", 300},
		{"1000", "income / 3", 8. / 3},
	} {
		p := unitsDeclared(t, "units: 1000", "units: "+c.units)
		q, err := plan.Build(p, plan.Request{SQL: "SELECT VAR_SAMP(" + c.x + ") FROM people"})
		if err != nil || len(q.Measures) != 1 || q.Measures[0].Kind != bounded.Spread {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		m, n := q.Measures[0], float64(q.Declared)
		scale, _ := new(big.Rat).Quo(new(big.Rat).Mul(m.Parameter, m.Unit()), new(big.Rat).SetInt64(q.Aggregates[0].Rows)).Float64()
		if want := c.width * c.width / n; m.Noise != plan.Laplace || math.Abs(scale/want-1) > 1e-8 {
			t.Errorf("%+v: the noise on VAR_SAMP has the scale %g, want %g", c, scale, want)
		}
		rounding, _ := new(big.Rat).Quo(new(big.Rat).SetInt(m.Rounding), m.Parameter).Float64()
		if rounding > 1./256 {
			t.Errorf("%+v: rounding adds up to %g of the scale", c, rounding)
		}
		most := big.NewInt(max(m.Hi, -m.Lo))
		if most.Mul(most, big.NewInt(q.Declared)); !most.IsInt64() {
			t.Errorf("%+v: an engine could overflow: %s", c, most)
		}
	}
}

// Where a spread could overflow, or where its rounding would show, a variance is computed from sums.
func TestVariancesWithoutSpread(t *testing.T) {
	for _, c := range []struct{ units, bounds string }{
		{"1", "[10, 110]"}, {"4294967296", "[10, 110]"},
	} {
		p := unitsDeclared(t, "units: 1000", "units: "+c.units, "bounds: [10, 110]", "bounds: "+c.bounds)
		q, err := plan.Build(p, plan.Request{SQL: "SELECT VAR_POP(age) FROM people"})
		if err != nil || len(q.Measures) != 2 {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for bounds, want := range map[string]int{
		"[-3, 5]": 1, "[1000000000000, 1000000000001]": 2, "[0, 1e-18]": 1, "[0, 1e30]": 1,
	} {
		p := unitsDeclared(t, "units: 1000", "units: 1000000", "income: {type: real, bounds: [-3, 5]", "income: {type: real, bounds: "+bounds)
		q, err := plan.Build(p, plan.Request{SQL: "SELECT VAR_POP(income) FROM people"})
		if err != nil || len(q.Measures) != want {
			t.Errorf("%s: %v", bounds, fmt.Sprint(err, q))
		}
	}
}
