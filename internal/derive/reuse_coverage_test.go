package derive_test

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"dither/internal/derive"
	"dither/internal/plan"
	"dither/internal/stattest"
)

// What follows from releases by finer keys has the error of as many noises as there are cells in each of its own: these differ from row to
// row, and each row's intervals cover in at least 95 % of releases, of one release and of two together.
func TestCoverageOfCoarserKeys(t *testing.T) {
	rows := people(300)
	const columns = "COUNT(*), SUM(x), 2 * SUM(i) - COUNT(*), AVG(i), SUM(x) / COUNT(*)"
	type release struct{ groupBy, price string }
	for i, c := range []struct {
		groupBy, where string
		from           []release
	}{
		{"SIGN(i), i > 20", "", []release{{"i", "2"}}},                                       // 1 cell, none, 20 and 95
		{"i % 50 > 0", "", []release{{"i", "4"}, {"i % 50", "0.3"}}},                         // of both: 3 and 1 cells, 113 and 49
		{"FLOOR(i / 40), g", "", []release{{"i, g", "ρ 4"}}},                                 // 40 cells, and 36
		{"CASE WHEN i < 3 THEN 'few' ELSE 'more' END", "WHERE i > 0", []release{{"i", "1"}}}, // of those that are picked
		{"ROLLUP (i > 90, g)", "", []release{{"i, g", "ρ 3"}, {"i, g", "ρ 2"}}},              // of both
	} {
		if os.Getenv("DITHER_LONG") == "" && i > 1 {
			continue
		}
		t.Run(c.groupBy, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, "SELECT "+columns+" FROM t "+c.where+" GROUP BY "+c.groupBy, c.from[0].price) // under the same policy
			answer, err := derive.New(p)
			if err != nil {
				t.Fatal(err)
			}
			var plans []*plan.Plan
			var exact [][][]*big.Int
			for _, r := range c.from {
				q := planOf(t, "SELECT COUNT(*), SUM(x), SUM(i), AVG(i) FROM t GROUP BY "+r.groupBy, r.price)
				plans, exact = append(plans, q), append(exact, exactSets(q, rows))
				simulates(q)
			}
			released := func() []*derive.Earlier {
				var out []*derive.Earlier
				for i, q := range plans {
					out = append(out, &derive.Earlier{Plan: q, Numbers: noisySets(t, q, exact[i])})
				}
				return out
			}
			used, ok := answer.From(released(), true, false)
			if !ok || len(used) != len(plans) {
				t.Fatalf("it follows from %v of %d", used, len(plans))
			}
			answer.Forget()
			truth := answer.Rows(exactSets(p, rows), 0.05)
			covered := promised(0.95, 5*len(truth))
			for stattest.AnyOpen(covered) {
				earlier := released()
				if _, ok := answer.From(earlier, true, false); !ok {
					t.Fatal("it does not follow")
				}
				for r, row := range answer.Rows(nil, 0.05) {
					for k := range 5 {
						e, v := row[k].Estimate, truth[r][k].Estimate
						slack := 1e-9 * max(1, v.Value, -v.Value)
						covered[5*r+k].Observe(v.Null || e.Low-slack <= v.Value && v.Value <= e.High+slack)
					}
				}
			}
			kept(t, "5·row + column", covered)
		})
	}
}

// Errors are told row by row, and beforehand those of the row where they are largest; who names a price is given nothing where one row is less
// exact than what it buys.
func TestErrorsOfCoarserKeys(t *testing.T) {
	rows := people(300)
	q := planOf(t, "SELECT COUNT(*) FROM t GROUP BY i", "1")
	earlier := []*derive.Earlier{{Plan: q, Numbers: noisySets(t, q, exactSets(q, rows))}}
	p := planOf(t, "SELECT COUNT(*) FROM t GROUP BY SIGN(i), i > 20", "1")
	answer, err := derive.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := answer.From(earlier, false, true); ok {
		t.Error("95 cells are as exact as one")
	}
	if _, ok := answer.From(earlier, false, false); !ok {
		t.Fatal("it does not follow")
	}
	if !answer.GivenDiffer() {
		t.Error("its rows' errors differ")
	}
	one := answer.Noise(p.Measures[0]).StdDev()
	forecast := answer.ForecastGiven(p.Outputs[0], 0.05)
	if want := one * math.Sqrt(95); math.Abs(forecast.StdDev-want) > 1e-9 {
		t.Errorf("foretold %g, not %g", forecast.StdDev, want)
	}
	widest := 0.0
	cells := map[string]float64{"false false": 1, "false true": 20, "true false": 0, "true true": 95}
	values := [][2]bool{}
	for _, a := range p.Keys[0].Values {
		for _, b := range p.Keys[1].Values {
			values = append(values, [2]bool{a.Bool || a.Int == 1, b.Bool || b.Int == 1})
		}
	}
	for i, row := range answer.Rows(nil, 0.05) {
		e := row[0].Estimate
		over, sign := values[i][0], values[i][1]
		if p.Keys[0].Expr.Op == plan.OpSign {
			over, sign = sign, over
		}
		n := cells[fmt.Sprint(over, sign)]
		if math.Abs(e.StdDev-one*math.Sqrt(n)) > 1e-9 {
			t.Errorf("%t %t: standard deviation %g of %g noises of %g", over, sign, e.StdDev, n, one)
		}
		if n == 0 && (e.Value != 0 || e.Low != 0 || e.High != 0) {
			t.Errorf("a group that no row can be in: %+v", e)
		}
		widest = max(widest, e.High-e.Low)
	}
	if math.Abs(widest/2-forecast.HalfWidth) > 1e-6*widest {
		t.Errorf("foretold ± %g, and it is ± %g", forecast.HalfWidth, widest/2)
	}
}
