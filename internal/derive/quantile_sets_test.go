package derive_test

import (
	"math"
	"math/big"
	"testing"

	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/quantile"
)

// Over grouping sets the interval of a quantile covers PERCENTILE_DISC and PERCENTILE_CONT of the exact bounded rows in
// each set's cells with the probability that its bracket is made for, all cells together, and the numbers of each set
// are shown in its rows.
func TestQuantileSetsCoverage(t *testing.T) {
	for _, c := range []struct{ sql, price string }{
		{"SELECT g, MEDIAN(i) FROM t GROUP BY ROLLUP (g)", "6"},
		{"SELECT g, MEDIAN(x) FROM t GROUP BY GROUPING SETS ((), g)", "ρ 2"},
	} {
		p := planOf(t, c.sql, c.price)
		answer, err := derive.New(p)
		if err != nil {
			t.Fatal(err)
		}
		simulates(p)
		tables := enginetest.Tables{"t": people(300)}
		var mechanisms []quantile.Cells
		var data []mechanism.OrderedCells
		exactly := map[string][]int64{} // of each group, and of all as ""
		for s, of := range p.Orders() {
			m, cells := quantilesOver(t, of, tables)
			mechanisms, data = append(mechanisms, m), append(data, inOrder(cells))
			for i, values := range cells {
				name := ""
				if key := p.Sets[s].CellKeys(&p.Statement, i)[0]; p.Sets[s].Has(0) {
					name = key.String()
				}
				exactly[name] = values
			}
		}
		if len(exactly) != 3 || len(exactly[""]) != len(exactly["a"])+len(exactly["b"]) || len(exactly["b"]) != 30 {
			t.Fatalf("%d cells", len(exactly))
		}
		unit, _ := p.Quantiles[0].Value.Unit().Float64()
		covered, trials := promised(math.Pow(1-plan.BracketAlpha, float64(len(exactly))), 1), 0
		for ; stattest.AnyOpen(covered); trials++ {
			var numbers [][]*big.Int
			for s := range mechanisms {
				numbers = append(numbers, drawQuantiles(t, mechanisms[s], data[s])...)
			}
			hit := true
			for _, row := range answer.Rows(numbers, 0.05) {
				name := ""
				if !row[0].Summed {
					name = row[0].Key.String()
				}
				var values []float64
				for _, v := range exactly[name] {
					values = append(values, float64(v)*unit)
				}
				disc, cont := percentiles(values, 0.5)
				e := row[1].Estimate
				hit = hit && e.Low <= min(disc, cont)+1e-12 && e.High >= max(disc, cont)-1e-12
				if e.Value < e.Low || e.Value > e.High {
					t.Fatalf("%+v is not within its interval", e)
				}
			}
			covered[0].Observe(hit)
		}
		kept(t, "quantile over sets", covered)
		t.Logf("%s: %d trials", c.sql, trials)
	}
}
