package together

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dither/curator"
	"dither/internal/testhome"
)

// BenchmarkRatioTogether asks several counts with one measurement, and each of them by itself, in turns. It prints the
// ratio of the times, and the ratio of the variances at equal prices in all.
func BenchmarkRatioTogether(b *testing.B) {
	var rows strings.Builder
	rows.WriteString("age,ill,city\n")
	for i := range 10_000 {
		fmt.Fprintf(&rows, "%d,%t,%c\n", i*i%97, i%3 == 0, 'a'+rune(i%3))
	}
	c, _ := testhome.Sealed(b, strings.Replace(ofPolicy, "BUDGET", ofPure, 1), "people", map[string]string{
		"people.csv": rows.String(),
	})
	for _, k := range []int{2, 8} {
		b.Run(fmt.Sprintf("%d counts", k), func(b *testing.B) {
			batch := Batch{Request: curator.Request{Epsilon: "0.008", Fresh: true}}
			for i := range k {
				batch.Questions = append(batch.Questions, fmt.Sprintf("SELECT COUNT(*) FROM people WHERE age >= %d", 10*i))
			}
			single := curator.Request{Epsilon: fmt.Sprint(0.008 / float64(k)), Fresh: true}
			var joint, separate time.Duration
			var variance, alone float64
			for b.Loop() {
				start := time.Now()
				a, err := Ask(b.Context(), c, batch)
				if err != nil {
					b.Fatal(err)
				}
				joint += time.Since(start)
				for _, n := range a.Counts {
					variance += n.StdDev * n.StdDev
				}
				start = time.Now()
				for _, sql := range batch.Questions {
					single.SQL = sql
					r, err := c.Answer(b.Context(), single.Question())
					if err != nil {
						b.Fatal(err)
					}
					deviation := *r.Rows[0][0].Estimate.StdDev
					alone += deviation * deviation
				}
				separate += time.Since(start)
			}
			b.ReportMetric(joint.Seconds()/separate.Seconds(), "time/separate")
			b.ReportMetric(variance/alone, "variance/separate")
		})
	}
}
