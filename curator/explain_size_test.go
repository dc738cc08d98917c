package curator

import (
	"runtime"
	"testing"
)

// What an explanation takes is bounded for questions as large as the limits allow: in memory that is asked for, all together, and in how many pieces,
// which is what its time goes by. (BenchmarkExplain has the times.)
func TestExplainIsSmall(t *testing.T) {
	const most, pieces = 64 << 20, 1_000_000
	c := openHome(t, wideHome(t))
	for name, q := range wideQuestions() {
		if _, err := c.Explain(t.Context(), q); err != nil { // once for what is kept
			t.Errorf("%s: %v", name, err)
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := c.Explain(t.Context(), q); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if bytes, n := after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs; bytes > most || n > pieces {
			t.Errorf("%s: %d bytes in %d pieces", name, bytes, n)
		}
	}
}
