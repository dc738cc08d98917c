package curator

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkRatioStream releases one period of a stream, and asks a plain count of the same groups, in turns. A version of
// some new rows is sealed before each, which is not timed. It prints the ratio of the times.
func BenchmarkRatioStream(b *testing.B) {
	h := newStreamHome(b)
	d := h.declaration()
	d.Periods, d.Rho = 1000, "20000"
	if _, err := h.owner.CreateStream(b.Context(), d); err != nil {
		b.Fatal(err)
	}
	var advance, count time.Duration
	period := 0
	for b.Loop() {
		var rows []string
		for i := range 2000 {
			rows = append(rows, fmt.Sprintf("%d,%d,%s", i/2+100*period, i%1000, []string{"north", "south"}[i%2]))
		}
		h.seal(rows...)
		h.clock.set(h.from.Add(time.Duration(period)*24*time.Hour + time.Minute))
		period++
		start := time.Now()
		if _, err := h.advance(); err != nil {
			b.Fatal(err)
		}
		advance += time.Since(start)
		start = time.Now()
		q := Question{SQL: d.SQL, Rho: "0.5", Fresh: true}
		if _, err := h.owner.Answer(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		count += time.Since(start)
	}
	b.ReportMetric(advance.Seconds()/count.Seconds(), "time/count")
	b.ReportMetric(advance.Seconds()/float64(period)*1000, "ms/advance")
}
