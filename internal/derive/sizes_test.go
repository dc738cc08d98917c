package derive_test

import (
	"fmt"
	"math"
	"testing"

	"dither/internal/derive"
	"dither/internal/engine/enginetest"
	"dither/internal/stattest"
)

// The 95 % intervals of averages and variances, over a noisy and over a declared number of rows, and of independent
// quantiles, at each size.
func TestAnswersAtSizes(t *testing.T) {
	for _, n := range stattest.Sizes {
		rows := people(n)
		s := sumsOf(rows)
		variance := 0.0
		for _, r := range rows {
			d := math.Min(float64(r["i"].Int), 115) - s.i/s.n
			variance += d * d / (s.n - 1)
		}
		for _, price := range []string{"1", "ρ 0.5"} {
			t.Run(fmt.Sprintf("%d at %s", n, price), func(t *testing.T) {
				t.Parallel()
				var study stattest.Study
				for text, about := range map[string]string{survey: "", declaring(n): " of declared units"} {
					for item, truth := range map[string]float64{"AVG(i)": s.i / s.n, "VAR_SAMP(i)": variance} {
						p := planIn(t, text, "SELECT "+item+" FROM t", price)
						answer, err := derive.New(p)
						if err != nil {
							t.Fatal(err)
						}
						exact, noises := released(t, p, rows)
						for range stattest.Simulations(50, 10_000) {
							e := draw(answer, exact, noises)
							study.Covers(item+about, "").Interval(e.Low-1e-9*truth, truth, e.High+1e-9*truth)
						}
					}
				}
				for _, q := range []float64{0.5, 0.9} {
					p := planOf(t, fmt.Sprintf("SELECT PERCENTILE_DISC(%g) WITHIN GROUP (ORDER BY x) FROM t", q), price)
					answer, err := derive.New(p)
					if err != nil {
						t.Fatal(err)
					}
					m, cells := quantilesOver(t, p, enginetest.Tables{"t": rows})
					unit, _ := p.Quantiles[0].Value.Unit().Float64()
					values := make([]float64, n)
					for i, v := range cells[0] {
						values[i] = float64(v) * unit
					}
					truth, _ := percentiles(values, q)
					for range stattest.Simulations(50, 1000) {
						e := answer.Rows(drawQuantiles(t, m, inOrder(cells)), 0.05)[0][0].Estimate
						study.Covers("independent quantile", fmt.Sprint(q)).Interval(e.Low-1e-12, truth, e.High+1e-12)
					}
				}
				study.Check(t, fmt.Sprintf("n = %d, price %s", n, price))
			})
		}
	}
}
