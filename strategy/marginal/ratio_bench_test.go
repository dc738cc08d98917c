package marginal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dither/curator"
	"dither/internal/testhome"
	"dither/mechanism/linear"
	"dither/strategy"
	"dither/strategy/marginal"
)

// BenchmarkRatioMarginals measures all marginals of up to two of five columns, and every cell of the full table, in turns.
// It prints the ratio of the times, and the ratio of the mean variances of the marginals' cells at equal prices.
func BenchmarkRatioMarginals(b *testing.B) {
	sizes := []int{10, 8, 6, 5, 4}
	var columns, names []string
	for i, n := range sizes {
		values := strings.Trim(strings.ReplaceAll(fmt.Sprint(count(n)), " ", ", "), "[]")
		names = append(names, fmt.Sprintf("k%d", i))
		columns = append(columns, fmt.Sprintf("      k%d: {type: integer, values: [%s]}\n", i, values))
	}
	var rows strings.Builder
	rows.WriteString(strings.Join(names, ",") + "\n")
	for i := range 10_000 {
		fmt.Fprintf(&rows, "%d,%d,%d,%d,%d\n", i%10, i*i%7, i*3%11%6, i/7%5, i/3%4)
	}
	policy := "version: 1\npopulation: {name: bench}\nbudget: {rho: 1000, delta: 1e-6}\nprice: {minimum: 1e-6}\ntables:\n" +
		"  people:\n    source: {csv: people.csv}\n    unit: row\n    columns:\n" + strings.Join(columns, "")
	o, _ := testhome.Opened(b, testhome.Files(policy, map[string]string{"people.csv": rows.String()}), "people")
	s := o.Session()
	r := curator.Request{
		SQL: "SELECT COUNT(*) FROM people GROUP BY " + strings.Join(names, ", "), Rho: "0.001", Fresh: true,
	}
	d, err := marginal.DomainOf(b.Context(), s, r, names...)
	if err != nil {
		b.Fatal(err)
	}
	w, err := d.Ways(1, 2)
	if err != nil {
		b.Fatal(err)
	}
	chosen := w.Choose(strategy.Rho)
	identity := linear.Product{}
	for _, n := range sizes {
		identity = append(identity, linear.Identity(n))
	}
	cells, err := linear.NewStrategy(identity)
	if err != nil {
		b.Fatal(err)
	}
	full := curator.Strategy{Request: r, Parts: []curator.StrategyPart{{Keys: count(len(sizes)), Queries: cells}}}
	var marginals, table time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := chosen.Plan.Measure(b.Context(), s, r); err != nil {
			b.Fatal(err)
		}
		marginals += time.Since(start)
		start = time.Now()
		if _, err := s.MeasureStrategy(b.Context(), full); err != nil {
			b.Fatal(err)
		}
		table += time.Since(start)
	}
	b.ReportMetric(marginals.Seconds()/table.Seconds(), "time/identity")
	b.ReportMetric(chosen.Plan.RMSE*chosen.Plan.RMSE/(chosen.Candidates[0].RMSE*chosen.Candidates[0].RMSE), "variance/identity")
}

// count returns 0, 1, …, n − 1.
func count(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}
